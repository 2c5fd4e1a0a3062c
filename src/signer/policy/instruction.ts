import type { PolicyCode } from './codes.ts';

/** The effect of one instruction, in the terms of the rules. Amounts in smallest units. */
export type Decoded =
  | {
    readonly kind: 'budget'; readonly setting: 'heap bytes' | 'unit limit' | 'unit price' | 'loaded bytes';
    readonly value: bigint;
  }
  | { readonly kind: 'transfer-lamports'; readonly from: string; readonly to: string; readonly lamports: bigint }
  | SeededAccount
  | TokenTransfer
  | {
    readonly kind: 'close-token'; readonly account: string; readonly destination: string; readonly authority: string;
    readonly tokenProgram: string;
  }
  | { readonly kind: 'sync-native'; readonly account: string }
  | {
    readonly kind: 'initialize-token'; readonly account: string; readonly mint: string; readonly owner: string;
    readonly tokenProgram: string;
  }
  | {
    readonly kind: 'open-associated'; readonly payer: string; readonly account: string; readonly owner: string;
    readonly mint: string; readonly tokenProgram: string;
  }
  | { readonly kind: 'memo'; readonly text: string }
  | ({ readonly kind: 'swap' } & SwapTerms)
  /** Of a program on the allow-list without a decoder. */
  | { readonly kind: 'opaque'; readonly program: string }
  /** Breaks a rule for every account that it could concern. */
  | { readonly kind: 'refused'; readonly code: PolicyCode; readonly what: string };

/** A new account at an address that a base and a seed give. */
export interface SeededAccount {
  readonly kind: 'open-seeded';
  readonly payer: string;
  readonly account: string;
  readonly base: string;
  readonly seed: Uint8Array;
  readonly lamports: bigint;
  readonly space: bigint;
  /** The program that the account is for. */
  readonly owner: string;
}

export interface TokenTransfer {
  readonly kind: 'transfer-tokens';
  readonly source: string;
  /** Undefined where the instruction names none. */
  readonly mint: string | undefined;
  readonly destination: string;
  readonly authority: string;
  readonly amount: bigint;
  readonly decimals: number | undefined;
  readonly tokenProgram: string;
}

/** The terms of a swap instruction: whose tokens go where, and within which limits. */
export interface SwapTerms {
  readonly user: string;
  /** A token account, or the user for a payment in native SOL. */
  readonly source: string;
  /** A token account, or the user for an output in native SOL. */
  readonly destination: string;
  /** Undefined where the instruction does not name it; the source account determines it. */
  readonly inputMint: string | undefined;
  readonly inputProgram: string | undefined;
  readonly outputMint: string;
  readonly outputProgram: string | undefined;
  readonly amountIn: bigint;
  /** The least that the destination receives, after all that the program itself takes. */
  readonly minimumOut: bigint;
  /** The share of the output that the program pays to third parties. */
  readonly platformFeeBps: number;
  readonly feeAccount: string | undefined;
  /** Why the swap may deviate from these terms, so that a simulation must confirm them; undefined where it cannot. */
  readonly unproven: string | undefined;
}

/** Returns the refusal of an instruction. */
export function refuse(code: PolicyCode, what: string): Extract<Decoded, { kind: 'refused' }> {
  return { kind: 'refused', code, what };
}

/** Returns the refusal of an instruction without the form of its kind. */
export function unreadable(what: string): Extract<Decoded, { kind: 'refused' }> {
  return refuse('INSTRUCTION_UNREADABLE', what);
}
