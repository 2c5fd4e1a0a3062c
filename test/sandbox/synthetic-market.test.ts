import { describe, expect, it } from 'vitest';
import { amount } from '../../src/core/amount.ts';
import { feedKey } from '../../src/market/feed.ts';
import { GENESIS_POOLS, GENESIS_TOKENS } from '../../src/sandbox/genesis.ts';
import { createMarket } from '../../src/sandbox/market/market.ts';
import type { Reserves } from '../../src/sandbox/market/pool-price.ts';
import { poolPrice, rawPrice } from '../../src/sandbox/market/pool-price.ts';
import type { PriceMotion } from '../../src/sandbox/market/price-process.ts';
import { sandboxToken, syntheticMarket } from '../../src/sandbox/synthetic-market.ts';

const SOL = sandboxToken('SOL');
const USDC = sandboxToken('USDC');

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** How much of a price's move shows in the next one, from quotes of 100 USDC: lag-1 autocorrelation of log rates. */
function memory(motion: PriceMotion, { days, everyMs }: { readonly days: number; readonly everyMs: number }): { readonly correlation: number; readonly moves: number } {
  const feed = feedKey({ kind: 'quote', inputMint: USDC.mint, outputMint: SOL.mint, amount: amount(100_000_000n), everyMs });
  const rates: number[] = [];
  for (const event of syntheticMarket({ seed: 7, pairs: [{ base: SOL, quote: USDC }], startAt: 0, days, everyMs, slowEveryMs: 86_400_000, motion })) {
    if (event.kind === 'quote' && event.feed === feed) rates.push(Math.log(event.rate));
  }
  const moves = rates.slice(1).map((rate, i) => rate - rates[i]!);
  const around = mean(moves);
  const deviations = moves.map((move) => move - around);
  return { correlation: mean(deviations.slice(1).map((deviation, i) => deviation * deviations[i]!)) / mean(deviations.map((deviation) => deviation ** 2)), moves: moves.length };
}

describe('the market of a synthetic recording', () => {
  it('shows nothing of the next quote in the last one where prices go at random, at any distance', () => {
    for (const terms of [{ days: 0.08, everyMs: 400 }, { days: 0.4, everyMs: 10_000 }]) {
      const { correlation, moves } = memory('random-walk', terms);
      // Four standard errors of a correlation that is none.
      expect(Math.abs(correlation)).toBeLessThan(4 / Math.sqrt(moves));
    }
    // What swings about its level is told by its last move: such a thing would have been seen.
    const { correlation, moves } = memory('swings', { days: 0.08, everyMs: 400 });
    expect(Math.abs(correlation)).toBeGreaterThan(4 / Math.sqrt(moves));
  });

  it('has every pool at the market’s price where that goes at random, after one slot as after many', () => {
    const reserves = new Map<string, Reserves>();
    const pools = GENESIS_POOLS.map(({ label, mintA, mintB, feeBps }, i) => {
      const address = `${label}-${i}`;
      reserves.set(address, { reserveA: 10n ** 15n, reserveB: 10n ** 15n });
      return { address, label, mintA, mintB, feeBps };
    });
    const market = createMarket({
      seed: 7, tokens: GENESIS_TOKENS, pools, motion: 'random-walk',
      reserves: { readPool: (address) => reserves.get(address)!, writeReserves: (address, next) => { reserves.set(address, next); } },
    });
    const side = (mint: string): { usd: number; decimals: number } => ({ usd: market.usdPrice(mint), decimals: GENESIS_TOKENS.find((token) => token.mint === mint)!.decimals });
    for (const slots of [1, 1, 25, 150]) {
      market.step(slots);
      // Reserves are whole units: nine places of a price are left of them.
      for (const { address, mintA, mintB } of pools) expect(poolPrice(reserves.get(address)!) / rawPrice(side(mintA), side(mintB))).toBeCloseTo(1, 8);
    }
  });
});
