import type { SwapTerms } from './decode/decoded.ts';

/** A temporary account of the wallet, made in this transaction. */
export interface TemporaryAccount {
  /** The instruction that made it. */
  readonly index: number;
  readonly lamports: bigint;
  readonly payer: string;
  isInitialized: boolean;
  /** A swap pays into it. */
  isSwapDestination: boolean;
  /** Moved from it into another account of the wallet. */
  takenOut: bigint;
  /** Moved into it out of another temporary account. */
  takenIn: bigint;
  closedTo: string | undefined;
}

/** What a transaction's instructions come to so far, in their order. Amounts in smallest units. */
export interface Ledger {
  /** What each compute-budget setting was set to, by its name. */
  readonly budget: Map<string, bigint>;
  /** Of the input: into swaps, to the maker and to third parties. */
  inputSpent: bigint;
  inputToMaker: bigint;
  inputFee: bigint;
  /** Of the output: what the destination receives at least. */
  outputMinimum: bigint;
  swaps: { readonly index: number; readonly terms: SwapTerms }[];
  /** The last instruction that pays the output, if any does. */
  paidAt: number | undefined;
  tipLamports: bigint;
  wrappedLamports: bigint;
  /** Rent that somebody else paid and the wallet got, and what it has paid back of it. */
  lentLamports: bigint;
  repaidLamports: bigint;
  /** What the wallet pays for new accounts, were none there yet. */
  rentLamports: bigint;
  /** Accounts of the wallet whose rent somebody else pays: what they hold of it. */
  readonly foreignRent: Map<string, bigint>;
  readonly opened: Set<string>;
  readonly temporary: Map<string, TemporaryAccount>;
  /** Programs on the allow-list that nobody here can read, by instruction. */
  readonly opaque: { readonly index: number; readonly program: string }[];
  /** Payments that may come to less than their instructions say, by instruction, and why. */
  readonly unproven: { readonly index: number; readonly why: string }[];
}

/** Returns an empty ledger. */
export function createLedger(): Ledger {
  return {
    budget: new Map(),
    inputSpent: 0n, inputToMaker: 0n, inputFee: 0n, outputMinimum: 0n, swaps: [], paidAt: undefined,
    tipLamports: 0n, wrappedLamports: 0n, lentLamports: 0n, repaidLamports: 0n, rentLamports: 0n,
    foreignRent: new Map(), opened: new Set(), temporary: new Map(), opaque: [], unproven: [],
  };
}
