import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { OwnImpact } from '../../../src/backtest/models/own-impact.ts';
import { createOwnImpact, outputAfter } from '../../../src/backtest/models/own-impact.ts';
import { createLadder, outputOf } from '../../../src/backtest/models/quote-ladder.ts';
import { quoteHop } from '../../../src/sandbox/chain/swap-math.ts';
import type { RecordedSwap } from '../../../src/trading/simulation-model.ts';
import { SOL, USDC } from '../../market/tokens.ts';
import { rungsOf } from './pool.ts';

const UNIT = 1_000_000_000n;
const POOL = { reserveIn: 1_000n * UNIT, reserveOut: 1_000n * UNIT, feeBps: 30 };
const LADDER = createLadder(rungsOf(POOL, [UNIT, 10n * UNIT, 100n * UNIT]))!;
const DECAY = { share: 1, decayMs: 60_000 };

const swap = (at: number, inAmount = 1_000n): RecordedSwap =>
  ({ at, inputMint: USDC.mint, outputMint: SOL.mint, inAmount });
const left = (impact: OwnImpact, at: number): bigint => impact.left(USDC.mint, SOL.mint, at);

describe('the impact of own swaps in a recorded market', () => {
  it('is the full amount at once, 1/e after the decay time, and almost 0 after ten decay times', () => {
    const impact = createOwnImpact(DECAY);
    impact.add(USDC.mint, SOL.mint, 1_000_000n, 5_000);
    const leftAt = (at: number): bigint => left(impact, at);
    expect(leftAt(5_001)).toBe(999_983n);
    expect([65_000, 125_000, 605_000].map(leftAt)).toEqual([367_879n, 135_335n, 45n]);
  });

  it('adds up over swaps, each fading from its own time on', () => {
    const impact = createOwnImpact(DECAY);
    for (const at of [0, 30_000, 60_000]) impact.add(USDC.mint, SOL.mint, 1_000n, at);
    const wanted = [0, 30_000, 60_000].reduce((sum, at) => sum + 1_000 * Math.exp((at - 90_000) / 60_000), 0);
    expect(impact.left(USDC.mint, SOL.mint, 90_000)).toBe(BigInt(Math.round(wanted)));
  });

  it('is a configured share of them, in their own direction alone', () => {
    const half = createOwnImpact({ ...DECAY, share: 0.5 });
    half.add(USDC.mint, SOL.mint, 1_000_000n, 0);
    expect(half.left(USDC.mint, SOL.mint, 60_000)).toBe(183_940n);
    expect(half.left(SOL.mint, USDC.mint, 60_000)).toBe(0n);
    const none = createOwnImpact({ ...DECAY, share: 0 });
    none.add(USDC.mint, SOL.mint, 1_000_000n, 0);
    expect(none.left(USDC.mint, SOL.mint, 1)).toBe(0n);
  });

  it('does not depend on the order of swaps of one instant', () => {
    fc.assert(fc.property(fc.array(fc.bigInt({ min: 1n, max: 10n ** 18n }), { minLength: 1, maxLength: 8 }),
      fc.integer({ min: 1, max: 500_000 }), (sizes, later) => {
        const leftOf = (order: readonly bigint[]): bigint => {
          const impact = createOwnImpact(DECAY);
          for (const size of order) {
            impact.add(USDC.mint, SOL.mint, size, 1_000);
            expect(impact.left(USDC.mint, SOL.mint, 1_000)).toBe(0n);
          }
          return impact.left(USDC.mint, SOL.mint, 1_000 + later);
        };
        expect(leftOf(sizes.toReversed())).toBe(leftOf(sizes));
      }));
  });
});

