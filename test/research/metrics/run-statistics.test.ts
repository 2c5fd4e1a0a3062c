import { describe, expect, it } from 'vitest';
import type { RecordedFill, RunRecord } from '../../../src/backtest/record/run-record.ts';
import { runStatistics } from '../../../src/research/metrics/run-statistics.ts';
import { profitShare, tradesOf } from '../../../src/research/metrics/trades.ts';
import { DAY, HOUR, START, wave } from './series.ts';

const SOL = 1_000_000_000;
const swap = (at: number, side: 'buy' | 'sell', value: number, more: Partial<RecordedFill> = {}): RecordedFill => ({
  at, strategy: 'a', ...(side === 'buy' ? { input: 'USDC', output: 'SOL' } : { input: 'SOL', output: 'USDC' }),
  amountIn: side === 'buy' ? String(value * 1e6) : String(SOL), amountOut: side === 'buy' ? String(SOL) : '1',
  quotedOut: null, value, costs: 1, reason: side === 'buy' ? 'below 98.5' : 'back at 101.2', ...more,
});
const hours = (count: number): number[] => Array.from({ length: count }, (_, i) => START + i * HOUR);

/** One purchase at 100 and one sale at 110, with prices in between. */
function tradeRecord(change: Partial<RunRecord> = {}): RunRecord {
  const bids = [99, 99, 89.1, 118.8, 109, 110];
  return {
    currency: 'USDC', times: hours(6),
    strategies: [{ name: 'a', equity: [1_000, 1_000, 990, 1_020, 1_008, 1_008], held: [0, 100, 90, 120, 0, 0],
      sent: 2, landed: 2, feesPaid: 2 }],
    instruments: [{ symbol: 'SOL', decimals: 9, bids, asks: bids }],
    fills: [swap(START + HOUR, 'buy', 100), swap(START + 4 * HOUR, 'sell', 110)],
    ...change,
  };
}

const at = (n: number): number => START + n * HOUR;

describe('the trades of a record', () => {
  it('have pair, reasons, result after costs, and excursions of the market’s price from the entry', () => {
    const [trade, ...others] = tradesOf(tradeRecord());
    expect(others).toEqual([]);
    expect(trade).toMatchObject({
      pair: 'SOL/USDC', strategy: 'a', openedAt: START + HOUR, closedAt: START + 4 * HOUR, entryReason: 'below 98.5',
      exitReason: 'back at 101.2', entryValue: 100, exitValue: 110, costs: 2, profit: 8, decimals: 9,
    });
    expect(profitShare(trade!)).toBeCloseTo(0.08, 12);
    // The price fell from 99 to 89.1 (10 %) and rose to 118.8 (20 %).
    expect(trade!.excursion).toEqual({ adverse: expect.closeTo(0.1, 12), favourable: expect.closeTo(0.2, 12) });
  });

  it('have the extremes between the samples where the record has them, and not those of before the entry', () => {
    const [instrument] = tradeRecord().instruments;
    const range = { lowest: [0.1, 0.1, 0.9, null, 1, 0.1], highest: [9, 9, 1, 1.5, 1, 9] };
    // 89.1 · 0.9 / 99 = 0.81, and 118.8 · 1.5 / 99 = 1.8.
    expect(tradesOf(tradeRecord({ instruments: [{ ...instrument!, range }] }))[0]!.excursion)
      .toEqual({ adverse: expect.closeTo(0.19, 12), favourable: expect.closeTo(0.8, 12) });
  });

  it('count the exit itself where it is the extreme, and leave out excursions without a price at the entry', () => {
    const flat = [{ symbol: 'SOL', decimals: 9, bids: Array<number>(6).fill(99), asks: Array<number>(6).fill(99) }];
    expect(tradesOf(tradeRecord({ instruments: flat }))[0]!.excursion)
      .toEqual({ adverse: 0, favourable: expect.closeTo(0.1, 12) });
    const bids = [99, null, 99, 99, 99, 99];
    const unpriced = tradeRecord({ instruments: [{ symbol: 'SOL', decimals: 9, bids, asks: bids }] });
    expect(tradesOf(unpriced)[0]!.excursion).toBeUndefined();
    expect(runStatistics(unpriced)).toMatchObject({
      trades: { mae: null, mfe: null }, warnings: expect.arrayContaining([expect.objectContaining({
        code: 'no_entry_price', message: expect.stringMatching(/^1 trade of 1 began without/) as unknown,
      })]),
    });
    expect(tradesOf(tradeRecord({ instruments: [] }))[0]!.excursion).toBeUndefined();
  });
});

