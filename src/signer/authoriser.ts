import type { Expectation } from './policy/expectation.ts';

/** What a request says that its transaction must come to. All addresses in base58. */
export interface SigningRequestTerms extends Pick<Expectation, 'route' | 'inputMint' | 'outputMint' | 'amountIn' | 'minimumOut' | 'maker' | 'feePayer'> {
  readonly intentId: string;
  /** From 1. */
  readonly attempt: number;
  /** The share of the swap that third parties may get. */
  readonly maxFeeBps: number;
}

/** One broken rule, as it is told to whoever asked. */
export interface RefusalFinding {
  readonly code: string;
  /** The index of the instruction that breaks it; undefined where it is the transaction as a whole. */
  readonly instruction: number | undefined;
  readonly message: string;
}

/** How much of a cap of the input is left, in smallest units, and from when on more of it is. */
export interface CapRoom {
  readonly span: 'hour' | 'day';
  readonly left: bigint;
  readonly freeAt: number;
}

/** The word on one request. */
export type Authorisation =
  | { readonly allowed: true }
  | { readonly allowed: false; readonly code: string; readonly message: string; readonly findings: readonly RefusalFinding[]; /** Where a cap refused. */ readonly room?: CapRoom | undefined };

/** What the signer holds requests against, for people: it stands in what a run prints at its start. */
export interface PolicyDescription {
  /** How many swap programs may be called. */
  readonly programs: number;
  /** In words, one a token, "USDC: 200 a swap, 1000 a day"; empty where there are none. */
  readonly caps: readonly string[];
  /** Who may receive besides the wallet itself. */
  readonly destinations: readonly string[];
  /** Whether there is a node of the signer's own choice, for lookup tables and simulations. */
  readonly rpc: boolean;
  /** How many swaps of this wallet the counters knew when they were opened; undefined where nothing is counted beyond the process. */
  readonly signed?: { readonly inDay: number; readonly inMonth: number } | undefined;
}

/** Decides what the key may sign. It alone does: whoever asks changes nothing of how it decides. */
export interface Authoriser {
  readonly description: PolicyDescription;
  /** Returns whether the bytes may be signed under these terms; what is allowed counts against the caps before it returns. Never rejects for what the request holds. */
  authorise(transaction: Uint8Array, terms: SigningRequestTerms): Promise<Authorisation>;
  /** Returns whether the bytes do nothing but close token accounts of the wallet to the wallet; what is allowed counts its fee against the caps before it returns. Never rejects for what the request holds. */
  authoriseClosing(transaction: Uint8Array): Promise<Authorisation>;
  close(): void | Promise<void>;
}
