import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createOwnImpact } from '../../src/backtest/models/own-impact.ts';
import type { PriceRefusal, SimulatedPrice } from '../../src/backtest/pricing.ts';
import { createPricing, isRefusal } from '../../src/backtest/pricing.ts';
import type { Amount, Bps } from '../../src/core/amount.ts';
import type { Quote } from '../../src/market/quote.ts';
import type { Token } from '../../src/market/token.ts';
import type { Intent } from '../../src/trading/intent.ts';
import { MarketCache } from '../../src/trading/market-cache.ts';
import type { SimulationModel } from '../../src/trading/simulation-model.ts';
import { BASE_MODEL } from '../../src/trading/simulation-model.ts';
import type { SwapTerms } from '../../src/trading/swap-terms.ts';
import { quote } from '../market/events.ts';
import { FISH, SOL, USDC } from '../market/tokens.ts';
import { approve, buy, stateWith } from '../trading/states.ts';
import { rungsOf } from './models/pool.ts';

const POOL = { reserveIn: 10n ** 12n, reserveOut: 10n ** 13n, feeBps: 30 };
const SIZES = [10n ** 7n, 10n ** 8n, 10n ** 10n];

function quotesOf(from: Token, to: Token, sizes: readonly bigint[] = SIZES, at = 0): Quote[] {
  return rungsOf(POOL, sizes).map((rung) =>
    quote(from, to, { inAmount: rung.inAmount, outAmount: rung.outAmount, priceImpact: rung.priceImpact, at }));
}

const intent = (amountIn: bigint): Intent => ({ ...approve(stateWith(), buy()), amountIn: amountIn as Amount });

function pricing(quotes: readonly Quote[], model: Partial<SimulationModel> = {}) {
  const market = new MarketCache();
  for (const each of quotes) market.observe(each);
  const whole = { ...BASE_MODEL, ...model };
  const ownImpact = createOwnImpact(whole.ownImpact, whole.recordedSwaps);
  const prices = createPricing({ market, model: whole, ownImpact });
  const at = (
    amountIn: bigint, now = 0, isUnderWay = false,
  ): (SimulatedPrice & { readonly terms: SwapTerms }) | PriceRefusal => {
    const found = prices.price(intent(amountIn), { at: now, isUnderWay });
    return isRefusal(found) ? found : { ...found, terms: prices.termsOf(intent(amountIn), found) };
  };
  const priced = (amountIn: bigint, now = 0, isUnderWay = false): SimulatedPrice & { readonly terms: SwapTerms } => {
    const found = at(amountIn, now, isUnderWay);
    if (isRefusal(found)) throw new Error(found.reason);
    return found;
  };
  return { at, priced, ownImpact };
}

