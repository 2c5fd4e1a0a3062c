import { describe, expect, it } from 'vitest';
import type { MeasuredRun } from '../../../src/research/trials/measured-run.ts';
import type { Metrics } from '../../../src/research/metrics/metrics.ts';
import { benchmarksOf } from '../../../src/research/metrics/run-figures.ts';
import { implausibleWarnings, verdictOf } from '../../../src/research/trials/verdict.ts';
import { measured } from '../../backtest/measured.ts';
import { tradingRun } from '../../report/reports.ts';

const run = tradingRun();
const { result, assessment } = run;
const saidOf = (each: MeasuredRun): string =>
  verdictOf(each, { optimistic: each, base: each, pessimistic: each }, benchmarksOf(each.record)).join('\n');
const withMetrics = (metrics: Partial<Metrics>): MeasuredRun =>
  ({ ...run, assessment: { ...assessment, metrics: { ...assessment.metrics, ...metrics } } });

describe('the verdict of a report', () => {
  it('begins with the result and the trades', () => {
    const said = saidOf(withMetrics({ total_return: 0.0123, max_drawdown: 0.05, win_rate: 0.6, payoff_ratio: 1.5 }));
    expect(said).toMatch(/^After costs it gained 1\.23 %, and was at worst 5\.00 % below its peak\./);
    expect(said).toMatch(/\nOf \d+ trades 60\.00 % were won, and a gain was 1\.50 times a loss on average\.\n/);
    expect(said).not.toMatch(/risk limits/);
  });

  it('names the limits that determined the result, and the end of trading', () => {
    const denials = { DRAWDOWN_EXCEEDS_MAX: 3_552, LOSS_STREAK: 41 };
    expect(saidOf({ ...run, result: { ...result, denials } })).toMatch(
      /The risk limits refused 3,593 swaps, 3,552 of them by DRAWDOWN_EXCEEDS_MAX \([^)]+\)\.\n(?!Nothing was traded)/,
    );
    const later = { ...result, denials, endAt: result.endAt + 9 * (result.endAt - result.startAt) };
    expect(saidOf({ ...run, result: later }))
      .toMatch(/Nothing was traded in the last 90 % of the time, after 1970-01-01 0\d:\d\d UTC\./);
    // A protection that ends all trading need not refuse much.
    expect(saidOf({ ...run, result: { ...later, denials: { DRAWDOWN_EXCEEDS_MAX: 1 } } })).toMatch(
      /The risk limits refused 1 swap, by DRAWDOWN_EXCEEDS_MAX \([^)]*\)\.\nNothing was traded in the last 90 %/,
    );
    expect(saidOf({ ...run, result: { ...later, denials: {} } })).not.toMatch(/risk limits|Nothing was traded/);
    const idle = measured([], { everyMs: 60_000 });
    expect(saidOf({ ...idle, result: { ...idle.result, denials: { TRADE_EXCEEDS_MAX: 740 } } }))
      .toBe('No swap was made: this run says nothing about the strategy.\nThe risk limits refused 740 swaps, all of '
        + 'them by TRADE_EXCEEDS_MAX (the trade is larger than max_trade).');
  });

  it('does not round a small result to nothing', () => {
    expect(saidOf(withMetrics({ total_return: -0.000004, max_drawdown: 0.00001 })))
      .toMatch(/^After costs it lost less than 0\.01 %, and was at worst less than 0\.01 % below its peak\./);
    expect(saidOf(withMetrics({ total_return: 0, max_drawdown: 0 })))
      .toMatch(/^After costs it came out even, at 0\.00 %, and was at worst 0\.00 % below its peak\./);
  });

  it('treats results as equal that differ only by rounding', () => {
    const held = benchmarksOf(run.record).buy_and_hold!.assessment.metrics.total_return!;
    for (const [total, said] of [
      [held, 'the same'], [held - 0.00004, 'the same'], [held + 0.00004, 'the same'],
      [held - 0.00006, '0.01 percentage points worse'], [held + 0.01, '1.00 percentage point better'],
    ] as const) {
      expect(saidOf(withMetrics({ total_return: total }))).toContain(`: the strategy came out ${said}.`);
    }
  });

  it('never claims certainty', () => {
    expect(saidOf(withMetrics({ total_return: 2, sharpe: 9.48, psr: 1, dsr: null, trials: 1 })))
      .toMatch(/unlikely to be luck: its true Sharpe ratio is above 0 with a probability of over 99\.99 %/);
  });

  it('issue 13.8: does not judge luck when it cannot', () => {
    const { metrics } = assessment;
    const luckUnknown = 'the market is generated';
    for (const change of [{ psr: 1, dsr: 0.99, trials: 4 }, { psr: 0.4, trials: 1 }, { psr: null }]) {
      const said = saidOf({
        ...run, assessment: { ...assessment, luckUnknown, metrics: { ...metrics, total_return: 2, ...change } },
      });
      expect(said).toMatch(/\nThe share of luck in it cannot be judged: the market is generated\.$/);
      expect(said).not.toMatch(/probability|skill|unlikely/);
    }
  });

  it('warns about a result that is too good', () => {
    expect(implausibleWarnings({ sharpe: 157.48 })).toStrictEqual([expect.stringMatching(
      /^a Sharpe ratio of 157\.48 a year is more than real markets pay for long: search for a flaw/,
    )]);
    for (const sharpe of [1.2, 5, -40, null]) expect(implausibleWarnings({ sharpe })).toStrictEqual([]);
  });
});
