import { describeFeeds } from '../../src/market/market-text.ts';
import { filter, map } from 'rxjs';
import { costBreakdown } from '../../src/research/metrics/cost-breakdown.ts';
import type { MeasuredRun, MeasuredSettings } from '../../src/research/trials/measured-run.ts';
import { monthlyReturns } from '../../src/research/metrics/return-distribution.ts';
import type { HeatMap } from '../../src/report/charts/heat-map.ts';
import { benchmarksOf } from '../../src/research/metrics/run-figures.ts';
import { renderBacktest } from '../../src/report/backtest-report.ts';
import type { ReportInput } from '../../src/report/report-input.ts';
import { verdictOf } from '../../src/research/trials/verdict.ts';
import { normal, seededRandom } from '../../src/core/random.ts';
import type { MarketEvent } from '../../src/market/event.ts';
import type { StrategyInstance } from '../../src/engine/strategy-host.ts';
import { strategy } from '../engine/runs.ts';
import { SOL, SOL_USDC, TOKENS, USDC } from '../market/tokens.ts';
import { bothSides, CALM, measured } from '../backtest/measured.ts';

const MINUTE = 60_000;

/**
 * Markup, script, quotes, an entity, an override of the direction of writing, right-to-left letters, and an endless
 * text.
 */
export const HOSTILE = '</script><img src=x onerror="document.title=1">\'&amp;\u202e';
export const RIGHT_TO_LEFT = '\u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627';
export const ENDLESS = 'x'.repeat(400);

/** Quotes of a market that goes up and down. */
export function market(
  { quotes, everyMs, swing = 5 }: { readonly quotes: number; readonly everyMs: number; readonly swing?: number },
): MarketEvent[] {
  const random = seededRandom('market of the reports');
  let drift = 0;
  return bothSides(Array.from({ length: quotes }, (_, n) => {
    drift += 0.3 * normal(random);
    const price = Math.round((150 + swing * Math.sin(n / 9) + 2 * Math.sin(n) + drift) * 10) / 10;
    return [price + 0.1, price - 0.1] as const;
  }), everyMs);
}

/** Returns a run of strategies that buy and sell in turns. */
export function tradingRun({ names = ['in-and-out'], quotes = 240, everyMs = MINUTE, setting = 'base' }: {
  readonly names?: readonly string[]; readonly quotes?: number; readonly everyMs?: number;
  readonly setting?: 'base' | 'optimistic' | 'pessimistic';
} = {}): MeasuredRun {
  const strategies = names.map((name, i): StrategyInstance =>
    ({ ...inTurn(i, names.length, `the turn of ${name}`), name }));
  return measured(market({ quotes, everyMs }), { strategies, model: { ...CALM, setting }, everyMs });
}

/** In turns, so that none blocks another: each buys for 25 dollars in its turn, and sells in its next. */
function inTurn(place: number, of: number, reason: string): StrategyInstance {
  return strategy('in-turn', ({ price }, context) => price!.pipe(
    filter((_, n) => n % of === place),
    map((_, n) => (n % 2 === 0
      ? context.buy(SOL_USDC, { token: USDC, amount: 25_000_000n }, reason)
      : context.sell(SOL_USDC, { token: SOL, amount: 160_000_000n }, reason))),
  ));
}

/** Returns the same run under each setting. */
export function tradingSettings(
  options: Omit<Parameters<typeof tradingRun>[0] & object, 'setting'> = {},
): MeasuredSettings {
  return {
    optimistic: tradingRun({ ...options, setting: 'optimistic' }), base: tradingRun(options),
    pessimistic: tradingRun({ ...options, setting: 'pessimistic' }),
  };
}

/** Returns the input of a run's report. */
export function reportInput(run: MeasuredRun, change: Partial<ReportInput> = {}): ReportInput {
  const settings = change.settings ?? { optimistic: { ...run }, base: run, pessimistic: { ...run } };
  const benchmarks = benchmarksOf(run.record);
  return {
    runId: 'backtest-1', subject: run.record.strategies.map(({ name }) => name).slice(0, 3).join(', '),
    warnings: run.warnings, verdict: verdictOf(run, settings, benchmarks), run, settings, benchmarks,
    months: monthlyReturns(run.series), costs: costBreakdown(run, TOKENS),
    ownImpact: run.result.simulation.ownImpact.map(({ feeds, fills, displaced }) =>
      ({ name: describeFeeds(TOKENS, feeds), fills, displaced })),
    parameters: [['seed', '7'], ['in-and-out', ['params.window: 20', 'params.k: 2']]],
    hashes: [['decisions', run.result.decisionHash]], ...change,
  };
}

export const pageOf = (run: MeasuredRun, change: Partial<ReportInput> = {}): string =>
  renderBacktest(reportInput(run, change));

/** The results under other latencies and costs: gains, losses, and a cell that could not be computed. */
export const GRID: HeatMap = {
  title: 'Total return by latency and cost', measured: 'total return', kind: 'share',
  down: { name: 'latency', labels: ['× 0.5', '× 1', '× 2', '× 4'] },
  across: { name: 'cost', labels: ['× 0', '× 1', '× 2', '× 5', '× 10'] },
  values: [
    [0.082, 0.061, 0.04, -0.002, -0.051],
    [0.064, 0.041, 0.02, -0.021, -0.07],
    [0.03, 0.009, 0, -0.05, { missing: 'no swap was made' }],
    [-0.01, -0.032, -0.054, -0.09, { missing: 'no swap was made' }],
  ],
  configured: { row: 1, column: 1 },
};
