import type { Listing } from './catalogue.ts';
import { ONE, type Position } from './positions.ts';
import { MICRO_USD_PER_PRICE, type Venue } from './venue.ts';

/**
 * What a position is worth at a slot, in micro US dollars. Its mark is the best bid: what a sale would bring, not what
 * the last trade paid.
 */
export interface Valuation {
  readonly markPriceUsd: bigint;
  /** Undefined where nobody bids. */
  readonly sellPriceUsd: bigint | undefined;
  readonly valueUsd: bigint;
  readonly pnlUsd: bigint;
  readonly pnlUsdPercent: number;
  readonly pnlUsdAfterFees: bigint;
  readonly pnlUsdAfterFeesPercent: number;
}

/** Returns the valuation of a position, undefined once its market is no longer traded. */
export function valuationOf(
  position: Position,
  { listing, venue, slot }: { listing: Listing; venue: Pick<Venue, 'state' | 'bestBids'>; slot: number },
): Valuation | undefined {
  if (venue.state(listing, slot).status !== 'open') return undefined;
  const bids = venue.bestBids(listing, slot);
  const bid = position.isYes ? bids.yes : bids.no;
  const sellPriceUsd = bid === undefined ? undefined : BigInt(Math.round(bid * MICRO_USD_PER_PRICE));
  const markPriceUsd = sellPriceUsd ?? 0n;
  const valueUsd = (position.contracts * markPriceUsd) / ONE;
  const pnlUsd = valueUsd - position.cost;
  const pnlUsdAfterFees = pnlUsd - position.fees;
  return {
    markPriceUsd, sellPriceUsd, valueUsd, pnlUsd, pnlUsdAfterFees,
    pnlUsdPercent: percentOf(pnlUsd, position.cost),
    pnlUsdAfterFeesPercent: percentOf(pnlUsdAfterFees, position.cost + position.fees),
  };
}

/** Returns a share in percent, cut to two decimals towards zero. */
function percentOf(part: bigint, whole: bigint): number {
  return whole === 0n ? 0 : Number((part * 10_000n) / whole) / 100;
}
