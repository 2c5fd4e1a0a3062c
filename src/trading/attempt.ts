import type { Amount, Lamports } from '../core/amount.ts';
import type { Millis } from '../core/time.ts';
import type { Route } from './proposal.ts';

/** One signed transaction of an intent, with everything needed to send the same bytes again and to prove their fate. */
export interface Attempt {
  readonly intentId: string;
  /** From 1. */
  readonly number: number;
  readonly route: Route;
  readonly router: string;
  readonly quotedOut: Amount;
  readonly threshold: Amount;
  /** The service's name for an order. */
  readonly requestId?: string | undefined;
  /** Our own signature, base58. */
  readonly signature: string;
  /** The fee payer's signature, base58: the transaction's id. Undefined before landing where another account pays. */
  readonly transactionId?: string | undefined;
  /** SHA-256 of the message, hex. */
  readonly messageHash: string;
  readonly blockhash: string;
  readonly lastValidBlockHeight: bigint;
  readonly feePayer: string;
  /** The market maker on the other side, where there is one. */
  readonly maker?: string | undefined;
  /** Gets the output in the wallet's place: a wallet, or a token account. */
  readonly receiver?: string | undefined;
  /** The wallet's input balance at the signature, smallest units; it is unchanged where the swap never landed. */
  readonly inputBalance?: Amount | undefined;
  /**
   * The slots of `inputBalance`; the transaction can have landed only later. Undefined where an older Gannet signed.
   */
  readonly inputSlots?: SlotSpan | undefined;
  readonly signedTransaction: Uint8Array;
}

/** The progress of the proof that an attempt never landed and never can; the next process continues it. */
export interface ProofProgress {
  /** How long all processes together have watched it. */
  readonly watchedMs: Millis;
  /** Undefined before the proof was first complete. */
  readonly first?: FirstProof | undefined;
}

/** The first completion of a proof, with its finalized height. */
export interface FirstProof {
  readonly height: bigint;
  readonly watchedMs: Millis;
  /** The node of the proof, as `Chain` names it; undefined where an older Gannet wrote it. */
  readonly node?: string | undefined;
}

/** The oldest and the newest slot of a value that was read in several requests. */
interface SlotSpan {
  readonly from: bigint;
  readonly to: bigint;
}

/** The change of the wallet's balance of one mint by a swap that ended, fees and deposits included; smallest units. */
export interface BalanceMove {
  readonly spent: bigint;
  readonly received: bigint;
  /** The slot in which it landed; undefined where it was not recorded. */
  readonly slot?: bigint | undefined;
}

/** A transaction on the chain as one wallet sees it. */
export interface LandedSwap {
  readonly signature: string;
  readonly slot: bigint;
  /** Undefined when it succeeded. */
  readonly error?: { readonly code: string; readonly message: string } | undefined;
  /** The fee for signatures and priority that this wallet paid; 0 where another account pays. */
  readonly feeLamports: Lamports;
  /** The tips among them, where they can be told from the swapped SOL. */
  readonly tipLamports?: Lamports | undefined;
  /** Deposits this wallet made in accounts opened on the way. */
  readonly rentLamports: Lamports;
  /**
   * The decrease of the wallet's input and the increase of its output, or of the receiver's, without fees and deposits.
   */
  readonly amountIn: Amount;
  readonly amountOut: Amount;
}

/** A transaction that the chain holds and that cannot be read, for example of a version that Gannet does not know. */
export interface UnreadableTransaction {
  readonly kind: 'unreadable';
  readonly signature: string;
  /** For people. */
  readonly reason: string;
  /** False where its version is one that Gannet never signs. */
  readonly mayBeOwn: boolean;
}

/** Returns whether an answer is the state of a transaction that cannot be read. */
export function isUnreadable(answer: unknown): answer is UnreadableTransaction {
  return typeof answer === 'object' && answer !== null && 'kind' in answer && answer.kind === 'unreadable';
}
