import type { Amount, Lamports } from '../core/amount.ts';
import type { Millis } from '../core/time.ts';
import type { Route } from './proposal.ts';

/**
 * One signed transaction of an intent: everything that is needed to send the same bytes again and to prove what became
 * of them.
 */
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
  /** The fee payer's signature, base58: the transaction's id. Undefined beforehand where someone else pays. */
  readonly transactionId?: string | undefined;
  /** SHA-256 of the message, hex. */
  readonly messageHash: string;
  readonly blockhash: string;
  readonly lastValidBlockHeight: bigint;
  readonly feePayer: string;
  /** The market maker on the other side, where there is one. */
  readonly maker?: string | undefined;
  /**
   * What the wallet had of the input when it was signed, smallest units: it still has it where the swap never landed.
   */
  readonly inputBalance?: Amount | undefined;
  /** As of which slots; undefined where an older Gannet signed it. It can have landed only later. */
  readonly inputSlots?: SlotSpan | undefined;
  readonly signedTransaction: Uint8Array;
}

/** How far the proof has come that an attempt never landed and never can; it goes on in the next process. */
export interface ProofProgress {
  /** For how long it was watched, by all processes together. */
  readonly watchedMs: Millis;
  /** Undefined where it was not complete yet. */
  readonly first?: FirstProof | undefined;
}

/** When a proof was complete for the first time, and at which finalized height. */
export interface FirstProof {
  readonly height: bigint;
  readonly watchedMs: Millis;
  /** The node that said so, as `Chain` names it; undefined where an older Gannet wrote it. */
  readonly node?: string | undefined;
}

/** The slots of a reading of several parts: the oldest and the newest of them. */
export interface SlotSpan {
  readonly from: bigint;
  readonly to: bigint;
}

/** What a swap that ended did to the wallet's balance of one mint, fees and deposits included; smallest units. */
export interface BalanceMove {
  readonly spent: bigint;
  readonly received: bigint;
  /** Where it landed; undefined where that was not written down. */
  readonly slot?: bigint | undefined;
}

/** A transaction on the chain as one wallet sees it. */
export interface LandedSwap {
  readonly signature: string;
  readonly slot: bigint;
  /** Undefined when it succeeded. */
  readonly error?: { readonly code: string; readonly message: string } | undefined;
  /** What this wallet paid for signatures and priority; 0 where someone else pays. */
  readonly feeLamports: Lamports;
  /** Deposits this wallet made in accounts opened on the way. */
  readonly rentLamports: Lamports;
  /** By how much the wallet's input went down and its output went up, fees and deposits not counted. */
  readonly amountIn: Amount;
  readonly amountOut: Amount;
}