describe('the statistics of a run', () => {
  it('have tables by pair and by reason, with results after costs', () => {
    const fish = { output: 'FISH', reason: 'below 7' };
    const record = tradeRecord({
      times: hours(12),
      strategies: [{ name: 'a', equity: Array<number>(12).fill(1_000), held: Array<number>(12).fill(0), sent: 6,
        landed: 6, feesPaid: 6 }],
      fills: [
        swap(at(1), 'buy', 100), swap(at(2), 'sell', 112), swap(at(3), 'buy', 100, fish),
        swap(at(5), 'sell', 92, { input: 'FISH', reason: 'too far below' }), swap(at(6), 'buy', 100),
        swap(at(9), 'sell', 104),
      ],
    });
    const { trades, by_pair: pairs, by_entry_reason: entries, by_exit_reason: exits } = runStatistics(record);
    // 112 - 100 - 2 = 10, 92 - 100 - 2 = -10, 104 - 100 - 2 = 2.
    expect(pairs).toEqual([
      {
        name: 'SOL/USDC', trades: 2, win_rate: 1, profit: 12, profit_share: 0.06, profit_factor: null, duration: 7_200,
      },
      {
        name: 'FISH/USDC', trades: 1, win_rate: 0, profit: -10, profit_share: -0.1, profit_factor: 0, duration: 7_200,
      },
    ]);
    expect(entries).toMatchObject([{ name: 'below …', trades: 3, win_rate: 2 / 3, profit_factor: 1.2 }]);
    expect(exits.map(({ name, profit }) => [name, profit])).toEqual([['back at …', 12], ['too far below', -10]]);
    expect(trades).toMatchObject({
      count: 3, winning_streak: 1, losing_streak: 1,
      best: { pair: 'SOL/USDC', profit: 10, profit_share: 0.1, closed_at: '2025-01-01T02:00:00.000Z' },
      worst: { pair: 'FISH/USDC', profit: -10 },
      duration: { mean: 7_200, median: 7_200, longest: 10_800, shortest: 3_600, winners: 7_200, losers: 7_200 },
    });
  });

  it('name the five deepest drawdowns with start, trough, recovery and durations', () => {
    // Falls of 1 to 6 of 100, each recovered after two hours, and one of 3 that is not over: the least two are left
    // out.
    const values = [1, 2, 3, 4, 5, 6].flatMap((fall) => [100, 100 - fall]).concat(100, 97);
    const times = hours(values.length);
    const record = tradeRecord({
      times, fills: [], instruments: [],
      strategies: [{ name: 'a', equity: values, held: values.map(() => 0), sent: 0, landed: 0, feesPaid: 0 }],
    });
    const { drawdowns, longest_drawdown: longest } = runStatistics(record);
    expect(drawdowns.map(({ depth }) => Math.round(depth * 100))).toEqual([6, 5, 4, 3, 3]);
    expect(drawdowns[0]).toEqual({
      start: new Date(times[10]!).toISOString(), trough: new Date(times[11]!).toISOString(),
      recovered: new Date(times[12]!).toISOString(), depth: expect.closeTo(0.06, 12), amount: 6, fall: 3_600,
      recovery: 3_600, duration: 7_200,
    });
    expect(drawdowns.at(-1)).toMatchObject({ recovered: null, recovery: null, duration: 3_600 });
    expect(longest).toBe(7_200);
  });

  it('compare the days with those of holding, and give no figure of the days where these are few', () => {
    const prices = wave().reduce<number[]>((all, change) => [...all, all.at(-1)! * (1 + change)], [100]);
    // Half in cash at the beginning, and kept so each day: half of the market’s moves.
    const equity = wave().reduce<number[]>((all, change) => [...all, all.at(-1)! * (1 + change / 2)], [100]);
    const recordOf = (count: number): RunRecord => tradeRecord({
      times: prices.slice(0, count).map((_, i) => START + i * DAY), fills: [],
      strategies: [{ name: 'a', equity: equity.slice(0, count), held: equity.slice(0, count).map(() => 0), sent: 0,
        landed: 0, feesPaid: 0 }],
      instruments: [{ symbol: 'SOL', decimals: 9, bids: prices.slice(0, count), asks: prices.slice(0, count) }],
    });
    const { against, days, daily_returns: returns, rolling } = runStatistics(recordOf(201));
    expect(against.buy_and_hold).toEqual({
      beta: expect.closeTo(0.5, 9), alpha: expect.closeTo(0, 9), correlation: expect.closeTo(1, 9),
    });
    expect(days).toMatchObject({ count: 200, up: wave().filter((change) => change > 0).length });
    expect(days.value_at_risk_95).toBeCloseTo(0.023342416044314564 / 2, 12);
    expect(returns).toHaveLength(200);
    expect(returns[0]).toEqual({ day: '2025-01-01', change: expect.closeTo(wave()[0]! / 2, 12) });
    expect(rolling).toMatchObject({ window_days: 30, bar_seconds: 86_400 });
    const few = runStatistics(recordOf(20));
    expect(few.days).toMatchObject({ count: 19, value_at_risk_95: null, expected_shortfall_95: null, omega: null });
    expect(few.days.best).not.toBeNull();
    expect(few.against).toEqual({ buy_and_hold: null, dca: null });
    expect(few.warnings.filter(({ code }) => code === 'few_days').map(({ message }) => message)).toEqual([
      '19 days are too few to judge a bad day; it takes 20; not given: value at risk, expected shortfall (CVaR), '
        + 'Omega ratio, alpha, beta and correlation with holding',
      'no 30 days in a row can be measured: rolling figures are not given',
    ]);
    const alone = runStatistics({ ...recordOf(201), instruments: [] });
    expect(alone.against).toEqual({ buy_and_hold: null, dca: null });
    expect(alone.warnings.map(({ code }) => code)).toContain('no_benchmark');
  });

  it('are empty and not wrong without trades, without time, and where equity was lost', () => {
    const empty = runStatistics(tradeRecord({
      times: [START], fills: [], instruments: [],
      strategies: [{ name: 'a', equity: [1_000], held: [0], sent: 0, landed: 0, feesPaid: 0 }],
    }));
    expect(empty).toMatchObject({
      trades: { count: 0, best: null, worst: null, sqn: null, kelly: null, duration: { mean: null } }, by_pair: [],
      drawdowns: [], longest_drawdown: 0, daily_returns: [], trade_order: null, days: { count: 0, best: null },
    });
    const lost = runStatistics(tradeRecord({
      times: [START, START + DAY, START + 2 * DAY], fills: [],
      strategies: [{ name: 'a', equity: [1_000, 0, 10], held: [0, 0, 0], sent: 0, landed: 0, feesPaid: 0 }],
    }));
    expect(lost).toMatchObject({ daily_returns: [], days: { value_at_risk_95: null } });
    expect(lost.warnings.filter(({ figures }) => figures.includes('rolling')).map(({ message }) => message))
      .toEqual(['equity was at 0 or less: rolling figures are not given']);
    expect(lost.warnings.map(({ code }) => code)).toContain('equity_not_positive');
    expect(JSON.stringify([empty, lost])).not.toMatch(/NaN|Infinity/);
    const none = { times: [], strategies: [], instruments: [], fills: [] };
    expect(runStatistics(tradeRecord(none))).toMatchObject({ trades: { count: 0 }, drawdowns: [], daily_returns: [] });
  });

  // V. Tharp divides by the deviation of the results, J. Kelly by the payoff ratio: without these there is no figure.
  it.each([
    ['no trade', [], ['no trade ended: figures of trades are not given']],
    ['one trade', [110], [
      'the results of 1 trade do not vary: SQN is not given', 'no trade was lost: the Kelly fraction is not given',
    ]],
    ['gains only', [110, 112], [
      'no trade was lost: the Kelly fraction is not given', '2 trades are few: SQN is mostly chance',
    ]],
    ['equal losses only', [90, 90], [
      'the results of 2 trades do not vary: SQN is not given', 'no trade was won: the Kelly fraction is not given',
    ]],
    ['neither gain nor loss', [102, 102], [
      'the results of 2 trades do not vary: SQN is not given',
      'no trade was won or lost: the Kelly fraction is not given',
    ]],
    ['a gain and a loss', [110, 90], ['2 trades are few: SQN and the Kelly fraction are mostly chance']],
  ])('say why SQN and the Kelly fraction are missing, after %s', (_, exits, reasons) => {
    const record = tradeRecord({
      fills: exits.flatMap((value, i) => [swap(at(2 * i), 'buy', 100), swap(at(2 * i + 1), 'sell', value)]),
    });
    const { trades: { sqn, kelly }, warnings } = runStatistics(record);
    const named = warnings.filter(({ figures }) => figures.includes('sqn') || figures.includes('kelly'));
    expect(named.map(({ message }) => message)).toEqual(reasons);
    for (const [name, value] of Object.entries({ sqn, kelly })) {
      expect(named.some(({ code, figures }) => code !== 'few_trades' && figures.includes(name)), name)
        .toBe(value === null);
    }
  });

  it('say why the correlation with holding is missing where the result does not vary', () => {
    const times = Array.from({ length: 31 }, (_, i) => START + i * DAY);
    const bids = times.map((_, i) => 100 + (i % 7));
    const { against, warnings } = runStatistics(tradeRecord({
      times, fills: [], instruments: [{ symbol: 'SOL', decimals: 9, bids, asks: bids }],
      strategies: [{ name: 'a', equity: times.map(() => 1_000), held: times.map(() => 0), sent: 0, landed: 0,
        feesPaid: 0 }],
    }));
    expect(against.buy_and_hold).toMatchObject({ beta: 0, correlation: null });
    expect(warnings.filter(({ figures }) => figures.includes('correlation')).map(({ message }) => message))
      .toEqual(['the daily returns do not vary: the correlation with holding is not given']);
  });
});
