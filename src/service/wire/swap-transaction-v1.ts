import { z } from 'zod';
import { wireBytes, wireU64 } from './fields.ts';
import { readShown } from './read-shown.ts';
import type { QuoteSwapFacts } from './swap-simulation-v1.ts';
import { quoteSwapFacts, quoteSwapShape, SHOWN_FACTS } from './swap-simulation-v1.ts';

/** A transaction made of a quote of V1; with a `simulationError` it is not worth sending. */
export interface QuoteSwapAnswer extends QuoteSwapFacts {
  readonly transaction: Uint8Array;
  readonly lastValidBlockHeight: bigint;
}

const WireQuoteSwap = z.object({
  ...quoteSwapShape,
  swapTransaction: wireBytes.refine((bytes) => bytes.length > 0, { error: 'expected a transaction' }),
  lastValidBlockHeight: wireU64.refine((height) => height > 0n, { error: 'expected a positive block height' }),
});

/** Returns the transaction in an answer of V1's `/swap`. Throws SERVICE_MALFORMED. */
export function readQuoteSwap(answer: unknown): QuoteSwapAnswer {
  const { value: wire, unread } = readShown(WireQuoteSwap, answer, { what: 'swap', shown: SHOWN_FACTS });
  return {
    transaction: wire.swapTransaction, lastValidBlockHeight: wire.lastValidBlockHeight, ...quoteSwapFacts(wire, unread),
  };
}
