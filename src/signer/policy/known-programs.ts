export const SYSTEM_PROGRAM = '11111111111111111111111111111111';
export const COMPUTE_BUDGET_PROGRAM = 'ComputeBudget111111111111111111111111111111';
export const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
export const TOKEN_2022_PROGRAM = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb';
export const ASSOCIATED_TOKEN_PROGRAM = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL';
export const MEMO_PROGRAMS: readonly string[] = ['MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr', 'Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo'];
/** Wrapped SOL. */
export const NATIVE_MINT = 'So11111111111111111111111111111111111111112';
export const USDC_MINT = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';

const NAMES: ReadonlyMap<string, string> = new Map([
  [SYSTEM_PROGRAM, 'system'],
  [COMPUTE_BUDGET_PROGRAM, 'compute budget'],
  [TOKEN_PROGRAM, 'token'],
  [TOKEN_2022_PROGRAM, 'token-2022'],
  [ASSOCIATED_TOKEN_PROGRAM, 'associated token'],
  ...MEMO_PROGRAMS.map((program) => [program, 'memo'] as const),
]);

/** Returns a known program's name, else its address. */
export function programName(program: string): string {
  return NAMES.get(program) ?? program;
}

/** Returns whether an address is one of the two token programs. */
export function isTokenProgram(address: string): boolean {
  return address === TOKEN_PROGRAM || address === TOKEN_2022_PROGRAM;
}
