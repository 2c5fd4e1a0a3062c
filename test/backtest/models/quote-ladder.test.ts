import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { QuoteLadder, Rung } from '../../../src/backtest/models/quote-ladder.ts';
import {
  createLadder, impactOf, isBeyond, isSlotsApart, knowsBeyond, largestSize, outputOf,
} from '../../../src/backtest/models/quote-ladder.ts';
import { quoteHop } from '../../../src/sandbox/chain/swap-math.ts';
import { rungsOf, statedImpact } from './pool.ts';

const UNIT = 1_000_000_000n;
/** 1,000 and 1,000 of two tokens with nine decimals, 0.3 %: the worked example O-13 of the project's research. */
const POOL = { reserveIn: 1_000n * UNIT, reserveOut: 1_000n * UNIT, feeBps: 30 };
const LADDER = createLadder(rungsOf(POOL, [UNIT, 10n * UNIT, 100n * UNIT]))!;

const rung = (inAmount: bigint, outAmount: bigint, contextSlot?: bigint): Rung =>
  ({ inAmount, outAmount, contextSlot });
const ladder = (...rungs: readonly (readonly [bigint, bigint])[]): QuoteLadder =>
  createLadder(rungs.map(([inAmount, outAmount]) => rung(inAmount, outAmount)))!;
const bps = (found: bigint, wanted: bigint): number => (Number(found) / Number(wanted) - 1) * 10_000;

const amounts = fc.bigInt({ min: 1n, max: 10n ** 12n });
const rungLists = fc.array(fc.record({ inAmount: amounts, outAmount: amounts }), { minLength: 1, maxLength: 6 });
const pools = fc.record({
  reserveIn: fc.bigInt({ min: 10n ** 9n, max: 10n ** 15n }), reserveOut: fc.bigInt({ min: 10n ** 9n, max: 10n ** 15n }),
  feeBps: fc.integer({ min: 0, max: 300 }),
});

