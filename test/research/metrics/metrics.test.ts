import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { WarningCode, Strictness } from '../../../src/research/metrics/metric-warnings.ts';
import { FIGURE_NAMES } from '../../../src/research/metrics/figure-text.ts';
import type { MeasuredSeries } from '../../../src/research/metrics/measured-path.ts';
import type { Assessment, Metrics } from '../../../src/research/metrics/metrics.ts';
import { assess } from '../../../src/research/metrics/metrics.ts';
import { compounded } from '../../../src/research/metrics/return-statistics.ts';
import type { TradeFill } from '../../../src/research/metrics/round-trips.ts';
import {
  DAY, HOUR, START, WAVE_BY_SCIPY, WAVE_SHARPE_RISK_FREE_5E4, WAVE_SORTINO_MAR_2E3, daily, wave,
} from './series.ts';

const NAMES = ['total_return', 'cagr', 'volatility', 'sharpe', 'sortino', 'calmar', 'max_drawdown',
  'max_drawdown_absolute', 'drawdown_start', 'drawdown_trough',
    'drawdown_recovered', 'ulcer_index', 'win_rate', 'profit_factor', 'expectancy', 'payoff_ratio', 'exposure',
    'turnover', 'fees_paid', 'realized_slippage_bps',
    'landing_rate', 'skewness', 'kurtosis', 'psr', 'min_track_record_length', 'dsr', 'trials'] as const;
const TRADING = [
  'win_rate', 'profit_factor', 'expectancy', 'payoff_ratio', 'exposure', 'turnover', 'fees_paid',
  'realized_slippage_bps', 'landing_rate',
];

const equity = (values: readonly number[]): MeasuredSeries => ({ kind: 'equity', ...daily(values) });
const waveEquity = equity(compounded(wave()).map((value) => value * 10_000));
const analyze = (series: MeasuredSeries): Assessment => assess(series, { strictness: 'analyze' });
const backtest = (series: MeasuredSeries): Assessment => assess(series, { strictness: 'backtest' });
const codes = ({ warnings }: Assessment): WarningCode[] => warnings.map(({ code }) => code);
const nulls = (metrics: Metrics): string[] =>
  Object.entries(metrics).filter(([, value]) => value === null).map(([name]) => name);
const fill = (side: 'buy' | 'sell', day: number, value: number): TradeFill =>
  ({ at: START + day * DAY, instrument: 'SOL', side, quantity: 10n, value, costs: 1 });

