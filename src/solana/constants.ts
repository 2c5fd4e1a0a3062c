export const SYSTEM_PROGRAM = '11111111111111111111111111111111';
export const COMPUTE_BUDGET_PROGRAM = 'ComputeBudget111111111111111111111111111111';
export const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
export const TOKEN_2022_PROGRAM = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb';
export const ASSOCIATED_TOKEN_PROGRAM = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL';
export const LOOKUP_TABLE_PROGRAM = 'AddressLookupTab1e1111111111111111111111111';
export const MEMO_PROGRAMS: readonly string[] = [
  'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr', 'Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo',
];

/** The mint of wrapped SOL. */
export const NATIVE_MINT = 'So11111111111111111111111111111111111111112';
export const USDC_MINT = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
export const SOL_DECIMALS = 9;

/** The largest legacy transaction, or one of version 0: what one network packet carried. */
export const MAX_TRANSACTION_BYTES = 1_232;
/** The largest transaction of version 1, and so of all that are known. */
export const MAX_V1_TRANSACTION_BYTES = 4_096;
/** The most compute units that one transaction may request. */
export const MAX_COMPUTE_UNITS = 1_400_000;
export const LAMPORTS_PER_SIGNATURE = 5_000n;
export const MICRO_LAMPORTS_PER_LAMPORT = 1_000_000n;
/** The length of a token account without extensions. */
export const TOKEN_ACCOUNT_BYTES = 165;
/** The rent deposit of a token account without extensions: (165 + 128) bytes at 6,960 lamports. */
export const TOKEN_ACCOUNT_RENT = 2_039_280n;

const NAMES: ReadonlyMap<string, string> = new Map([
  [SYSTEM_PROGRAM, 'system'],
  [COMPUTE_BUDGET_PROGRAM, 'compute budget'],
  [TOKEN_PROGRAM, 'token'],
  [TOKEN_2022_PROGRAM, 'token-2022'],
  [ASSOCIATED_TOKEN_PROGRAM, 'associated token'],
  ...MEMO_PROGRAMS.map((program) => [program, 'memo'] as const),
]);

/** Returns the name of a well-known program, and the address of any other one. */
export function programName(program: string): string {
  return NAMES.get(program) ?? program;
}

/** Returns whether an address is one of the two token programs. */
export function isTokenProgram(address: string): boolean {
  return address === TOKEN_PROGRAM || address === TOKEN_2022_PROGRAM;
}