describe('a ladder of quotes of a constant-product pool', () => {
  it('is exact between its sizes: with 1, 10 and 100 quoted, 30 is 0.0 bps off (O-13)', () => {
    const true30 = quoteHop({ ...POOL, amountIn: 30n * UNIT });
    expect(true30).toBe(29_041_372_547n);
    expect(Math.abs(bps(outputOf(LADDER, 30n * UNIT), true30))).toBeLessThan(0.000_01);
  });

  it('is more exact than interpolation of the output (−419 bps) or of logarithms (−208 bps) (O-13)', () => {
    const [ten, thirty, hundred] =
      [10n, 30n, 100n].map((size) => Number(quoteHop({ ...POOL, amountIn: size * UNIT }))) as [number, number, number];
    const linear = ten + ((hundred - ten) * 20) / 90;
    const part = Math.log(3) / Math.log(10);
    const logarithmic = 30 * Math.exp(Math.log(ten / 10) * (1 - part) + Math.log(hundred / 100) * part);
    expect([linear, logarithmic].map((found) => Math.round((found / thirty - 1) * 10_000))).toEqual([-419, -208]);
  });

  it('is exact to a unit in any pool, between the sizes and beyond them', () => {
    fc.assert(fc.property(pools, fc.integer({ min: 1, max: 400 }), (pool, percent) => {
      const [small, large] = [pool.reserveIn / 1_000n, pool.reserveIn / 10n];
      const size = (large * BigInt(percent)) / 100n;
      fc.pre(size >= small);
      const rungs = rungsOf(pool, [small, large]);
      fc.pre(rungs[0]!.outAmount > 10_000n);
      const found = outputOf(createLadder(rungs)!, size);
      const wanted = quoteHop({ ...pool, amountIn: size });
      // Amounts in the pool are whole units; the effect of rounding on the rungs' prices grows with the size.
      const slack = 3n + (10n * wanted) / rungs[0]!.outAmount + (10n * wanted) / small;
      expect(found - wanted <= slack && wanted - found <= slack).toBe(true);
    }));
  });

  it('extrapolates from a single size by its stated impact', () => {
    const single = createLadder(rungsOf(POOL, [10n * UNIT]))!;
    for (const size of [20n, 100n, 500n]) {
      expect(Math.abs(bps(outputOf(single, size * UNIT), quoteHop({ ...POOL, amountIn: size * UNIT }))))
        .toBeLessThan(0.001);
      expect(isBeyond(single, size * UNIT)).toBe(true);
    }
  });

  it('extrapolates along all sizes of one router and slot, even where the last two are close or flat', () => {
    const stated = (sizes: readonly bigint[], router: string, contextSlot: bigint): Rung[] =>
      rungsOf(POOL, sizes).map((each) => ({ ...each, router, contextSlot }));
    const known = stated([UNIT, 10n * UNIT, 100n * UNIT], 'iris', 100n);
    const largest = known.at(-1)!;
    const beyond = 200n * UNIT;
    const wanted = quoteHop({ ...POOL, amountIn: beyond });
    // One more at the price of the largest, and one that is slightly dearer: the slope of the last two sizes is 0, or
    // far too large.
    const size = 101n * UNIT;
    const flat = { ...largest, inAmount: size, outAmount: (size * largest.outAmount) / largest.inAmount };
    const steep = { ...flat, outAmount: (flat.outAmount * 9_950n) / 10_000n };
    for (const [last, off] of [[flat, 25], [steep, 130]] as const) {
      expect(Math.abs(bps(outputOf(createLadder([...known, last])!, beyond), wanted))).toBeLessThan(off);
    }
    // A rung of another router or slot is no point of the line; the largest rung's own impact decides.
    for (const others of [stated([99n * UNIT], 'other', 100n), stated([99n * UNIT], 'iris', 99n)]) {
      const nearlyFlat = others.map((each) =>
        ({ ...each, outAmount: (each.inAmount * largest.outAmount) / largest.inAmount }));
      expect(Math.abs(bps(outputOf(createLadder([...nearlyFlat, largest])!, beyond), wanted))).toBeLessThan(0.001);
      // Where it states none, only the others remain.
      expect(Math.abs(bps(outputOf(createLadder([...nearlyFlat, { ...largest, priceImpact: undefined }])!, beyond), 2n
        * largest.outAmount)))
        .toBeLessThan(0.001);
    }
  });

  it('states the impact of any size as the service does', () => {
    for (const size of [1n, 5n, 30n, 100n]) {
      const outAmount = outputOf(LADDER, size * UNIT);
      expect(impactOf(LADDER, size * UNIT, outAmount)).toBeCloseTo(statedImpact(POOL, size * UNIT), 9);
    }
    expect(impactOf(LADDER, UNIT, outputOf(LADDER, UNIT))).toBe(statedImpact(POOL, UNIT));
    expect(impactOf(LADDER, UNIT, 0n)).toBe(-1);
  });
});

