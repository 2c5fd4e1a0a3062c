import * as fc from 'fast-check';
import { from, Subject, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { formatDecimal } from '../../src/core/amount.ts';
import { stringifyJson } from '../../src/core/json.ts';
import { VirtualClock } from '../../src/engine/virtual-clock.ts';
import {
  amountOf, atLeast, cooldown, coversCosts, fixedSize, fractionalKelly, fractionOf, hysteresis, levelsBetween, numberOf,
  percentOfBudget, percentOfEquity, roundTripBps, sliceOf, targetWeights, unseen, volatilityWeight, whenFlat,
} from '../../src/strategy/index.ts';
import type {
  HysteresisOptions, RebalanceOptions, StrategyContext, SwapProposal, Token,
} from '../../src/strategy/index.ts';
import { positionOf, swapProposal } from '../../src/strategy/context.ts';
import { StateParts } from '../../src/strategy/stateful.ts';
import { FISH, KELP, SOL, USDC } from '../market/tokens.ts';

const usdc = (whole: number) => amountOf(USDC, whole);
/** Returns what a hysteresis of the levels 0.6 and 0.5 emits. */
const crossings = (values: readonly number[], options: HysteresisOptions): boolean[] => {
  const emitted: boolean[] = [];
  from(values).pipe(hysteresis(0.6, 0.5, options)).subscribe((side) => { emitted.push(side); });
  return emitted;
};

describe('an amount from a number', () => {
  it.each([
    [0.29, 290_000n], [1.1, 1_100_000n], [1e-7, 0n], [1.5e21, 1_500_000_000_000_000_000_000_000_000n], [0, 0n],
    [123.456789123, 123_456_789n], [5e-324, 0n],
  ])('counts the digits of %d', (value, expected) => { expect(usdc(value).amount).toBe(expected); });

  it('is rounded up where that is asked for', () => {
    expect(amountOf(USDC, 1e-7, 'ceil').amount).toBe(1n);
    expect(amountOf(USDC, 2.000_000_1, 'ceil').amount).toBe(2_000_001n);
  });

  it.each([NaN, Infinity, -1, -1e-9])('refuses %d', (value) => {
    expect(() => usdc(value)).toThrow(/expected a finite amount of USDC of at least 0/);
  });

  it('is within one smallest unit of the number, never above, and never below where it is rounded up', () => {
    fc.assert(fc.property(fc.double({ min: 0, max: 1e9, noNaN: true }), fc.integer({ min: 0, max: 12 }),
      (value, decimals) => {
        const token: Token = { ...FISH, decimals };
        const [low, high] = [amountOf(token, value).amount, amountOf(token, value, 'ceil').amount];
        expect(high - low === 0n || high - low === 1n).toBe(true);
        expect(Number(formatDecimal(low, decimals))).toBeLessThanOrEqual(value);
        expect(Number(formatDecimal(high, decimals))).toBeGreaterThanOrEqual(value);
        if (numberOf(amountOf(token, value)) === value) expect(high).toBe(low);
      }));
  });
});

describe('parts of a whole', () => {
  it('slices differ by one smallest unit at most, the last is the largest, and together they are the amount', () => {
    const [amounts, counts] = [fc.bigInt({ min: 0n, max: 10n ** 20n }), fc.integer({ min: 1, max: 60 })];
    fc.assert(fc.property(amounts, counts, (amount, slices) => {
      const all = Array.from({ length: slices }, (_, n) => sliceOf({ token: USDC, amount }, n, slices).amount);
      expect(all.reduce((sum, slice) => sum + slice, 0n)).toBe(amount);
      expect(all.every((slice) => slice <= all.at(-1)! && all.at(-1)! - slice <= 1n)).toBe(true);
    }));
  });

  it('levels divide a range by the same ratio or the same distance', () => {
    expect(levelsBetween({ low: 100, high: 400, steps: 2, type: 'geometric' })).toEqual([100, 200, 400]);
    expect(levelsBetween({ low: 100, high: 400, steps: 2, type: 'arithmetic' })).toEqual([100, 250, 400]);
  });
});

const context = (available: number, equity: number | undefined, budget: number | undefined = 500) => ({
  available: () => usdc(available).amount as never,
  equity: () => (equity === undefined ? undefined : usdc(equity).amount as never),
  budget: () => (budget === -1 ? undefined : usdc(budget)),
});

describe('a size', () => {
  it('is fixed, but at most what is available', () => {
    expect(fixedSize(context(500, 500), usdc(25))).toEqual(usdc(25));
    expect(fixedSize(context(10, 500), usdc(25))).toEqual(usdc(10));
    expect(fixedSize(context(0, 500), usdc(25))).toBeUndefined();
  });

  it('is a share of the budget or of the equity', () => {
    expect(percentOfBudget(context(1_000, 1_000), 5)).toEqual(usdc(25));
    expect(percentOfEquity(context(1_000, 1_000), 5)).toEqual(usdc(50));
    expect(percentOfEquity(context(1_000, undefined), 5)).toBeUndefined();
    expect(percentOfBudget(context(1_000, 1_000, -1), 5)).toBeUndefined();
  });

  it('is dropped below the minimum of a trade', () => {
    expect(atLeast(usdc(10), usdc(10))).toEqual(usdc(10));
    expect(atLeast(usdc(9.999999), usdc(10))).toBeUndefined();
    expect(atLeast(undefined, usdc(10))).toBeUndefined();
    expect(() => atLeast(amountOf(SOL, 1), usdc(10))).toThrow(/expected a minimum in SOL, got 10 USDC/);
  });

  it('is a fraction of an amount without the error of doubles', () => {
    expect(fractionOf(usdc(100), 0.29).amount).toBe(29_000_000n);
    expect(() => fractionOf(usdc(100), Number.NaN)).toThrow(/finite/);
  });

  it('holds a volatility target: half of it at twice the volatility, and never more than the most', () => {
    expect(volatilityWeight(0.1, 0.2)).toBe(0.5);
    expect(volatilityWeight(0.1, 0.05)).toBe(1);
    expect(volatilityWeight(0.1, 0.05, 1.5)).toBe(1.5);
    for (const realised of [0, Number.NaN, Infinity, -1]) expect(volatilityWeight(0.1, realised)).toBe(0);
  });
});

const between = (min: number, max: number) => fc.double({ min, max, noNaN: true });

describe('the Kelly fraction', () => {
  it('is 2p - 1 for an even bet, and a quarter of it by default', () => {
    expect(fractionalKelly({ probability: 0.6, win: 1, loss: 1 }, 1)).toBeCloseTo(0.2, 12);
    expect(fractionalKelly({ probability: 0.6, win: 1, loss: 1 })).toBeCloseTo(0.05, 12);
  });

  it('is (p - c) / (1 - c) for a contract that costs c and pays 1', () => {
    fc.assert(fc.property(fc.double({ min: 0.01, max: 0.99, noNaN: true }), fc.double({ min: 0, max: 1, noNaN: true }),
      (price, probability) => {
        const full = fractionalKelly({ probability, win: (1 - price) / price, loss: 1 }, 1);
        expect(full).toBeCloseTo(Math.max(0, (probability - price) / (1 - price)), 9);
      }));
  });

  it('falls with costs, and is 0 where the bet does not pay after them', () => {
    // p = 0.55, win = loss = 10 %, costs of 0.6 %: 0.55 / 0.106 - 0.45 / 0.094.
    expect(fractionalKelly({ probability: 0.55, win: 0.1, loss: 0.1, cost: 0.006 }, 1))
      .toBeCloseTo(0.55 / 0.106 - 0.45 / 0.094, 12);
    expect(fractionalKelly({ probability: 0.55, win: 0.1, loss: 0.1, cost: 0.02 }, 1)).toBe(0);
    expect(fractionalKelly({ probability: 0.9, win: 0.01, loss: 0.1, cost: 0.01 }, 1)).toBe(0);
    expect(fractionalKelly({ probability: Number.NaN, win: 1, loss: 1 })).toBe(0);
  });

  it('gives the stake with the largest growth', () => {
    fc.assert(fc.property(between(0.05, 0.95), between(0.05, 3), between(0.05, 1), between(0, 1),
      (p, win, loss, other) => {
        const growth = (f: number): number => p * Math.log(1 + f * win) + (1 - p) * Math.log(1 - f * loss);
        const best = Math.min(fractionalKelly({ probability: p, win, loss }, 1), 0.999);
        expect(growth(best)).toBeGreaterThanOrEqual(growth(Math.min(other, 0.999)) - 1e-9);
      }));
  });
});

describe('the rule of edge over cost', () => {
  it('counts both swaps, fixed costs by size, and the safety margin', () => {
    const fixed = amountOf(USDC, 0.04);
    expect(roundTripBps({ feeBps: 5, impactBps: 10, fixed, size: usdc(100), safetyBps: 6 })).toBeCloseTo(40, 9);
    expect(coversCosts(40.1, { feeBps: 5, impactBps: 10, fixed, size: usdc(100), safetyBps: 6 })).toBe(true);
    // A tenth of the size makes ten times the fixed costs.
    expect(coversCosts(40.1, { feeBps: 5, impactBps: 10, fixed, size: usdc(10), safetyBps: 6 })).toBe(false);
    expect(coversCosts(Number.NaN, { feeBps: 0, impactBps: 0 })).toBe(false);
    expect(roundTripBps({ feeBps: 1, impactBps: 1, fixed })).toBe(Infinity);
  });
});

describe('operators', () => {
  it('a cooldown lets a value pass, then none for its span', () => {
    const clock = new VirtualClock(0);
    const source = new Subject<number>();
    const passed: number[] = [];
    const parts = new StateParts(undefined, () => undefined);
    source.pipe(cooldown({ clock, stateful: (...args) => parts.open(...args) }, '10s'))
      .subscribe((at) => passed.push(at));
    for (const at of [0, 5_000, 9_999, 10_000, 15_000, 30_000]) {
      clock.advanceTo(at);
      source.next(at);
    }
    expect(passed).toEqual([0, 10_000, 30_000]);
    expect(parts.isUsed).toBe(false);
  });

  it('a cooldown with a name goes on after a restart', () => {
    let saved: string | undefined;
    const passed = [[0, 4_000], [6_000, 9_999], [10_000, 12_000], [19_000, 20_000]].map((times) => {
      const parts = new StateParts(saved, () => { throw new Error('expected a state that fits'); });
      const clock = new VirtualClock(times[0]!);
      const source = new Subject<number>();
      const emitted: number[] = [];
      source.pipe(cooldown({ clock, stateful: (...args) => parts.open(...args) }, '10s', 'pause'))
        .subscribe((at) => { emitted.push(at); });
      for (const at of times) {
        clock.advanceTo(at);
        source.next(at);
      }
      saved = parts.take();
      return emitted;
    });
    expect(passed).toEqual([[0], [], [10_000], [20_000]]);
  });

  it('whenFlat lets values pass while nothing is held and no swap is under way', () => {
    let [open, held] = [0, 0n];
    const source = new Subject<string>();
    const passed: string[] = [];
    const portfolio = {
      openIntents: () => open, available: ({ mint }: Token) => (mint === SOL.mint ? held : 0n) as never,
    };
    source.pipe(whenFlat(portfolio, FISH, SOL)).subscribe((value) => { passed.push(value); });
    source.pipe(whenFlat(portfolio)).subscribe((value) => { passed.push(`${value} without a token`); });
    source.next('flat');
    held = 1n;
    source.next('held');
    [open, held] = [1, 0n];
    source.next('under way');
    expect(passed).toEqual(['flat', 'flat without a token', 'held without a token']);
  });

  it.each([
    ['high', 0.6, 0.55, [0.7, 0.58, 0.54, 0.59, 0.6, Number.NaN, 0.61, 0.56, 0.5], [false, true, false]],
    ['low', 30, 50, [40, 55, 35, 30, 29, 45, 50], [true, false]],
    ['unclear at first', 0.6, 0.55, [0.57, 0.58, 0.61, 0.5], [false]],
  ])('hysteresis on the %s side emits crossings alone', (_side, enter, leave, values, expected) => {
    let emitted: boolean[] = [];
    from(values).pipe(hysteresis(enter, leave), toArray()).subscribe((all) => { emitted = all; });
    expect(emitted).toEqual(expected);
  });

  it('hysteresis refuses equal levels', () => { expect(() => hysteresis(1, 1)).toThrow(/two different levels/); });

  it('hysteresis waits for as many readings in a row as it is to confirm', () => {
    expect(crossings([0.4, 0.4, 0.6, 0.6, 0.4, 0.4], { confirm: 2 })).toEqual([true, false]);
    // One between the levels, and one that is no number, begin the count again; so does one of the other side.
    expect(crossings([0.4, 0.4, 0.6, 0.55, 0.6, Number.NaN, 0.6, 0.4, 0.6], { confirm: 2 })).toEqual([]);
    // Two that agree are needed for the first answer too.
    expect(crossings([0.7, 0.4, 0.7, 0.7, 0.4, 0.4], { confirm: 2 })).toEqual([false]);
  });

  it.each([0, 1.5, Number.NaN, -1])('hysteresis refuses to confirm %s readings', (confirm) => {
    expect(() => hysteresis(1, 0, { confirm })).toThrow(/a number of readings above 0/);
  });

  it('hysteresis tells the first reading on the other side of where it is to start', () => {
    expect(crossings([0.7, 0.4], { start: false })).toEqual([true, false]);
    expect(crossings([0.4, 0.7], { start: false })).toEqual([true]);
    expect(crossings([0.7, 0.4], { start: true })).toEqual([false]);
  });

  it('hysteresis goes on after a restart with its answer and its count', () => {
    let saved: string | undefined;
    const emitted: string[] = [];
    for (const values of [[0.4, 0.4, 0.6], [0.6, 0.6], [0.7, 0.4], [0.4]]) {
      const parts = new StateParts(saved, () => { throw new Error('expected a state that fits'); });
      const context: Pick<StrategyContext, 'stateful'> = { stateful: (...args) => parts.open(...args) };
      from(values).pipe(hysteresis(0.6, 0.5, { confirm: 2, keep: { context, name: 'side' } }))
        .subscribe((side) => { emitted.push(`${side}`); });
      emitted.push('restart');
      saved = parts.take();
    }
    expect(emitted).toEqual(['restart', 'true', 'restart', 'restart', 'false', 'restart']);
  });

  it('unseen lets each key pass once, over restarts too, and forgets the oldest', () => {
    let saved: string | undefined;
    const passed = [['a', 'b', 'a'], ['b', 'c'], ['d', 'a', 'd']].map((values) => {
      const parts = new StateParts(saved, () => { throw new Error('expected a state that fits'); });
      const context: Pick<StrategyContext, 'stateful'> = { stateful: (...args) => parts.open(...args) };
      const emitted: string[] = [];
      from(values).pipe(unseen(context, 'keys', (value) => value, 3)).subscribe((value) => { emitted.push(value); });
      saved = parts.take();
      return emitted;
    });
    expect(passed).toEqual([['a', 'b'], ['c'], ['d', 'a']]);
  });
});

const text = ({ inputMint, outputMint, amount, reason }: SwapProposal): string =>
  `${[SOL, FISH, KELP, USDC].filter(({ mint }) => mint === inputMint || mint === outputMint)
    .map(({ symbol }) => symbol).join('/')} ${stringifyJson(amount)} ${reason}`;

describe('target weights', () => {
  interface Held { readonly [symbol: string]: readonly [amount: number, value: number] }
  const swapsOf = (
    held: Held, cash: number, open = 0, weights = [0.4, 0.3, 0.2], options: Partial<RebalanceOptions> = {},
  ): string[] => {
    const total = Object.values(held).reduce((sum, [, value]) => sum + value, cash);
    const proposals = targetWeights({
      budget: () => usdc(1_000), equity: () => usdc(total).amount as never, openIntents: () => open,
      position: (token) => {
        const [amount, value] = token === USDC ? [cash, cash] : held[token.symbol] ?? [0, 0];
        const units = amountOf(token, amount).amount as never;
        const worth = usdc(value).amount as never;
        return positionOf(token, { amount: units, available: units, cost: undefined, value: worth }, USDC);
      },
      swap: swapProposal,
    }, [SOL, FISH, KELP].map((token, n) => ({ token, weight: weights[n]! })),
    { band: 0.05, minimum: usdc(10), reason: 'rebalance', ...options });
    return proposals.map(text);
  };
  it('sell everything that is too heavy before anything is bought', () => {
    expect(swapsOf({ SOL: [4, 600], FISH: [50, 100], KELP: [1, 200] }, 100))
      .toEqual(['SOL/USDC "1333333333" rebalance: SOL is 20.0 points over its weight']);
    expect(swapsOf({ SOL: [2.666666667, 400], FISH: [50, 100], KELP: [1, 200] }, 300))
      .toEqual(['FISH/USDC "200000000" rebalance: FISH is 20.0 points under its weight']);
  });

  it('buy one token at a time, the one that lacks most first, with the cash there is', () => {
    expect(swapsOf({}, 1_000)).toEqual(['SOL/USDC "400000000" rebalance: SOL is 40.0 points under its weight']);
    expect(swapsOf({ FISH: [1, 300], KELP: [1, 200] }, 400))
      .toEqual(['SOL/USDC "360000000" rebalance: SOL is 40.0 points under its weight']);
  });

  it('change nothing within the band, below the minimum, or while a swap is under way', () => {
    expect(swapsOf({ SOL: [3, 440], FISH: [1, 300], KELP: [1, 160] }, 100)).toEqual([]);
    expect(swapsOf({}, 20)).toEqual([]);
    expect(swapsOf({}, 1_000, 1)).toEqual([]);
  });

  it('have a band relative to each weight too, and lead back to its edge where that is asked for', () => {
    // KELP lacks 4.5 points: within 5 points, and beyond a fifth of its weight, which is 4 points.
    const held: Held = { SOL: [3, 440], FISH: [1, 300], KELP: [1, 155] };
    expect(swapsOf(held, 105)).toEqual([]);
    expect(swapsOf(held, 105, 0, undefined, { relative: 0.2 }))
      .toEqual(['KELP/USDC "45000000" rebalance: KELP is 4.5 points under its weight']);
    expect(swapsOf({ SOL: [4, 600] }, 400, 0, [0.4, 0, 0], { to: 'edge' }))
      .toEqual(['SOL/USDC "1000000000" rebalance: SOL is 20.0 points over its weight']);
    expect(swapsOf({ SOL: [2, 200] }, 800, 0, [0.4, 0, 0], { to: 'edge' }))
      .toEqual(['SOL/USDC "150000000" rebalance: SOL is 20.0 points under its weight']);
  });

  it('refuse weights above 1 together, negative ones and NaN', () => {
    for (const weights of [[0.5, 0.5, 0.1], [-0.1, 0.2, 0.2], [Number.NaN, 0, 0]])
      expect(() => swapsOf({}, 1_000, 0, weights)).toThrow(/weights of at least 0/);
  });
});
