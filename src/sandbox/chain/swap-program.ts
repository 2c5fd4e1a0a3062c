import { readFileSync } from 'node:fs';
import type { Address } from './addresses.ts';

/** The address the swap program is loaded at. */
export const SWAP_PROGRAM_ID: Address = 'GannetSwap111111111111111111111111111111111';

/** What the swap program answers when it refuses, as `Custom` codes; the same numbers as in `program/swap.c`. */
export const SWAP_ERRORS = {
  accountsMalformed: 6000,
  belowMinimum: 6001,
  poolInvalid: 6002,
  signerMissing: 6003,
  liquidityInsufficient: 6004,
  instructionMalformed: 6005,
  mintMismatch: 6006,
  vaultMismatch: 6007,
  mintUnsupported: 6008,
  tokenProgramUnsupported: 6009,
} as const;

/** Returns the compiled swap program, as committed. */
export function readSwapProgram(): Uint8Array {
  return readFileSync(new URL('../program/swap.so', import.meta.url));
}
