import type { PolicyCode } from './codes.ts';

/** One broken rule. */
export interface Finding {
  readonly code: PolicyCode;
  /** The index of the instruction that breaks it; undefined where it is the transaction as a whole. */
  readonly instruction: number | undefined;
  readonly message: string;
}

/** What a transaction does, in words. */
export interface InstructionSummary {
  readonly index: number;
  /** Name of a known program, else its address. */
  readonly program: string;
  readonly text: string;
}

/** Who signs a transaction, what it does and what it costs the wallet at most. */
export interface Summary {
  readonly version: 'legacy' | 0;
  readonly bytes: number;
  readonly blockhash: string;
  readonly feePayer: string;
  readonly signers: readonly string[];
  readonly lookupTables: readonly string[];
  readonly instructions: readonly InstructionSummary[];
  /** Lamports; of rent what all new accounts together need that the wallet opens, were none there yet. */
  readonly costs: {
    readonly feeLamports: bigint;
    readonly priorityFeeLamports: bigint;
    readonly paidByWallet: boolean;
    readonly tipLamports: bigint;
    /** Rent that others are said to have lent; where the account was there already, it was the wallet's own. */
    readonly repaidLamports: bigint;
    readonly rentLamports: bigint;
  };
  /** What the bytes themselves promise. */
  readonly swap: {
    readonly inputMint: string;
    readonly outputMint: string;
    /** All of the input that leaves the wallet, fees in it included. */
    readonly amountIn: bigint;
    readonly minimumOut: bigint;
    /** The part of `amountIn` that goes to third parties, not into the swap. */
    readonly inputFee: bigint;
  };
}

/** The policy's word on a transaction. */
export interface Verdict {
  readonly verdict: 'allow' | 'deny';
  /** Of the first finding; undefined where there is none. */
  readonly code: PolicyCode | undefined;
  readonly findings: readonly Finding[];
  /** Undefined where the bytes could not be read. */
  readonly summary: Summary | undefined;
}

/** Returns the verdict that findings amount to: a single one denies. */
export function verdictOf(findings: readonly Finding[], summary: Summary | undefined): Verdict {
  const [first] = findings;
  return { verdict: first === undefined ? 'allow' : 'deny', code: first?.code, findings, summary };
}