describe('any ladder', () => {
  it('returns the output of its rungs, and below the smallest the output at its price, floored', () => {
    const some = ladder([100n, 300n], [1_000n, 2_900n]);
    expect([100n, 1_000n].map((size) => outputOf(some, size))).toEqual([300n, 2_900n]);
    expect([1n, 33n].map((size) => outputOf(some, size))).toEqual([3n, 99n]);
    expect(outputOf(ladder([3n, 7n]), 2n)).toBe(4n);
    expect(outputOf(ladder([3n, 7n]), 2n, 'ceil')).toBe(5n);
    expect(outputOf(some, 0n)).toBe(0n);
  });

  it('takes the worse of two neighbours where a larger size seems cheaper', () => {
    // 10 at 1.00, then 100 at 1.10 apiece: the better price is ignored.
    const some = ladder([10n, 10n], [100n, 110n], [1_000n, 900n]);
    expect(outputOf(some, 100n)).toBe(100n);
    expect(outputOf(some, 1_000n)).toBe(900n);
  });

  it('takes the worse of two neighbours where a larger size has a smaller output', () => {
    const some = ladder([10n, 10n], [100n, 90n], [200n, 60n]);
    expect([100n, 150n, 200n].map((size) => outputOf(some, size))).toEqual([60n, 60n, 60n]);
    expect(outputOf(some, 10n)).toBe(10n);
  });

  it('takes the worse of two quotes of one size in any order', () => {
    for (const rungs of [[rung(10n, 9n), rung(10n, 7n)], [rung(10n, 7n), rung(10n, 9n)]])
      expect(outputOf(createLadder(rungs)!, 10n)).toBe(7n);
  });

  it('has an output of 0 from the smallest size with such a quote on', () => {
    const some = ladder([10n, 10n], [100n, 0n], [1_000n, 500n]);
    expect([10n, 11n, 100n, 1_000n, 5_000n].map((size) => outputOf(some, size))).toEqual([10n, 0n, 0n, 0n, 0n]);
    expect(isBeyond(some, 5_000n)).toBe(false);
    expect(largestSize(some)).toBe(10n);
  });

  it('is undefined without a size above 0', () => {
    expect(createLadder([])).toBeUndefined();
    expect(createLadder([rung(0n, 5n)])).toBeUndefined();
  });

  it('ends at its largest size, and can be extrapolated with two sizes or a stated impact', () => {
    expect([100n, 101n].map((size) => isBeyond(ladder([10n, 10n], [100n, 90n]), size))).toEqual([false, true]);
    expect(knowsBeyond(ladder([10n, 10n], [100n, 90n]))).toBe(true);
    expect(knowsBeyond(ladder([10n, 10n]))).toBe(false);
    expect(knowsBeyond(createLadder([{ ...rung(10n, 10n), priceImpact: 0 }])!)).toBe(true);
  });

  it('flags sizes between quotes of which one is more than five slots older than the newest', () => {
    const some = createLadder([rung(10n, 10n, 94n), rung(100n, 90n, 95n), rung(1_000n, 800n, 100n)])!;
    // Beyond the largest, which is alone in its slot, the smallest determines the line.
    expect([5n, 10n, 50n, 100n, 500n, 1_000n, 2_000n].map((size) => isSlotsApart(some, size)))
      .toEqual([true, true, true, false, false, false, true]);
    expect(isSlotsApart(createLadder([rung(10n, 10n, 94n), rung(100n, 90n, 100n), rung(1_000n, 800n, 100n)])!, 2_000n))
      .toBe(false);
    expect(isSlotsApart(ladder([10n, 10n], [100n, 90n]), 50n)).toBe(false);
  });

  it('never has a smaller output or a better price for a larger size, for any rungs in any order', () => {
    fc.assert(fc.property(rungLists, amounts, amounts, (rungs, a, b) => {
      const some = createLadder(rungs)!;
      const [small, large] = a < b ? [a, b] : [b, a];
      const [less, more] = [outputOf(some, small), outputOf(some, large)];
      expect(more).toBeGreaterThanOrEqual(less);
      // Prices do not improve with size, except for one unit of rounding.
      expect(more * small <= (less + 1n) * large).toBe(true);
      expect(outputOf(createLadder(rungs.toReversed())!, small)).toBe(less);
    }), { numRuns: 500 });
  });

  it('never has a larger output for a recorded size than its quote', () => {
    fc.assert(fc.property(rungLists, (rungs) => {
      const some = createLadder(rungs)!;
      for (const { inAmount, outAmount } of rungs) expect(outputOf(some, inAmount)).toBeLessThanOrEqual(outAmount);
    }));
  });

  it('returns the stated impact of its smallest size, and a worse one for larger sizes', () => {
    fc.assert(fc.property(rungLists, fc.double({ min: 0, max: 0.5, noNaN: true }), amounts, (rungs, stated, size) => {
      const some = createLadder(rungs.map((each) => ({ ...each, priceImpact: -stated })))!;
      const outAmount = outputOf(some, size);
      fc.pre(outAmount > 10_000n);
      expect(impactOf(some, size, outAmount)).toBeLessThanOrEqual(-stated + 1e-12);
    }));
  });

  it('has one price where only one size without a stated impact exists: the exact fraction, rounded', () => {
    fc.assert(fc.property(amounts, amounts, amounts, fc.constantFrom(undefined, 0, 0.01),
      (inAmount, outAmount, size, priceImpact) => {
        // A positive impact does not improve a price.
        const one = createLadder([{ inAmount, outAmount, priceImpact }])!;
        expect(outputOf(one, size)).toBe((size * outAmount) / inAmount);
        expect(outputOf(one, size, 'ceil')).toBe((size * outAmount + inAmount - 1n) / inAmount);
      }));
  });
});