describe('metrics', () => {
  it.each(
    ['backtest', 'analyze'] as const,
  )('are those of numpy and scipy for 200 days, the same in both strictnesses (%s)', (strictness) => {
    const { metrics, path } = assess(waveEquity, { strictness });
    for (const [name, expected] of Object.entries(WAVE_BY_SCIPY))
      expect(metrics[name as keyof Metrics], name).toBeCloseTo(expected, 9);
    expect(metrics.calmar).toBeCloseTo(WAVE_BY_SCIPY.cagr / WAVE_BY_SCIPY.max_drawdown, 9);
    expect(metrics).toMatchObject({
      drawdown_start: '2025-07-11T00:00:00.000Z', drawdown_trough: '2025-07-20T00:00:00.000Z', drawdown_recovered: null,
      trials: null, dsr: null,
    });
    expect(path).toMatchObject({ barMs: DAY, perYear: 365.25, coverage: 1 });
  });

  it('have exactly the documented names for any series', () => {
    for (const series of [waveEquity, equity([]), equity([1]), { kind: 'returns', returns: [] } as const])
      expect(Object.keys(analyze(series).metrics)).toStrictEqual(NAMES);
  });

  it('use the risk-free and the minimum return per bar', () => {
    const { metrics } = assess(waveEquity, { strictness: 'analyze', riskFree: 0.0005, mar: 0.002 });
    expect(metrics.sharpe).toBeCloseTo(WAVE_SHARPE_RISK_FREE_5E4, 9);
    expect(metrics.sortino).toBeCloseTo(WAVE_SORTINO_MAR_2E3, 9);
  });

  it('are the same for returns and for their equity, except dates', () => {
    const { metrics: byReturns } = analyze({ kind: 'returns', returns: wave(), periodsPerYear: 365.25 });
    const { metrics: byEquity } = analyze(waveEquity);
    for (const name of [
      'total_return', 'cagr', 'sharpe', 'sortino', 'calmar', 'max_drawdown', 'ulcer_index', 'psr',
    ] as const) expect(byReturns[name], name).toBeCloseTo(byEquity[name]!, 9);
    expect(byReturns).toMatchObject({ drawdown_start: 191, drawdown_trough: 200, drawdown_recovered: null });
  });

  it('treat each row as a period when the periods a year are given', () => {
    const weekdays = [0, 1, 2, 3, 4, 7, 8, 9, 10, 11].map((day) => START + day * DAY);
    const values = [100, 101, 100, 102, 103, 101, 104, 105, 103, 106];
    const { metrics, path } = analyze({ kind: 'equity', times: weekdays, values, periodsPerYear: 252 });
    expect(path.returns).toHaveLength(9);
    const rows = analyze({
      kind: 'returns', returns: values.slice(1).map((value, i) => value / values[i]! - 1), periodsPerYear: 252,
    }).metrics;
    expect(metrics.sharpe).toBeCloseTo(rows.sharpe!, 9);
    expect(metrics.cagr).toBeCloseTo(1.06 ** (365.25 / 11) - 1, 6);
  });

  it('find a drawdown between the bars, and date it by its points', () => {
    const hours = [100, 100, 60, 100, ...Array<number>(44).fill(101)];
    const series = {
      kind: 'equity', times: [...hours.map((_, i) => START + i * HOUR), START + 100 * DAY], values: [...hours, 102],
    } as const;
    expect(analyze(series).metrics).toMatchObject({
      max_drawdown: 0.4, drawdown_start: '2025-01-01T01:00:00.000Z', drawdown_trough: '2025-01-01T02:00:00.000Z',
      drawdown_recovered: '2025-01-01T03:00:00.000Z', ulcer_index: 0,
    });
  });

  it('give the deepest drawdown by share and by amount, which may differ', () => {
    expect(analyze(equity([100, 50, 100, 1_000, 800, 1_000])).metrics)
      .toMatchObject({ max_drawdown: 0.5, max_drawdown_absolute: 200, drawdown_trough: '2025-01-02T00:00:00.000Z' });
  });

  it('compute Calmar over the whole period, not over its last years', () => {
    const values = Array.from({ length: 5 * 365 }, (_, i) => (i === 10 ? 50 : 100 + i / 10));
    const { cagr, calmar, max_drawdown: depth } = backtest(equity(values)).metrics;
    expect(depth).toBeGreaterThan(0.49);
    expect(calmar).toBeCloseTo(cagr! / depth!, 12);
  });
});

