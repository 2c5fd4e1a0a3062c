import { GannetError } from '../core/errors.ts';
import type { Millis } from '../core/time.ts';
import { QUOTE_MAX_AGE_MS } from '../trading/limits.ts';
import type { LiveWorld } from './journey.ts';

/** What a firm quote must be good for yet: it has to reach the maker and then a block, by the chain's clock. */
export const EXPIRY_MARGIN_MS = 2_000;

/** When and as of what a quote was made. */
export interface QuoteReading {
  /** When the request for it left: waiting for a turn to ask is no age. */
  readonly quotedAt: Millis;
  readonly expireAt?: Millis | undefined;
  /** The slot the service priced it at. */
  readonly contextSlot?: bigint | undefined;
  /** Where the chain was at the same moment. */
  readonly chainSlot: bigint;
}

/**
 * Returns QUOTE_STALE where a quote is too old to be signed, by the clock or by the chain. A clock that went back in
 * between makes its age unknown, and what does not say its slot is older than any limit on slots.
 */
export function refuseStaleQuote(
  {
    clock, maxQuoteAgeMs = QUOTE_MAX_AGE_MS, maxQuoteAgeSlots,
  }: Pick<LiveWorld, 'clock' | 'maxQuoteAgeMs' | 'maxQuoteAgeSlots'>, quote: QuoteReading,
): GannetError | undefined {
  const now = clock.now();
  const ageMs = now - quote.quotedAt;
  if (!(ageMs >= 0 && ageMs <= maxQuoteAgeMs))
    return stale(`was ${ageMs} ms old when all was ready to be signed, allowed are ${maxQuoteAgeMs}`);
  if (quote.expireAt !== undefined && !(quote.expireAt - now > EXPIRY_MARGIN_MS)) {
    return stale(`is good for ${quote.expireAt - now} ms more, ${EXPIRY_MARGIN_MS} are needed to land it`);
  }
  if (maxQuoteAgeSlots === undefined) return undefined;
  if (quote.contextSlot === undefined)
    return stale(`does not say its slot, and no more than ${maxQuoteAgeSlots} slots are allowed`);
  const slots = quote.chainSlot - quote.contextSlot;
  return slots > BigInt(maxQuoteAgeSlots) ? stale(
    `is of slot ${quote.contextSlot}, the chain is at ${quote.chainSlot}; allowed are ${maxQuoteAgeSlots} slots`,
  ) : undefined;
}

function stale(found: string): GannetError {
  return new GannetError('QUOTE_STALE', `the quote ${found}`);
}
