import type { StrategyResult } from '../backtest/backtest.ts';
import type { MeasuredRun, MeasuredSettings } from '../backtest/measured-run.ts';
import { withTrials } from '../backtest/metrics/deflated.ts';
import { SHOWN_METRICS } from '../backtest/metrics/shown-metrics.ts';
import type { Benchmark, Benchmarks } from '../backtest/record/run-figures.ts';
import { assessRun, seriesOf } from '../backtest/record/run-figures.ts';
import type { SensitivityGrid } from '../backtest/sensitivity-grid.ts';
import { formatDuration } from '../core/time.ts';
import { formatCounts } from '../daemon/counts-text.ts';
import type { Token } from '../market/token.ts';
import type { TrialCount } from '../store/trial-log.ts';
import { currencyText, equityJson } from './equity-json.ts';
import { gridJson, gridText } from './research/grid-answer.ts';
import { trialsJson, trialsText } from './research/trials-text.ts';
import { table } from './table.ts';

/** What a backtest came to, to be told. */
export interface BacktestAnswer {
  readonly runId: string;
  readonly run: MeasuredRun;
  readonly settings: MeasuredSettings;
  /** Under other latencies and costs; undefined where it was not computed. */
  readonly grid: SensitivityGrid | undefined;
  readonly benchmarks: Benchmarks;
  readonly currency: Token;
  /** Made on the same data, this one included; undefined where they could not be counted. */
  readonly trials: TrialCount | undefined;
  readonly warnings: readonly string[];
  /** What it comes to, in sentences. */
  readonly verdict: readonly string[];
}

/** Returns an answer for scripts. `report` is where the report was written. */
export function asJson(answer: BacktestAnswer, report: string | undefined): unknown {
  const { runId, run: { result, record, series, assessment }, settings, grid, benchmarks, currency, trials, warnings, verdict } = answer;
  const known = new Map(record.strategies.map((strategy) => [strategy.name, strategy]));
  const strategyJson = ({ name, swaps, feesLamports, balances }: StrategyResult): unknown => {
    const strategy = known.get(name);
    const alone = strategy === undefined ? undefined : assessRun(record, [strategy]);
    const own = alone === undefined || trials === undefined ? alone : withTrials(alone, trials);
    return {
      name, swaps, fees_lamports: feesLamports, balances: Object.fromEntries(balances),
      equity: equityJson(strategy === undefined ? [] : seriesOf(record, [strategy]).values, currency),
      metrics: own?.metrics ?? null, warnings: own?.warnings.map(({ message }) => message) ?? [],
    };
  };
  const benchmarkJson = (benchmark: Benchmark | undefined): unknown => (benchmark === undefined ? null : {
    equity: equityJson(benchmark.series.values, currency), metrics: benchmark.assessment.metrics,
  });
  const settingJson = (run: MeasuredRun): unknown => ({
    equity: equityJson(run.series.values, currency), fills: run.result.fills.length, intents: run.result.intents, denials: run.result.denials,
    decision_hash: run.result.decisionHash, metrics: run.assessment.metrics, warnings: run.warnings,
  });
  return {
    run_id: runId,
    events: result.events,
    seconds: result.seconds,
    events_per_second: Math.round(result.events / result.seconds),
    decisions: result.decisions,
    decision_hash: result.decisionHash,
    denials: result.denials,
    intents: result.intents,
    fills: result.fills.length,
    period: { start: new Date(result.startAt).toISOString(), end: new Date(result.endAt).toISOString() },
    equity: equityJson(series.values, currency),
    metrics: assessment.metrics,
    sharpe_interval: assessment.sharpeInterval ?? null,
    trials: trialsJson(trials),
    by_strategy: result.strategies.map(strategyJson),
    benchmarks: { buy_and_hold: benchmarkJson(benchmarks.buy_and_hold), dca: benchmarkJson(benchmarks.dca), cash: benchmarkJson(benchmarks.cash) },
    sensitivity: { optimistic: settingJson(settings.optimistic), base: settingJson(settings.base), pessimistic: settingJson(settings.pessimistic), grid: grid === undefined ? null : gridJson(grid) },
    warnings,
    verdict,
    report: report ?? null,
  };
}

/** Returns an answer for people, warnings first, then what it comes to. */
export function asText(answer: BacktestAnswer, report: string | undefined): string {
  const { run: { result, series, record, assessment }, settings, grid, benchmarks, currency, trials, warnings, verdict } = answer;
  const tried = trialsText(trials, assessment.metrics.dsr);
  const show = (value: number | undefined): string => (value === undefined ? 'cannot be valued' : `${currencyText(value, currency)} ${currency.symbol}`);
  const ends = ({ values }: { readonly values: readonly number[] }): string[] => [show(values[0]), show(values.at(-1))];
  const columns = [
    ...(['optimistic', 'base', 'pessimistic'] as const).map((name) => ({ name, assessment: settings[name].assessment })),
    ...([['buy and hold', benchmarks.buy_and_hold], ['DCA', benchmarks.dca]] as const).flatMap(([name, benchmark]) => (benchmark === undefined ? [] : [{ name, assessment: benchmark.assessment }])),
  ];
  const rows = SHOWN_METRICS.flatMap(({ name, label, show: shown }) => {
    const values = columns.map(({ assessment }) => assessment.metrics[name]);
    return values.every((value) => value === null) ? [] : [[label, ...values.map((value) => (typeof value === 'number' ? shown(value) : '-'))]];
  });
  return [
    ...warnings.map((warning) => `  ! ${warning}\n`),
    '\n',
    ...verdict.map((sentence) => `  ${sentence}\n`),
    `\n  period     ${new Date(result.startAt).toISOString()} to ${new Date(result.endAt).toISOString()} (${formatDuration(result.endAt - result.startAt)})\n`,
    `  events     ${result.events}, ${Math.round(result.events / result.seconds)} a second\n`,
    `  decisions  ${result.decisions}, denied: ${formatCounts(result.denials)}, alerts: ${result.alerts}\n`,
    `  swaps      ${formatCounts(result.intents)}\n`,
    `  equity     ${ends(series).join(' → ')}\n`,
    ...(tried === undefined ? [] : [`  trials     ${tried}\n`]),
    `  hash       ${result.decisionHash}\n`,
    ...(report === undefined ? [] : [`  report     ${report}\n`]),
    '\n',
    table([['', ...columns.map(({ name }) => name)], ...rows], { right: columns.map((_, i) => i + 1) }),
    '\n',
    ...(grid === undefined ? [] : [gridText(grid), '\n']),
    table([['strategy', 'swaps', 'start', 'end'], ...result.strategies.map(({ name, swaps }) => {
      const strategy = record.strategies.find((one) => one.name === name);
      return [name, String(swaps), ...(strategy === undefined ? ['-', '-'] : ends(seriesOf(record, [strategy])))];
    })], { right: [1, 2, 3] }),
  ].join('');
}
