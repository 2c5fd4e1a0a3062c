import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { assessRun, seriesOf } from '../../../src/research/metrics/run-figures.ts';
import type { RecordedFill, RunRecord } from '../../../src/backtest/record/run-record.ts';
import { joinRecords } from '../../../src/research/walk-forward/joined-record.ts';

const fill = (at: number, side: 'buy' | 'sell', value: number): RecordedFill => ({
  at, strategy: 'dip', input: side === 'buy' ? 'USDC' : 'SOL', output: side === 'buy' ? 'SOL' : 'USDC',
  amountIn: '10', amountOut: '10', quotedOut: '10', value, costs: 1,
});

function record(times: readonly number[], equity: readonly (number | null)[], rest: {
  readonly held?: readonly number[]; readonly fills?: readonly RecordedFill[]; readonly symbol?: string;
} = {}): RunRecord {
  return {
    currency: 'USDC', times, fills: rest.fills ?? [],
    strategies: [{ name: 'dip', equity, held: rest.held ?? equity.map(() => 0), sent: 3, landed: 2, feesPaid: 5 }],
    instruments: [
      { symbol: rest.symbol ?? 'SOL', decimals: 9, bids: times.map((at) => at), asks: times.map((at) => at + 1) },
    ],
  };
}

it('each fold continues with the final equity of the one before, with all amounts scaled', () => {
  const joined = joinRecords([
    {
      number: 1, from: 0,
      record: record([0, 50, 100], [1_000, 1_100, 1_200], { held: [0, 600, 0], fills: [fill(20, 'buy', 500)] }),
    },
    {
      number: 3, from: 200,
      record: record([200, 250, 300], [1_000, 900, 800], { held: [0, 100, 0], fills: [fill(220, 'buy', 500)] }),
    },
  ]);
  expect(seriesOf(joined, joined.strategies)).toMatchObject({
    times: [0, 50, 100, 200, 250, 300], values: [1_000, 1_100, 1_200, 1_200, 1_080, 960], held: [0, 600, 0, 0, 120, 0],
  });
  expect(joined.fills)
    .toMatchObject([{ strategy: 'fold 1', value: 500, costs: 1 }, { strategy: 'fold 3', value: 600, costs: 1.2 }]);
  expect(joined.strategies)
    .toMatchObject([{ name: 'fold 1', feesPaid: 5, sent: 3, landed: 2 }, { name: 'fold 3', feesPaid: 6 }]);
  expect(joined.instruments).toMatchObject([{ symbol: 'SOL', bids: [0, 50, 100, 200, 250, 300] }]);
});

it('a swap that lands after a fold’s end counts in the initial equity of the next fold', () => {
  const joined = joinRecords([
    {
      number: 1, from: 0,
      record: record([0, 99, 100, 130], [1_000, 1_010, 1_020, 1_100], { fills: [fill(130, 'sell', 80)] }),
    },
    { number: 2, from: 100, record: record([100, 160], [1_000, 2_000]) },
  ]);
  expect(seriesOf(joined, joined.strategies))
    .toMatchObject({ times: [0, 99, 100, 160], values: [1_000, 1_010, 1_100, 2_200] });
  expect(joined.fills).toHaveLength(1);
});

it('a fold cannot sell holdings of another fold', () => {
  const joined = joinRecords([
    { number: 1, from: 0, record: record([0, 50], [1_000, 900], { held: [0, 400], fills: [fill(10, 'buy', 500)] }) },
    {
      number: 2, from: 100,
      record: record([100, 150], [1_000, 1_040], { fills: [fill(110, 'buy', 300), fill(140, 'sell', 345)] }),
    },
  ]);
  // 45 won and 1 paid at either end, of nine tenths of the money; the 500 of the first fold are in no round trip.
  expect(assessRun(joined).metrics.expectancy).toBeCloseTo(0.9 * 43, 9);
});

it('a missing price stays missing, and folds may trade different markets', () => {
  const joined = joinRecords([
    { number: 1, from: 0, record: record([0, 50, 100], [1_000, null, 1_000]) },
    { number: 2, from: 200, record: record([200, 250], [1_000, 1_000], { symbol: 'KELP' }) },
  ]);
  expect(seriesOf(joined, joined.strategies)).toMatchObject({ times: [0, 100, 200, 250], unpriced: 1 });
  expect(joined.instruments).toMatchObject([
    { symbol: 'SOL', bids: [0, 50, 100, null, null] }, { symbol: 'KELP', bids: [null, null, null, 200, 250] },
  ]);
});

it('the joined return is the compounded return of its folds, at rising times', () => {
  const values = fc.array(fc.double({ min: 1, max: 1e6, noNaN: true }), { minLength: 2, maxLength: 8 });
  fc.assert(fc.property(fc.array(values, { minLength: 1, maxLength: 6 }), fc.integer({ min: 0, max: 30 }),
    (folds, late) => {
      const joined = joinRecords(folds.map((equity, i) => ({
        number: i + 1, from: i * 100,
        record: record(equity.map((_, n) => i * 100 + n * 10 + (n === equity.length - 1 ? late : 0)), equity),
      })));
      const { times, values: all } = seriesOf(joined, joined.strategies);
      const growth = folds.reduce((product, equity) => product * (equity.at(-1)! / equity[0]!), 1);
      expect(all.at(-1)! / all[0]! / growth).toBeCloseTo(1, 9);
      expect(all[0]).toBe(folds[0]![0]);
      expect(times).toStrictEqual([...new Set(times)].toSorted((a, b) => a - b));
    }));
});
