import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MarketCache } from '../../src/trading/market-cache.ts';
import { priceAge, valueIn } from '../../src/trading/valuation.ts';
import { quote, record, sellingSol, stats, trouble } from '../market/events.ts';
import { FISH, SOL, TOKENS, USDC } from '../market/tokens.ts';

describe('the market cache', () => {
  it('keeps the latest event of every feed, each in one slot', () => {
    const cache = new MarketCache();
    const [first, second, other] = [sellingSol(150_000, 1), sellingSol(151_000, 2), stats(SOL, 150)];
    const slot = cache.observe(first);
    expect(cache.observe(other)).not.toBe(slot);
    expect(cache.observe(second)).toBe(slot);
    expect(cache.slotOf(first.feed)).toBe(slot);
    expect(cache.latest(slot)).toBe(second);
  });

  it('does not replace the last event by a health report', () => {
    const cache = new MarketCache();
    const slot = cache.observe(sellingSol(150_000, 1));
    expect(cache.observe(trouble(sellingSol(150_000, 1).feed, 2))).toBe(slot);
    expect(cache.latest(slot)).toMatchObject({ kind: 'quote' });
    expect(cache.latestQuote(SOL.mint, USDC.mint)).toMatchObject({ receivedAt: 1 });
  });

  it('has seen both tokens of a quote and those with statistics', () => {
    const cache = new MarketCache();
    expect(cache.hasSeen(SOL.mint)).toBe(false);
    cache.observe(trouble(sellingSol(150_000, 1).feed, 1));
    expect(cache.hasSeen(SOL.mint)).toBe(false);
    cache.observe(sellingSol(150_000, 1));
    cache.observe(stats(FISH, 2));
    expect([SOL, USDC, FISH].map(({ mint }) => cache.hasSeen(mint))).toEqual([true, true, true]);
  });

  it('returns the newest quote of a pair over all sizes, in one direction only', () => {
    const cache = new MarketCache();
    cache.observe(quote(SOL, USDC, { inAmount: 1n, outAmount: 5n, at: 2 }));
    cache.observe(quote(SOL, USDC, { inAmount: 9n, outAmount: 6n, at: 1 }));
    expect(cache.latestQuote(SOL.mint, USDC.mint)).toMatchObject({ outAmount: 5n });
    cache.observe(quote(SOL, USDC, { inAmount: 9n, outAmount: 7n, at: 3 }));
    expect(cache.latestQuote(SOL.mint, USDC.mint)).toMatchObject({ outAmount: 7n });
    expect(cache.latestQuote(USDC.mint, SOL.mint)).toBeUndefined();
  });
});

describe('the value of an amount', () => {
  it('is the amount itself in its own token, priced or not', () => {
    expect(valueIn(new MarketCache(), TOKENS, { mint: FISH.mint, amount: 7n, currency: FISH.mint })).toBe(7n);
  });

  it('comes from a quote of it, else from one for it, else from both dollar prices', () => {
    const cache = new MarketCache();
    const value = (): unknown =>
      valueIn(cache, TOKENS, { mint: SOL.mint, amount: 2_000_000_000n, currency: USDC.mint });
    expect(value()).toBeUndefined();
    cache.observe(stats(SOL, 148));
    cache.observe(stats(USDC, 1));
    expect(value()).toBe(296_000_000n);
    cache.observe(quote(USDC, SOL, { inAmount: 149_000_000n, outAmount: 1_000_000_000n }));
    expect(value()).toBe(298_000_000n);
    cache.observe(sellingSol(150_000, 0));
    expect(value()).toBe(300_000_000n);
  });

  it('counts the dollar price of a token’s record as that of its statistics: the younger of both', () => {
    const cache = new MarketCache();
    const value = (at?: number): unknown => valueIn(
      cache, TOKENS, { mint: SOL.mint, amount: 2_000_000_000n, currency: USDC.mint },
      at === undefined ? undefined : { at, maxAgeMs: 100 },
    );
    cache.observe(record(SOL, 148, 10));
    expect(cache.hasSeen(SOL.mint)).toBe(true);
    expect(value()).toBeUndefined();
    cache.observe(record(USDC, 1, 10));
    expect([value(), value(110), value(111)]).toEqual([296_000_000n, 296_000_000n, undefined]);
    cache.observe(stats(SOL, 149, 20));
    expect(value()).toBe(298_000_000n);
    cache.observe(record(SOL, 150, 30));
    expect([value(), value(50)]).toEqual([300_000_000n, 300_000_000n]);
    cache.observe(record(SOL, undefined, 40));
    expect(value()).toBe(298_000_000n);
    cache.observe({ ...record(SOL, 151, 60), eventAt: 5 });
    expect(value(60)).toBe(298_000_000n);
    expect(priceAge(cache, SOL.mint, USDC.mint, 60)).toBe(50);
    expect(priceAge(cache, SOL.mint, FISH.mint, 60)).toBe(Infinity);
  });

  it('is floored, and grows with the amount', () => {
    const cache = new MarketCache();
    cache.observe(quote(SOL, USDC, { inAmount: 3n, outAmount: 2n }));
    const value = (amount: bigint): bigint => valueIn(cache, TOKENS, { mint: SOL.mint, amount, currency: USDC.mint })!;
    expect([0n, 1n, 2n, 3n].map(value)).toEqual([0n, 0n, 1n, 2n]);
    const units = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
    fc.assert(fc.property(units, units, (a, b) => {
      expect(value(a) <= value(b)).toBe(a <= b || value(a) === value(b));
    }));
  });
});