describe('figures without support', () => {
  const cases: readonly (
    readonly [what: string, series: MeasuredSeries, code: WarningCode, missing: readonly (keyof Metrics)[]]
  )[] = [
    [
      '12 days', equity([100, 101, 99, 102, 103, 101, 104, 102, 105, 104, 106, 107]), 'few_returns',
      ['volatility', 'sharpe', 'sortino', 'skewness', 'kurtosis', 'psr', 'min_track_record_length'],
    ],
    [
      'a span under 30 days', equity([100, 101, 99, 102, 103, 101, 104, 102, 105, 104, 106, 107]), 'short_span',
      ['cagr', 'calmar'],
    ],
    ['one point in three days', {
      kind: 'equity', times: Array.from({ length: 70 }, (_, i) => START + 3 * i * DAY),
      values: Array.from({ length: 70 }, (_, i) => 100 + (i % 4) + i),
    }, 'coverage_low', ['cagr', 'volatility', 'sharpe', 'sortino', 'calmar', 'psr', 'min_track_record_length']],
  ];
  it.each(
    cases,
  )('is left out of a backtest, and computed with a warning by analyze: %s', (_, series, code, missing) => {
    const [strict, lenient] = [backtest(series), analyze(series)];
    expect(codes(strict)).toContain(code);
    expect(codes(lenient)).toContain(code);
    expect(nulls(strict.metrics)).toEqual(expect.arrayContaining([...missing]));
    for (const name of missing) expect(lenient.metrics[name], name).toBeTypeOf('number');
    for (const { message, figures } of strict.warnings.filter((warning) => warning.code === code))
      for (const name of missing) expect([message, figures])
        .toEqual([expect.stringContaining(FIGURE_NAMES[name]), expect.arrayContaining([name])]);
    expect(strict.metrics)
      .toMatchObject({ total_return: lenient.metrics.total_return, max_drawdown: lenient.metrics.max_drawdown });
  });

  const undefinedOnes: readonly (
    readonly [what: string, series: MeasuredSeries, code: WarningCode, missing: readonly string[]]
  )[] = [
    [
      'constant growth', equity(Array.from({ length: 60 }, (_, i) => 100 * 1.001 ** i)), 'no_variance',
      ['sharpe', 'sortino', 'calmar', 'skewness', 'kurtosis', 'psr', 'min_track_record_length'],
    ],
    [
      'a fall at the end', equity(Array.from({ length: 60 }, (_, i) => (i === 59 ? 90 : 100 + i + (i % 3)))),
      'drawdown_open', ['drawdown_recovered'],
    ],
    [
      'no day lost', equity(Array.from({ length: 60 }, (_, i) => 100 + i + (i % 2) / 4)), 'no_drawdown',
      ['calmar', 'drawdown_start', 'drawdown_trough', 'drawdown_recovered'],
    ],
    [
      'only gains', equity(Array.from({ length: 60 }, (_, i) => 100 + i + (i % 2) / 2)), 'nothing_below_mar',
      ['sortino', 'calmar'],
    ],
    [
      'a loss in all', equity(Array.from({ length: 60 }, (_, i) => 100 - i / 2 + (i % 3))), 'not_above_benchmark',
      ['min_track_record_length'],
    ],
    [
      'no year', { kind: 'returns', returns: wave() }, 'no_time_span',
      ['cagr', 'volatility', 'sharpe', 'sortino', 'calmar'],
    ],
    [
      'equity through 0', equity([...Array.from({ length: 40 }, (_, i) => 100 - i), -5, 10]), 'equity_not_positive',
      ['volatility', 'sharpe', 'sortino', 'skewness', 'kurtosis', 'psr', 'min_track_record_length'],
    ],
    [
      'a beginning in debt', equity([-100, ...Array.from({ length: 60 }, (_, i) => 100 + i)]), 'equity_not_positive',
      ['total_return', 'cagr', 'calmar', 'max_drawdown', 'ulcer_index', 'sharpe'],
    ],
    [
      'one point', equity([100]), 'too_short',
      ['total_return', 'cagr', 'max_drawdown', 'max_drawdown_absolute', 'ulcer_index', 'sharpe'],
    ],
    ['no point', equity([]), 'too_short', ['total_return', 'cagr', 'max_drawdown', 'ulcer_index', 'sharpe']],
    ['growth beyond numbers', {
      kind: 'equity', times: Array.from({ length: 13 }, (_, i) => START + i * HOUR),
      values: Array.from({ length: 13 }, (_, i) => 1_000 ** (i / 12 + i % 2 / 99)),
    }, 'not_finite', ['cagr']],
  ];
  it.each(undefinedOnes)('are null in both modes without meaning, with the reason: %s', (_, series, code, missing) => {
    const assessment = analyze(series);
    expect(codes(assessment)).toContain(code);
    expect(nulls(assessment.metrics)).toEqual(expect.arrayContaining([...missing]));
    expect(nulls(backtest(series).metrics)).toEqual(expect.arrayContaining([...missing]));
    expect(new Set(codes(assessment)).size).toBe(assessment.warnings.length);
  });

  it('are never infinite, and never missing without a reason, for any series', () => {
    const values = fc.array(fc.oneof(
      fc.double({ noNaN: true, noDefaultInfinity: true }), fc.double({ min: -10, max: 1_000, noNaN: true }),
      fc.constant(0),
    ), { maxLength: 40 });
    fc.assert(fc.property(values, fc.constantFrom<Strictness>('backtest', 'analyze'),
      fc.constantFrom('equity', 'returns'), (list, strictness, kind) => {
        const { metrics, warnings } = assess(
          kind === 'equity' ? equity(list) : { kind: 'returns', returns: list, periodsPerYear: 12 }, { strictness },
        );
        for (const [name, value] of Object.entries(metrics)) expect(
          value === null || typeof value === 'string' || Number.isFinite(value), `${name}: ${String(value)}`,
        ).toBe(true);
        // A drawdown that begins with the first return begins at no time that is known.
        // What rests on a number beyond all numbers is not followed up.
        if (warnings.some(({ code }) => code === 'not_finite')) return;
        const explained = new Set([...warnings.flatMap(({ figures }) => figures), 'drawdown_start']);
        expect(nulls(metrics).filter((name) => !explained.has(name))).toEqual([]);
      }), { numRuns: 60 });
  });

  it('report a total loss', () => {
    expect(analyze({ kind: 'returns', returns: [0.1, -1], periodsPerYear: 1 }).metrics)
      .toMatchObject({ total_return: -1, cagr: -1, max_drawdown: 1 });
    expect(analyze(equity([...Array.from({ length: 40 }, (_, i) => 100 - i), -5])).metrics)
      .toMatchObject({ cagr: -1, max_drawdown: 1.05, sharpe: expect.any(Number) });
  });

  it('report correlated returns with the corrected ratio', () => {
    const smooth = equity(Array.from({ length: 200 }, (_, i) => 100 + i / 10 + Math.sin(i / 8)));
    const warning = analyze(smooth).warnings.find(({ code }) => code === 'autocorrelation')!;
    expect(Number(/Sharpe ratio is ([\d.]+)/.exec(warning.message)![1]))
      .toBeLessThan(analyze(smooth).metrics.sharpe! / 2);
    expect(codes(analyze(waveEquity))).not.toContain('autocorrelation');
  });
});

