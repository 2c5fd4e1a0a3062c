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

describe('what a report says in sentences', () => {
  it('begins with what it came to, and how its trades did', () => {
    const said = saidOf(withMetrics({ total_return: 0.0123, max_drawdown: 0.05, win_rate: 0.6, payoff_ratio: 1.5 }));
    expect(said).toMatch(/^After costs it gained 1\.23 %, and was at worst 5\.00 % below its peak\./);
    expect(said).toMatch(/\nOf \d+ round trips 60\.00 % were won, and a gain was 1\.50 times a loss on average\.\n/);
    expect(said).not.toMatch(/risk limits/);
  });

  it('says where the limits made the result, and since when nothing was traded', () => {
    const denials = { DRAWDOWN_EXCEEDS_MAX: 3_552, LOSS_STREAK: 41 };
    expect(saidOf({ ...run, result: { ...result, denials } })).toMatch(
      /The risk limits refused 3,593 swaps, 3,552 of them by DRAWDOWN_EXCEEDS_MAX \(equity is too far under its highest\)\.\n(?!Nothing was traded)/,
    );
    const later = { ...result, denials, endAt: result.endAt + 9 * (result.endAt - result.startAt) };
    expect(saidOf({ ...run, result: later }))
      .toMatch(/Nothing was traded in the last 90 % of the time, after 1970-01-01 0\d:\d\d UTC\./);
    // A protection that ends all trading need not refuse much.
    expect(saidOf({ ...run, result: { ...later, denials: { DRAWDOWN_EXCEEDS_MAX: 1 } } })).toMatch(
      /The risk limits refused 1 swap, by DRAWDOWN_EXCEEDS_MAX \([^)]*\)\.\nNothing was traded in the last 90 % of the time/,
    );
    expect(saidOf({ ...run, result: { ...later, denials: {} } })).not.toMatch(/risk limits|Nothing was traded/);
    const idle = measured([], { everyMs: 60_000 });
    expect(saidOf({ ...idle, result: { ...idle.result, denials: { TRADE_EXCEEDS_MAX: 740 } } }))
      .toBe('No swap was made: this run says nothing about the strategy.\nThe risk limits refused 740 swaps, all of '
        + 'them by TRADE_EXCEEDS_MAX (the trade is larger than max_trade).');
  });

  it('does not call nothing what is little', () => {
    expect(saidOf(withMetrics({ total_return: -0.000004, max_drawdown: 0.00001 })))
      .toMatch(/^After costs it lost less than 0\.01 %, and was at worst less than 0\.01 % below its peak\./);
    expect(saidOf(withMetrics({ total_return: 0, max_drawdown: 0 })))
      .toMatch(/^After costs it came out even, at 0\.00 %, and was at worst 0\.00 % below its peak\./);
  });

  it('calls the same what nobody could tell apart', () => {
    const held = benchmarksOf(run.record).buy_and_hold!.assessment.metrics.total_return!;
    for (const [total, said] of [
      [held, 'the same'], [held - 0.00004, 'the same'], [held + 0.00004, 'the same'],
      [held - 0.00006, '0.01 percentage points worse'], [held + 0.01, '1.00 percentage point better'],
    ] as const) {
      expect(saidOf(withMetrics({ total_return: total }))).toContain(`: the strategy came out ${said}.`);
    }
  });

  it('is never certain', () => {
    expect(saidOf(withMetrics({ total_return: 2, sharpe: 9.48, psr: 1, dsr: null, trials: 1 })))
      .toMatch(/unlikely to be luck: its true Sharpe ratio is above 0 with a probability of over 99\.99 %/);
  });

  it('issue 13.8: has no word of luck or skill where nothing can be said of it', () => {
    const { metrics } = assessment;
    const luckUnknown = 'the market is made up';
    for (const change of [{ psr: 1, dsr: 0.99, trials: 4 }, { psr: 0.4, trials: 1 }, { psr: null }]) {
      const said = saidOf({
        ...run, assessment: { ...assessment, luckUnknown, metrics: { ...metrics, total_return: 2, ...change } },
      });
      expect(said).toMatch(/\nHow much of it is luck is not meaningful: the market is made up\.$/);
      expect(said).not.toMatch(/probability|skill|unlikely/);
    }
  });

  it('has what is too good doubted', () => {
    expect(implausibleWarnings({ sharpe: 157.48 })).toStrictEqual([expect.stringMatching(
      /^a Sharpe ratio of 157\.48 a year is more than real markets pay for long: look for a flaw/,
    )]);
    for (const sharpe of [1.2, 5, -40, null]) expect(implausibleWarnings({ sharpe })).toStrictEqual([]);
  });
});
