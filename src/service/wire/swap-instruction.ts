import { z } from 'zod';
import type { SwapInstruction } from '../../trading/swap-order.ts';
import { optional, wireAddress, wireBytes, wireList } from './fields.ts';

// What fits into no transaction is not worth reading.
const MOST_ACCOUNTS = 256;
const MOST_INSTRUCTIONS = 64;
const MOST_TABLES = 64;

/** An instruction with its data as bytes. */
export const instruction = z
  .object({
    programId: wireAddress,
    accounts: wireList(
      z.object({ pubkey: wireAddress, isSigner: z.boolean(), isWritable: z.boolean() }), MOST_ACCOUNTS,
    ),
    data: wireBytes,
  })
  .transform((value): SwapInstruction => value);

/** Instructions; none where the member is missing. */
export const instructions = optional(wireList(instruction, MOST_INSTRUCTIONS))
  .transform((list): readonly SwapInstruction[] => list ?? []);

/** Lookup tables by address, each with the addresses it holds; undefined where the member is missing. */
export const lookupTables = optional(z
  .custom<
    Readonly<Record<string, unknown>>
  >((value) => typeof value === 'object' && value !== null && Object.keys(value).length <= MOST_TABLES, {
    error: `expected at most ${MOST_TABLES} tables`,
  })
  .pipe(z.record(wireAddress, wireList(wireAddress, MOST_ACCOUNTS))));