describe('metrics of trading', () => {
  const values = Array.from({ length: 61 }, (_, i) => 1_000 + (i % 3) - i / 10);
  const trading = {
    fills: [fill('buy', 1, 500), fill('sell', 2, 512), fill('buy', 3, 500), fill('sell', 4, 496)],
    held: values.map((_, i) => (i === 1 || i === 3 ? 500 : 0)),
    quoted: [{ quoted: 1_000, filled: 999, notional: 500 }], sent: 5, landed: 4, feesPaid: 5,
  };

  it('complement the other metrics', () => {
    const { metrics, trades, timeInMarket, warnings } = assess(equity(values), { strictness: 'backtest', trading });
    expect(metrics).toMatchObject({
      win_rate: 0.5, profit_factor: expect.closeTo(10 / 6, 9), expectancy: expect.closeTo(2, 9),
      payoff_ratio: expect.closeTo(10 / 6, 9), exposure: expect.closeTo((500 / values[1]! + 500 / values[3]!) / 60, 9),
      fees_paid: 5, realized_slippage_bps: expect.closeTo(10, 9), landing_rate: 0.8,
    });
    expect(metrics.turnover)
      .toBeCloseTo(2_008 / 2 / (values.slice(0, -1).reduce((sum, value) => sum + value, 0) / 60) / (60 / 365.25), 9);
    expect([trades?.wins, timeInMarket]).toStrictEqual([1, expect.closeTo(2 / 60, 12)]);
    expect(warnings.map(({ code }) => code)).toContain('few_trades');
  });

  it('warn about unsold purchases', () => {
    const held = assess(equity(values), {
      strictness: 'backtest', trading: { ...trading, fills: [...trading.fills, fill('buy', 4, 5)] },
    });
    expect(held.warnings.filter(({ code }) => code === 'still_held').map(({ message }) => message))
      .toEqual([expect.stringMatching(/^1 purchase is not or not fully sold/)]);
    expect(codes(assess(equity(values), { strictness: 'backtest', trading }))).not.toContain('still_held');
  });

  it('give the reason when nothing was traded', () => {
    const idle = assess(equity(values), {
      strictness: 'backtest', trading: { ...trading, fills: [fill('sell', 1, 5)], quoted: [], sent: 0, landed: 0 },
    });
    expect(codes(idle)).toEqual(
      expect.arrayContaining(['no_trades', 'nothing_quoted', 'nothing_sent', 'unbought_sold', 'trials_unknown']),
    );
    expect(idle.metrics)
      .toMatchObject({ win_rate: null, realized_slippage_bps: null, landing_rate: null, dsr: null, trials: null });
    expect(nulls(analyze(equity(values)).metrics)).toEqual(expect.arrayContaining(TRADING));
  });
});

describe('the interval of the Sharpe ratio', () => {
  it('contains the ratio, and is left out when it would take too long', () => {
    const { sharpeInterval, metrics } = analyze(waveEquity);
    expect(sharpeInterval!.low).toBeLessThan(metrics.sharpe!);
    expect(sharpeInterval!.high).toBeGreaterThan(metrics.sharpe!);
    const long = Array.from({ length: 150_000 }, (_, i) => ((i * 7_919) % 101) / 1e5 - 0.0004);
    const left = analyze({ kind: 'returns', returns: long, periodsPerYear: 365.25 });
    expect([left.sharpeInterval, codes(left).includes('interval_left_out')]).toStrictEqual([undefined, true]);
  });
});