describe('issue 13.5: own swaps whose impact is in the recorded prices', () => {
  it('are left out, whether the simulated swap lands after the recorded one or before it', () => {
    const impact = createOwnImpact(DECAY, [swap(1_000), swap(5_000)]);
    impact.add(USDC.mint, SOL.mint, 1_000n, 2_500);
    expect(left(impact, 2_501)).toBe(0n);
    impact.add(USDC.mint, SOL.mint, 1_000n, 4_000);
    expect(left(impact, 5_000)).toBe(0n);
  });

  it('are not known before they landed', () => {
    const impact = createOwnImpact(DECAY, [swap(5_000)]);
    impact.add(USDC.mint, SOL.mint, 1_000n, 4_000);
    expect(left(impact, 4_999)).toBe(983n);
    expect(left(impact, 5_000)).toBe(0n);
  });

  it('offset twice their amount: what the simulation swaps beyond that has impact', () => {
    const impact = createOwnImpact(DECAY, [swap(1_000)]);
    impact.add(USDC.mint, SOL.mint, 1_500n, 1_000);
    expect(left(impact, 1_001)).toBe(0n);
    impact.add(USDC.mint, SOL.mint, 1_500n, 2_000);
    expect(left(impact, 2_001)).toBe(1_008n);
    // The other direction is not affected.
    impact.add(SOL.mint, USDC.mint, 400n, 3_000);
    expect(impact.left(SOL.mint, USDC.mint, 3_001)).toBe(400n);
  });

  it('never increase the impact', () => {
    const moment = fc.integer({ min: 0, max: 200_000 });
    const swaps =
      fc.array(fc.record({ at: moment, inAmount: fc.bigInt({ min: 1n, max: 10n ** 9n }) }), { maxLength: 6 });
    fc.assert(fc.property(swaps, swaps, (made, landed) => {
      const recorded = landed.toSorted((a, b) => a.at - b.at).map(({ at, inAmount }) => swap(at, inAmount));
      const [plain, aware] = [createOwnImpact(DECAY), createOwnImpact(DECAY, recorded)];
      for (const { at, inAmount } of made.toSorted((a, b) => a.at - b.at)) {
        for (const impact of [plain, aware]) impact.add(USDC.mint, SOL.mint, inAmount, at);
        expect(left(aware, at)).toBeGreaterThanOrEqual(0n);
        expect(left(aware, at + 1)).toBeLessThanOrEqual(left(plain, at + 1) + 1n);
      }
    }));
  });
});

describe('a swap after own swaps', () => {
  it('issue 13.4: is worse for the impact that one size states, as much as the pool would have it', () => {
    const [size, taken] = [100n * UNIT, 50n * UNIT];
    const [rung] = rungsOf(POOL, [size]);
    const found = outputAfter(createLadder([rung!])!, taken, size);
    const wanted = quoteHop({ ...POOL, amountIn: taken + size }) - quoteHop({ ...POOL, amountIn: taken });
    expect(Math.abs(Number(found) / Number(wanted) - 1)).toBeLessThan(0.001);
    // Without a stated impact one size does not tell the price of another.
    expect(outputAfter(createLadder([{ ...rung!, priceImpact: undefined }])!, taken, size)).toBe(rung!.outAmount);
  });

  it('has the output of the pool, as if all were slices of one swap', () => {
    const [first, second] = [40n * UNIT, 30n * UNIT];
    const whole = quoteHop({ ...POOL, amountIn: first + second });
    const alone = quoteHop({ ...POOL, amountIn: first });
    const found = outputAfter(LADDER, first, second);
    expect(found - (whole - alone)).toBeLessThanOrEqual(20n);
    expect(whole - alone - found).toBeLessThanOrEqual(20n);
    expect(found).toBeLessThan(outputOf(LADDER, second));
  });

  it('never has a larger output than alone, and a smaller one the more was taken from a pool', () => {
    const amounts = fc.bigInt({ min: 1n, max: 10n ** 12n });
    fc.assert(fc.property(fc.array(
      fc.record({ inAmount: amounts, outAmount: amounts }), { minLength: 1, maxLength: 5 },
    ), amounts, amounts, (rungs, taken, size) => {
      const ladder = createLadder(rungs)!;
      const found = outputAfter(ladder, taken, size);
      expect(found).toBeGreaterThanOrEqual(0n);
      expect(found).toBeLessThanOrEqual(outputOf(ladder, size));
    }));
    fc.assert(fc.property(amounts, amounts, amounts, (a, b, size) => {
      const [less, more] = a < b ? [a, b] : [b, a];
      expect(outputAfter(LADDER, more, size)).toBeLessThanOrEqual(outputAfter(LADDER, less, size) + 1n);
    }));
  });
});
