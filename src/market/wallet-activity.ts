import type { Millis } from '../core/time.ts';
import type { MarketEventBase } from './event-base.ts';
import type { Mint } from './token.ts';

/** What a transaction changed of one token of a wallet; native and wrapped SOL count together. */
export interface WalletChange {
  readonly mint: Mint;
  /** In smallest units; negative for what left the wallet. That of SOL includes fees and deposits of accounts. */
  readonly amount: bigint;
  /** Undefined where the node does not state them. */
  readonly decimals?: number | undefined;
}

/** A landed transaction that names a wallet. */
export interface WalletTransaction {
  readonly signature: string;
  readonly slot: number;
  /** When its block was made, to the second; undefined where the node does not state it. */
  readonly blockTime?: Millis | undefined;
  /** Whether it ended in an error: then it changed nothing but the fee. */
  readonly hasFailed: boolean;
  /** Whether the wallet signed it. Everyone can send a wallet tokens, or name it. */
  readonly isSigner: boolean;
  /** The tokens whose balance changed. */
  readonly changes: readonly WalletChange[];
  /** Whether transactions before this one were left out: there were too many, or the node could not show them. */
  readonly isAfterGap?: true | undefined;
}

/** What one poll found of a wallet, oldest first; often nothing. */
export interface WalletActivity {
  readonly owner: string;
  readonly transactions: readonly WalletTransaction[];
}

/** The event of a poll. */
export interface WalletActivityEvent extends MarketEventBase, WalletActivity {
  readonly kind: 'wallet-activity';
}