describe('the price of a simulated swap', () => {
  it('comes from all recorded sizes of its direction, interpolated as a pool would pay', () => {
    const { priced } = pricing(quotesOf(USDC, SOL));
    const [wanted] = rungsOf(POOL, [3n * 10n ** 9n]);
    const { terms, marks } = priced(3n * 10n ** 9n);
    expect(Math.abs(Number(terms.outAmount) / Number(wanted!.outAmount) - 1)).toBeLessThan(1e-7);
    expect(terms.priceImpact).toBeCloseTo(wanted!.priceImpact!, 7);
    expect(marks).toEqual([]);
  });

  it('has router and fee of the smallest quote that covers it', () => {
    const quotes = quotesOf(USDC, SOL).map((each, n): Quote => ({ ...each, router: `router-${n}`, feeBps: n as Bps }));
    const { priced } = pricing(quotes.toReversed(), { extrapolate: true });
    expect([1n, 10n ** 7n, 10n ** 7n + 1n, 10n ** 10n, 10n ** 10n + 1n].map((size) => priced(size).terms.router))
      .toEqual(['router-0', 'router-0', 'router-1', 'router-2', 'router-2']);
    expect(priced(10n ** 8n).terms.feeBps).toBe(1);
  });

  it('ignores quotes that are too old, and uses the other direction where all are', () => {
    const quotes = [...quotesOf(USDC, SOL, SIZES.slice(0, 2), 1_000), ...quotesOf(USDC, SOL, SIZES.slice(2), 0)];
    const { at } = pricing(quotes, { maxPriceAgeMs: 10_000 });
    expect(at(10n ** 9n, 10_000)).toMatchObject({ marks: [] });
    expect(at(10n ** 9n, 10_001)).toMatchObject({ code: 'SIZE_BEYOND_LADDER' });
    expect(at(10n ** 7n, 11_001)).toMatchObject({ code: 'QUOTE_STALE' });
    // A swap under way lands at quotes of any age.
    expect(at(10n ** 7n, 11_001, true)).toMatchObject({ marks: [] });
    const reverse = quote(SOL, USDC, { inAmount: 10n ** 9n, outAmount: 10n ** 8n, at: 11_000 });
    expect(pricing([...quotes, reverse], { maxPriceAgeMs: 10_000 }).at(10n ** 7n, 11_001))
      .toMatchObject({ marks: ['other-side'] });
  });

  it('refuses a size above everything recorded, but never for a swap that is under way', () => {
    const { at, priced } = pricing(quotesOf(USDC, SOL));
    expect(at(10n ** 10n)).toHaveProperty('terms');
    expect(at(10n ** 10n + 1n)).toMatchObject({
      code: 'SIZE_BEYOND_LADDER',
      reason: expect.stringContaining('10000000001 smallest units, and the largest recorded size is 10000000000'),
    });
    expect(priced(10n ** 10n + 1n, 0, true).marks).toEqual(['extrapolated']);
  });

  it('refuses every size beyond the ladder and no size on it, for any recording', () => {
    const amounts = fc.bigInt({ min: 1n, max: 10n ** 12n });
    fc.assert(fc.property(fc.uniqueArray(amounts, { minLength: 1, maxLength: 5 }), amounts, (sizes, wanted) => {
      const quotes = sizes.map((inAmount) => quote(USDC, SOL, { inAmount, outAmount: inAmount }));
      const largest = sizes.reduce((a, b) => (a > b ? a : b));
      expect(isRefusal(pricing(quotes).at(wanted))).toBe(wanted > largest);
    }));
  });

  it('marks a price between quotes whose slots are too far apart', () => {
    const quotes = quotesOf(USDC, SOL).map((each, n): Quote => ({ ...each, contextSlot: [100n, 94n, 100n][n] }));
    const { priced } = pricing(quotes);
    expect([10n ** 7n, 10n ** 8n, 10n ** 9n].map((size) => priced(size).marks))
      .toEqual([[], ['slots-apart'], ['slots-apart']]);
  });

  it('is worse after an own swap, and recovers over time', () => {
    const { priced, ownImpact } = pricing(quotesOf(USDC, SOL));
    const before = priced(10n ** 9n).terms.outAmount;
    ownImpact.add(USDC.mint, SOL.mint, 10n ** 10n, 0);
    const [soon, later, hourLater] = [1, 60_000, 3_600_000].map((at) => priced(10n ** 9n, at).terms);
    expect(soon!.outAmount).toBeLessThan(later!.outAmount);
    expect(later!.outAmount).toBeLessThan(before);
    expect(hourLater!.outAmount).toBe(before);
    expect(soon!.priceImpact).toBeLessThan(later!.priceImpact!);
  });

  it('issue 13.5: is marked where own swaps still displace the market beyond the ladder', () => {
    const { priced, ownImpact } = pricing(quotesOf(USDC, SOL));
    ownImpact.add(USDC.mint, SOL.mint, 10n ** 10n, 0);
    expect([10n ** 9n, 10n ** 10n].map((size) => priced(size, 1).marks)).toEqual([['displaced'], ['displaced']]);
    expect(priced(10n ** 9n, 300_000).marks).toEqual([]);
    // Without a known slope nothing is displaced.
    const flat = pricing([quote(USDC, SOL, { inAmount: 10n ** 9n, outAmount: 10n ** 9n, priceImpact: undefined })]);
    flat.ownImpact.add(USDC.mint, SOL.mint, 10n ** 10n, 0);
    expect(flat.priced(10n ** 9n, 1)).toMatchObject({ marks: [], recorded: 10n ** 9n });
  });

  it('issue 13.5: comes from the quote that the recorded run accepted for the size, until a newer one', () => {
    const accepted = { at: 1_000, outAmount: 7n * 10n ** 8n };
    const { priced } = pricing([quote(USDC, SOL, { inAmount: 10n ** 9n, outAmount: 10n ** 9n, at: 500 })], {
      recordedSwaps: [{ at: 1_400, inputMint: USDC.mint, outputMint: SOL.mint, inAmount: 10n ** 9n, accepted }],
    });
    expect([999, 1_000, 1_500].map((at) => priced(10n ** 9n, at).outAmount))
      .toEqual([10n ** 9n, accepted.outAmount, accepted.outAmount]);
    const newer = pricing([quote(USDC, SOL, { inAmount: 10n ** 9n, outAmount: 9n * 10n ** 8n, at: 1_100 })], {
      recordedSwaps: [{ at: 1_400, inputMint: USDC.mint, outputMint: SOL.mint, inAmount: 10n ** 9n, accepted }],
    });
    expect(newer.priced(10n ** 9n, 1_500).outAmount).toBe(9n * 10n ** 8n);
  });

  it('loses the fees of both tokens and of the platform, and conserves the input and the paid amount', () => {
    const fee =
      fc.record({ bps: fc.integer({ min: 0, max: 10_000 }), maximum: fc.bigInt({ min: 0n, max: 10n ** 12n }) });
    fc.assert(fc.property(fee, fee, fc.integer({ min: 0, max: 10_000 }),
      fc.constantFrom('input' as const, 'output' as const), fc.bigInt({ min: 1n, max: 10n ** 10n }),
      (inputFee, outputFee, platformFeeBps, platformFeeIn, amountIn) => {
        const { priced } = pricing(quotesOf(USDC, SOL), {
          transferFees: new Map([[USDC.mint, inputFee], [SOL.mint, outputFee]]),
          costs: { ...BASE_MODEL.costs, platformFeeBps: platformFeeBps as Bps, platformFeeIn },
        });
        const { terms, traded, paid, platformFee, transferFees } = priced(amountIn);
        const of = (mint: string): bigint => [platformFee, ...transferFees].filter((each) => each.mint === mint)
          .reduce((sum, { amount }) => sum + amount, 0n);
        expect(traded + of(USDC.mint)).toBe(amountIn);
        expect(terms.outAmount + of(SOL.mint)).toBe(paid);
        expect(terms.outAmount).toBeGreaterThanOrEqual(0n);
        expect(terms.inAmount).toBe(amountIn);
      }));
  });

  it('contains the platform’s fee beside the quote’s own in the terms that limits check', () => {
    const { priced } = pricing(quotesOf(USDC, SOL).map((each): Quote => ({ ...each, feeBps: 5 as Bps })), {
      costs: { ...BASE_MODEL.costs, platformFeeBps: 20 as Bps },
    });
    const { terms, paid, platformFee } = priced(10n ** 8n);
    expect(terms.feeBps).toBe(25);
    expect(platformFee).toEqual({ mint: SOL.mint, amount: (paid * 20n) / 10_000n });
  });

  it('is undefined for a pair without quotes', () => {
    expect(pricing([]).at(1n)).toMatchObject({ code: 'QUOTE_UNAVAILABLE' });
    expect(pricing(quotesOf(USDC, FISH)).at(1n)).toMatchObject({ code: 'QUOTE_UNAVAILABLE' });
  });
});
