import { describe, expect, it } from 'vitest';
import {
  assessRun, benchmarksOf, benchmarkWarnings, seriesOf, tradeFills,
} from '../../../src/research/metrics/run-figures.ts';
import type { RunRecord, StrategyRecord } from '../../../src/backtest/record/run-record.ts';

const HOUR = 3_600_000;
const strategy = (
  name: string, equity: StrategyRecord['equity'], held: StrategyRecord['held'] = equity.map(() => 0),
): StrategyRecord => ({ name, equity, held, sent: 0, landed: 0, feesPaid: 0 });
const recordOf = (change: Partial<RunRecord>): RunRecord => ({
  currency: 'USDC', times: [0, HOUR, 2 * HOUR], strategies: [strategy('a', [100, 110, 99])], instruments: [], fills: [],
  ...change,
});

describe('the figures of a record', () => {
  it('cover all strategies together, or one', () => {
    const record = recordOf({ strategies: [strategy('a', [100, 110, 99]), strategy('b', [300, 290, 321])] });
    expect(assessRun(record).metrics).toMatchObject({ total_return: expect.closeTo(0.05, 12), max_drawdown: 0 });
    expect(assessRun(record, [record.strategies[0]!]).metrics)
      .toMatchObject({ total_return: expect.closeTo(-0.01, 12), max_drawdown: expect.closeTo(0.1, 12) });
  });

  it('leave out times without a price of a holding', () => {
    const record =
      recordOf({ strategies: [strategy('a', [100, null, 99], [0, null, 50]), strategy('b', [10, 20, 30])] });
    expect(seriesOf(record, record.strategies))
      .toEqual({ times: [0, 2 * HOUR], values: [110, 129], held: [0, 50], unpriced: 1 });
  });

  it('treat a swap between two tokens as a sale and a purchase with costs once, for each strategy', () => {
    const swap = {
      at: HOUR, strategy: 'a', input: 'SOL', output: 'FISH', amountIn: '5', amountOut: '7', quotedOut: null, value: 12,
      costs: 1,
    };
    const record = recordOf({ fills: [swap, { ...swap, value: null }, { ...swap, strategy: 'b', input: 'USDC' }] });
    expect(tradeFills(record)).toEqual([
      { at: HOUR, instrument: 'SOL of a', side: 'sell', quantity: 5n, value: 12, costs: 1, symbol: 'SOL',
        strategy: 'a' },
      { at: HOUR, instrument: 'FISH of a', side: 'buy', quantity: 7n, value: 12, costs: 0, symbol: 'FISH',
        strategy: 'a' },
    ]);
  });
});

describe('the benchmarks of a record', () => {
  const priced = { symbol: 'SOL', decimals: 9, bids: [null, 99, 198], asks: [null, 101, 202] };

  it('buy at the ask and are valued at the bid', () => {
    const { buy_and_hold: holding, dca, cash } = benchmarksOf(recordOf({ instruments: [priced] }));
    expect(holding!.series.values[0]).toBe(100);
    expect(holding!.series.values[2]).toBeCloseTo((100 / 101) * 198, 9);
    expect(cash!.series.values).toEqual([100, 100, 100]);
    // Bought little by little while it rises, less is won.
    expect(dca!.assessment.metrics.total_return).toBeGreaterThan(0);
    expect(dca!.assessment.metrics.total_return!).toBeLessThan(holding!.assessment.metrics.total_return!);
  });

  it('divide the money between several tokens', () => {
    const flat = { ...priced, symbol: 'FISH', bids: [5, 5, 5], asks: [5, 5, 5] };
    expect(benchmarksOf(recordOf({ instruments: [priced, flat] })).buy_and_hold!.series.values[2])
      .toBeCloseTo((50 / 101) * 198 + 50, 9);
  });

  it('are undefined with a warning when a token has no price at the end, but not for a gap', () => {
    for (const bids of [[null, 99, null], [5, 0, 0]]) {
      const dead = recordOf({ instruments: [priced, { ...priced, symbol: 'FISH', bids }] });
      expect(benchmarksOf(dead))
        .toMatchObject({ buy_and_hold: undefined, dca: undefined, cash: { series: { values: [100, 100, 100] } } });
      expect(benchmarkWarnings(dead)).toEqual([expect.stringMatching(
        /^buy and hold and DCA are not given: FISH has no price at the end, and its last one is of 1970-01-01T0[01]:/,
      )]);
    }
    const holed = recordOf({ instruments: [{ ...priced, bids: [99, null, 198], asks: [101, null, 202] }] });
    expect(benchmarksOf(holed).buy_and_hold!.series.values[2]).toBeCloseTo((100 / 101) * 198, 9);
    expect(benchmarkWarnings(holed)).toEqual([]);
  });

  it('are undefined without any price, or without a time span', () => {
    expect(benchmarksOf(recordOf({ instruments: [{ ...priced, bids: [null, null, null] }] })))
      .toMatchObject({ buy_and_hold: undefined, dca: undefined, cash: { series: { values: [100, 100, 100] } } });
    expect(benchmarksOf(recordOf({ times: [0], strategies: [strategy('a', [100])] })))
      .toEqual({ buy_and_hold: undefined, dca: undefined, cash: undefined });
  });
});
