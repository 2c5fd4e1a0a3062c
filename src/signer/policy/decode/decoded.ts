import type { PolicyCode } from '../codes.ts';

/** What one instruction does, in the terms that the rules are about. Amounts in smallest units. */
export type Decoded =
  | { readonly kind: 'budget'; readonly setting: 'heap bytes' | 'unit limit' | 'unit price' | 'loaded bytes'; readonly value: bigint }
  | { readonly kind: 'transfer-lamports'; readonly from: string; readonly to: string; readonly lamports: bigint }
  | SeededAccount
  | TokenTransfer
  | { readonly kind: 'close-token'; readonly account: string; readonly destination: string; readonly authority: string; readonly tokenProgram: string }
  | { readonly kind: 'sync-native'; readonly account: string }
  | { readonly kind: 'initialize-token'; readonly account: string; readonly mint: string; readonly owner: string; readonly tokenProgram: string }
  | { readonly kind: 'open-associated'; readonly payer: string; readonly account: string; readonly owner: string; readonly mint: string; readonly tokenProgram: string }
  | { readonly kind: 'memo'; readonly text: string }
  | ({ readonly kind: 'swap' } & SwapTerms)
  /** Of a program on the allow-list that nobody here can read. */
  | { readonly kind: 'opaque'; readonly program: string }
  /** Breaks a rule whoever it is about. */
  | { readonly kind: 'refused'; readonly code: PolicyCode; readonly what: string };

/** Room for an account at an address that its base has by a seed. */
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
  /** Undefined where the instruction does not say. */
  readonly mint: string | undefined;
  readonly destination: string;
  readonly authority: string;
  readonly amount: bigint;
  readonly decimals: number | undefined;
  readonly tokenProgram: string;
}

/** What a swap program is told: whose tokens go where, and within which bounds. */
export interface SwapTerms {
  readonly user: string;
  /** A token account, or the user where he pays in SOL of his own. */
  readonly source: string;
  /** A token account, or the user where he gets SOL of his own. */
  readonly destination: string;
  /** Undefined where the instruction does not say; what the source holds does. */
  readonly inputMint: string | undefined;
  readonly inputProgram: string | undefined;
  readonly outputMint: string;
  readonly outputProgram: string | undefined;
  readonly amountIn: bigint;
  /** What the destination receives at least, after all that the program itself takes. */
  readonly minimumOut: bigint;
  /** What the program pays to third parties, of the output. */
  readonly platformFeeBps: number;
  readonly feeAccount: string | undefined;
  /** Why the swap may come to something else than these terms, so that a simulation must agree; undefined where it cannot. */
  readonly unproven: string | undefined;
}

/** Returns the refusal of an instruction. */
export function refuse(code: PolicyCode, what: string): Extract<Decoded, { kind: 'refused' }> {
  return { kind: 'refused', code, what };
}

/** Returns the refusal of an instruction that is not of its kind's form. */
export function unreadable(what: string): Extract<Decoded, { kind: 'refused' }> {
  return refuse('INSTRUCTION_UNREADABLE', what);
}
