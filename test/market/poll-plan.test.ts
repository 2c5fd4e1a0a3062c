import * as fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import type { PollDemand } from '../../src/market/poll-plan.ts';
import { optimalIntervals, pollGroups } from '../../src/market/poll-plan.ts';
import type { Amount } from '../../src/core/amount.ts';
import type { FeedSpec } from '../../src/market/feed.ts';
import type { Mint } from '../../src/market/token.ts';
import { SOL, USDC } from './tokens.ts';
import { weightedMeanAge } from './weighted-mean-age.ts';

const demand: fc.Arbitrary<PollDemand> = fc.record({
  everyMs: fc.integer({ min: 100, max: 600_000 }),
  weight: fc.double({ min: 0.01, max: 100, noNaN: true }),
});
const demands = fc.array(demand, { minLength: 1, maxLength: 12 });
const rate = fc.double({ min: 0.01, max: 100, noNaN: true });

const perSecond = (intervals: readonly number[]): number =>
  intervals.reduce((sum, interval) => sum + 1_000 / interval, 0);

describe('the optimal poll intervals', () => {
  test('are the wanted ones where the rate suffices', () => {
    expect(optimalIntervals([{ everyMs: 1_000, weight: 1 }, { everyMs: 4_000, weight: 9 }], 2)).toEqual([1_000, 4_000]);
  });

  test('are proportional to the inverse root of the weight where the rate does not suffice', () => {
    expect(optimalIntervals([1, 4, 16].map((weight) => ({ everyMs: 10, weight })), 7)).toEqual([1_000, 500, 250]);
  });

  test('are infinite without any rate', () => {
    expect(optimalIntervals([{ everyMs: 1_000, weight: 1 }], 0)).toEqual([Infinity]);
  });

  test('are never shorter than wanted, and use the whole rate where it is short', () => {
    fc.assert(fc.property(demands, rate, (wanted, allowed) => {
      const intervals = optimalIntervals(wanted, allowed);
      const asked = perSecond(wanted.map(({ everyMs }) => everyMs));
      for (const [index, interval] of intervals.entries())
        expect(interval).toBeGreaterThanOrEqual(wanted[index]!.everyMs * (1 - 1e-9));
      expect(perSecond(intervals) / Math.min(asked, allowed)).toBeCloseTo(1, 6);
    }));
  });

  test('cannot be improved by moving rate from one feed to another', () => {
    fc.assert(fc.property(demands, rate, fc.nat(), fc.nat(), fc.double({ min: 0.01, max: 0.9, noNaN: true }),
      (wanted, allowed, some, other, part) => {
        const intervals = optimalIntervals(wanted, allowed);
        const [from, to] = [some % wanted.length, other % wanted.length];
        if (from === to) return;
        const moved = part / intervals[from]!;
        const others = intervals.map((interval, index) => {
          if (index === from) return 1 / (1 / interval - moved);
          return index === to ? Math.max(wanted[to]!.everyMs, 1 / (1 / interval + moved)) : interval;
        });
        expect(weightedMeanAge(wanted, others)).toBeGreaterThanOrEqual(weightedMeanAge(wanted, intervals) * (1 - 1e-9));
      }));
  });
});

const quote: FeedSpec =
  { kind: 'quote', inputMint: USDC.mint, outputMint: SOL.mint, amount: 5n as Amount, everyMs: 5_000, weight: 3 };
const book: FeedSpec = { kind: 'order-book', marketId: 'M', everyMs: 5_000 };
const token = (index: number, everyMs: number, weight?: number): FeedSpec =>
  ({ kind: 'token-stats', mint: `token-${index}` as Mint, everyMs, ...(weight === undefined ? {} : { weight }) });

it('a quote and a book need one request each, however many inputs share them', () => {
  expect(pollGroups([quote, book, { ...quote, everyMs: 1_000 }])).toEqual([
    { specs: [{ ...quote, everyMs: 1_000 }], everyMs: 1_000, weight: 3 }, { specs: [book], everyMs: 5_000, weight: 1 },
  ]);
});

it('a complete quote shares the request of the plain one of the same size and interval, and no other', () => {
  const complete: FeedSpec = { ...quote, kind: 'quote-detail', weight: 5 };
  expect(pollGroups([complete, book, quote])).toEqual([
    { specs: [book], everyMs: 5_000, weight: 1 }, { specs: [quote, complete], everyMs: 5_000, weight: 5 },
  ]);
  const others: readonly FeedSpec[] = [{ ...quote, everyMs: 9_000 }, { ...quote, amount: 6n as Amount }];
  expect(pollGroups([complete, ...others]).map(({ specs }) => specs.length)).toEqual([1, 1, 1]);
});

it('tokens of one interval share a request, whose weight is the sum of theirs', () => {
  const specs = [token(1, 1_000), book, token(2, 9_000), token(3, 1_000, 2.5)];
  expect(pollGroups(specs).map(({ specs: { length }, everyMs, weight }) => [length, everyMs, weight]))
    .toEqual([[1, 5_000, 1], [2, 1_000, 3.5], [1, 9_000, 1]]);
});

it('a request has at most as many tokens as the service answers for', () => {
  const specs = Array.from({ length: 2 * 100 + 1 }, (_, index) => token(index, 1_000));
  const groups = pollGroups(specs);
  expect(groups.map((group) => group.specs.length)).toEqual([100, 100, 1]);
  expect(groups.flatMap((group) => group.specs)).toEqual(specs);
});
