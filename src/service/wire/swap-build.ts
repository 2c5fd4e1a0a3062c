import bs58 from 'bs58';
import { z } from 'zod';
import type { SwapBuild, SwapInstruction, SwapRequest } from '../../trading/swap-order.ts';
import { optional, wireAddress, wireBytes, wireU64 } from './fields.ts';
import { readWire } from './read.ts';
import { readTerms, termsShape } from './swap-terms.ts';

const WHAT = 'build';
/** The router of a build whose answer names none. */
const BUILD_ROUTER = 'build';
// What fits into no transaction is not worth reading.
const MOST_ACCOUNTS = 256;
const MOST_INSTRUCTIONS = 64;

const instruction = z
  .object({
    programId: wireAddress,
    accounts: z.array(z.object({ pubkey: wireAddress, isSigner: z.boolean(), isWritable: z.boolean() })).max(MOST_ACCOUNTS),
    data: wireBytes,
  })
  .transform((value): SwapInstruction => value);

const instructions = optional(z.array(instruction).max(MOST_INSTRUCTIONS)).transform((list) => list ?? []);

const blockhash = z.union(
  [z.array(z.int().min(0).max(255)).length(32).transform((bytes) => bs58.encode(Uint8Array.from(bytes))), wireAddress],
  { error: 'expected 32 bytes, as a list or in base58' },
);

const WireBuild = z.object({
  ...termsShape,
  computeBudgetInstructions: instructions,
  setupInstructions: instructions,
  swapInstruction: instruction,
  cleanupInstruction: optional(instruction),
  otherInstructions: instructions,
  addressesByLookupTableAddress: optional(z.record(wireAddress, z.array(wireAddress).max(MOST_ACCOUNTS))),
  blockhashWithMetadata: z.object({
    blockhash,
    lastValidBlockHeight: wireU64.refine((height) => height > 0n, { error: 'expected a positive block height' }),
  }),
});

/** Returns the build in an answer of `/build`. Throws SERVICE_MALFORMED where it cannot be true or answers another question. */
export function readSwapBuild(answer: unknown, request: SwapRequest): SwapBuild {
  const wire = readWire(WireBuild, answer, WHAT);
  const router = wire.router ?? BUILD_ROUTER;
  return {
    ...readTerms(wire, request, router, WHAT),
    computeBudgetInstructions: wire.computeBudgetInstructions,
    setupInstructions: wire.setupInstructions,
    swapInstruction: wire.swapInstruction,
    cleanupInstruction: wire.cleanupInstruction,
    otherInstructions: wire.otherInstructions,
    lookupTables: wire.addressesByLookupTableAddress ?? {},
    blockhash: wire.blockhashWithMetadata.blockhash,
    lastValidBlockHeight: wire.blockhashWithMetadata.lastValidBlockHeight,
  };
}
