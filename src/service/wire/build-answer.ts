import bs58 from 'bs58';
import { z } from 'zod';
import type { SwapBuild, SwapInstruction, SwapRequest } from '../../trading/swap-terms.ts';
import { decisive, wireAddress, wireBytes, wireList, wireU64 } from './fields.ts';
import { readPriceImpact } from './price-impact.ts';
import type { ReportUnread } from './read.ts';
import { malformed, readNoting } from './read.ts';
import type { StatedTerms } from './swap-terms.ts';
import { readStated, readTerms, termsShape } from './swap-terms.ts';

const WHAT = 'build';
/** The router of a build whose answer names none. */
const BUILD_ROUTER = 'build';

/** Everything an answer of `/build` says. */
export interface BuildAnswer extends SwapBuild, StatedTerms {}

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
export const instructions = decisive(wireList(instruction, MOST_INSTRUCTIONS))
  .transform((list): readonly SwapInstruction[] => list ?? []);

/** Lookup tables by address, each with the addresses it holds; undefined where the member is missing. */
export const lookupTables = decisive(z
  .custom<
    Readonly<Record<string, unknown>>
  >((value) => typeof value === 'object' && value !== null && Object.keys(value).length <= MOST_TABLES, {
    error: `expected at most ${MOST_TABLES} tables`,
  })
  .pipe(z.record(wireAddress, wireList(wireAddress, MOST_ACCOUNTS))));

const blockhash = z.union(
  [wireList(z.int().min(0).max(255), 32).refine((bytes) => bytes.length === 32).transform((bytes) => bs58.encode(
    Uint8Array.from(bytes),
  )), wireAddress],
  { error: 'expected 32 bytes, as a list or in base58' },
);

/** A blockhash in base58 and the last block that a transaction on it can land in. */
export const blockhashWithMetadata = z.object({
  blockhash,
  lastValidBlockHeight: wireU64.refine((height) => height > 0n, { error: 'expected a positive block height' }),
});

const WireBuild = z.object({
  ...termsShape,
  computeBudgetInstructions: instructions,
  setupInstructions: instructions,
  swapInstruction: instruction,
  cleanupInstruction: decisive(instruction),
  otherInstructions: instructions,
  addressesByLookupTableAddress: lookupTables,
  addressLookupTableAddresses: decisive(z.unknown()),
  blockhashWithMetadata,
});

/** The members of a build that are read here, in neutral words. */
export const BUILD_MEMBERS: readonly string[] =
  Object.keys(WireBuild.shape).filter((name) => name !== 'addressLookupTableAddresses');

/**
 * Returns the build in an answer of `/build`. Throws SERVICE_MALFORMED where it cannot be true or answers another
 * question.
 */
export function readSwapBuild(
  answer: unknown, request: Pick<SwapRequest, 'inputMint' | 'outputMint' | 'amount'>, report?: ReportUnread,
): BuildAnswer {
  const { value: wire, unread } = readNoting(WireBuild, answer, WHAT, report);
  if (wire.addressesByLookupTableAddress === undefined && wire.addressLookupTableAddresses !== undefined) {
    throw malformed(
      `${WHAT}, addressesByLookupTableAddress: expected the tables with their addresses; a host that says `
        + 'addressLookupTableAddresses instead still gives the form before V2',
      wire.addressLookupTableAddresses,
    );
  }
  const impact = readPriceImpact(wire);
  return {
    ...readTerms(wire, { request, router: wire.router ?? BUILD_ROUTER, impact, what: WHAT }),
    ...readStated(wire, { impact, unread }),
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
