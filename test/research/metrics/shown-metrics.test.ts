import { describe, expect, it } from 'vitest';
import {
  FIGURE_NAMES, SHOWN_METRICS, figuresText, labelIn, notMeaningful, scaledNote,
} from '../../../src/research/metrics/figure-text.ts';
import { assess } from '../../../src/research/metrics/metrics.ts';
import { DAY, daily, wave } from './series.ts';

const shown = (name: string, value: number): string =>
  SHOWN_METRICS.find((metric) => metric.name === name)!.show(value);
const days = (count: number): { readonly path: { readonly years: number } } => ({ path: { years: count / 365.25 } });

describe('the presentation of figures', () => {
  it('has a plain name for each figure', () => {
    const { metrics } = assess({ kind: 'returns', returns: wave() }, { strictness: 'analyze' });
    expect(Object.keys(FIGURE_NAMES)).toEqual(Object.keys(metrics));
    for (const name of Object.values(FIGURE_NAMES)) expect(name).not.toContain('_');
    expect([figuresText(['cagr']), figuresText(['cagr', 'calmar']), figuresText(['sharpe', 'psr', 'dsr'])])
      .toEqual([
        'growth a year (CAGR)', 'growth a year (CAGR) and Calmar ratio',
        'Sharpe ratio a year, P(Sharpe > 0) and deflated Sharpe ratio',
      ]);
  });

  it('omits yearly growth over weeks, with the reason', () => {
    expect(notMeaningful('cagr', days(30)))
      .toBe('not meaningful: growth over 30 days says nothing about a year; it takes 90 days');
    expect(notMeaningful('calmar', days(1))).toContain('over one day ');
    expect([
      notMeaningful('cagr', days(91)), notMeaningful('total_return', days(2)), notMeaningful('sharpe', days(2)),
      notMeaningful('cagr', { path: { years: undefined } }),
    ]).toEqual([undefined, undefined, undefined, undefined]);
    expect(scaledNote(days(2).path))
      .toBe('yearly figures are scaled up from 2 days: they hold only if the rest of the year is alike');
    expect([scaledNote(days(30).path), scaledNote(days(0.5).path)]).toEqual([undefined, undefined]);
    // Of hours one reason is enough for all of them.
    for (const name of ['volatility', 'sharpe', 'sortino', 'turnover', 'cagr', 'calmar'] as const)
      expect(notMeaningful(name, days(0.5))).toBe('not meaningful: a span of 12h says nothing about a year');
    expect(notMeaningful('exposure', days(0.5))).toBeUndefined();
  });

  it('keeps the number for scripts', () => {
    const { metrics, path, luckUnknown } = assess(
      { kind: 'equity', ...daily(Array.from({ length: 40 }, (_, i) => 100 * (i % 2 === 0 ? 1.05 : 1.04) ** i)) },
      { strictness: 'backtest' },
    );
    expect(path.years).toBeCloseTo((39 * DAY) / (365.25 * DAY), 9);
    expect(metrics.cagr).toBeGreaterThan(1_000);
    expect(notMeaningful('cagr', { path, luckUnknown })).toBeDefined();
  });

  it('issue 13.8: omits figures of luck on a generated market and for a Sharpe ratio above 10', () => {
    const calm =
      { kind: 'equity', ...daily(Array.from({ length: 400 }, (_, i) => 100 + 8 * Math.sin(i / 9) + i / 50)) } as const;
    const steep = {
      kind: 'equity', ...daily(Array.from({ length: 400 }, (_, i) => 100 * 1.01 ** i * (i % 2 === 0 ? 1 : 1.001))),
    } as const;
    const [real, madeUp, absurd] = [
      assess(calm, { strictness: 'backtest' }), assess(calm, { strictness: 'backtest', isMadeUp: true }),
      assess(steep, { strictness: 'backtest' }),
    ];
    expect(madeUp.metrics).toStrictEqual(real.metrics);
    expect(absurd.metrics.sharpe).toBeGreaterThan(10);
    for (const name of ['psr', 'dsr', 'min_track_record_length'] as const) {
      expect(notMeaningful(name, real)).toBeUndefined();
      expect(notMeaningful(name, madeUp)).toBe('not meaningful: the market is generated');
      expect(notMeaningful(name, absurd))
        .toMatch(/^not meaningful: no real market pays a Sharpe ratio of \d+\.\d\d a year$/);
    }
    expect(notMeaningful('sharpe', madeUp)).toBeUndefined();
  });

  it('names the currency of amounts, and groups thousands', () => {
    expect(SHOWN_METRICS.filter(({ isMoney }) => isMoney).map((metric) => labelIn(metric, 'USDC')))
      .toEqual(['largest drawdown, USDC', 'expectancy of a trade, USDC', 'fees paid, USDC']);
    expect([
      shown('max_drawdown_absolute', 375.13272), shown('expectancy', 0.94556127),
      shown('min_track_record_length', 40_724.2), shown('total_return', 12.5),
    ])
      .toEqual(['375.13', '0.9456', '40,725', '1,250.00 %']);
  });
});
