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
function memory(
  motion: PriceMotion, { days, everyMs }: { readonly days: number; readonly everyMs: number },
): { readonly correlation: number; readonly moves: number } {
  const feed =
    feedKey({ kind: 'quote', inputMint: USDC.mint, outputMint: SOL.mint, amount: amount(100_000_000n), everyMs });
  const rates: number[] = [];
  for (const event of syntheticMarket({
    seed: 7, pairs: [{ base: SOL, quote: USDC }], startAt: 0, days, everyMs, slowEveryMs: 86_400_000, motion,
  })) {
    if (event.kind === 'quote' && event.feed === feed) rates.push(Math.log(event.rate));
  }
  const moves = rates.slice(1).map((rate, i) => rate - rates[i]!);
  const around = mean(moves);
  const deviations = moves.map((move) => move - around);
  return { correlation: mean(deviations.slice(1).map((deviation, i) => deviation * deviations[i]!)) / mean(
    deviations.map((deviation) => deviation ** 2),
  ), moves: moves.length };
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
      reserves: {
        readPool: (address) => reserves.get(address)!,
        writeReserves: (address, next) => { reserves.set(address, next); },
      },
    });
    const side = (mint: string): { usd: number; decimals: number } =>
      ({ usd: market.usdPrice(mint), decimals: GENESIS_TOKENS.find((token) => token.mint === mint)!.decimals });
    for (const slots of [1, 1, 25, 150]) {
      market.step(slots);
      // Reserves are whole units: nine places of a price are left of them.
      for (const { address, mintA, mintB } of pools)
        expect(poolPrice(reserves.get(address)!) / rawPrice(side(mintA), side(mintB))).toBeCloseTo(1, 8);
    }
  });
});

describe('issue 13.13: the usual market of a synthetic recording', () => {
  const everyMs = 10_000;
  const events = [...syntheticMarket({
    seed: 7, pairs: [{ base: SOL, quote: USDC }], startAt: 0, days: 0.5, everyMs, slowEveryMs: everyMs,
    motion: 'stochastic-volatility',
  })];
  const small = amount(100_000_000n);
  const feeds = {
    ask: feedKey({ kind: 'quote', inputMint: USDC.mint, outputMint: SOL.mint, amount: small, everyMs }),
    bid: feedKey({ kind: 'quote', inputMint: SOL.mint, outputMint: USDC.mint, amount: amount(500_000_000n), everyMs }),
    large: feedKey({
      kind: 'quote', inputMint: USDC.mint, outputMint: SOL.mint, amount: amount(2_000_000_000n), everyMs,
    }),
  };
  const ratesOf = (feed: string): number[] =>
    events.flatMap((event) => (event.kind === 'quote' && event.feed === feed ? [event.rate] : []));
  const fair = events.flatMap((event) =>
    (event.kind === 'token-stats' && event.mint === SOL.mint ? [event.values.usdPrice!] : []));
  const asks = ratesOf(feeds.ask).map((rate) => 1_000 / rate);
  const bids = ratesOf(feeds.bid).map((rate) => rate * 1_000);
  const large = ratesOf(feeds.large).map((rate) => 1_000 / rate);

  it('sells nothing below the market’s price and buys nothing above it', () => {
    expect(fair).toHaveLength(asks.length);
    fair.forEach((price, sample) => {
      expect(asks[sample]).toBeGreaterThanOrEqual(price * (1 - 1e-9));
      expect(bids[sample]).toBeLessThanOrEqual(price * (1 + 1e-9));
    });
  });

  it('has a spread of some basis points that changes, and a depth that comes and goes', () => {
    const spreads = asks.map((ask, sample) => (ask / bids[sample]! - 1) * 10_000);
    expect(mean(spreads)).toBeGreaterThan(1);
    expect(mean(spreads)).toBeLessThan(8);
    expect(new Set(spreads.map((spread) => spread.toFixed(1))).size).toBeGreaterThan(5);
    const costs = large.map((ask, sample) => (ask / asks[sample]! - 1) * 10_000);
    expect(Math.max(...costs) / Math.min(...costs)).toBeGreaterThan(1.2);
  });
});
