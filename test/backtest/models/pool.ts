import { quoteHop } from '../../../src/sandbox/chain/swap-math.ts';
import type { Rung } from '../../../src/backtest/models/quote-ladder.ts';

/** A constant-product pool at the time of the recording: input reserve, output reserve and fee. */
export interface Pool {
  readonly reserveIn: bigint;
  readonly reserveOut: bigint;
  readonly feeBps: number;
}

/** Returns the rungs that a recording of a pool holds: the output of each size by itself. */
export function rungsOf(pool: Pool, sizes: readonly bigint[]): Rung[] {
  return sizes.map((amountIn) =>
    ({ inAmount: amountIn, outAmount: quoteHop({ ...pool, amountIn }), priceImpact: statedImpact(pool, amountIn) }));
}

/**
 * Returns the price impact that a service states: the loss of a size against the price of an infinitesimal one, without
 * fees.
 */
export function statedImpact({ reserveIn, feeBps }: Pool, amountIn: bigint): number {
  const net = Number(amountIn) * (1 - feeBps / 10_000);
  return -net / (Number(reserveIn) + net);
}
