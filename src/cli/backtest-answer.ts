import type { StrategyResult } from '../backtest/backtest.ts';
import type { MeasuredRun, MeasuredSettings } from '../backtest/measured-run.ts';
import { withTrials } from '../backtest/metrics/deflated.ts';
import type { Benchmark, Benchmarks } from '../backtest/record/run-figures.ts';
import { assessRun, seriesOf } from '../backtest/record/run-figures.ts';
import type { SensitivityGrid } from '../backtest/sensitivity-grid.ts';
import { splitWarnings } from '../backtest/report/split-warnings.ts';
import { instantText } from '../backtest/page/time-axis.ts';
import { valueText } from '../backtest/page/value-text.ts';
import { fillAgeText } from '../config/simulation-record.ts';
import { counted, grouped } from '../core/counted.ts';
import { formatDuration, shortDuration } from '../core/time.ts';
import { formatCounts } from '../daemon/counts-text.ts';
import type { Token } from '../market/token.ts';
import type { SimulationModel } from '../trading/simulation-model.ts';
import type { TrialCount } from '../store/trial-log.ts';
import { equityJson } from './equity-json.ts';
import { figureTable } from './figure-table.ts';
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
  /** How old recorded prices may be. */
  readonly priceAges: Pick<SimulationModel, 'fillQuoteAge' | 'maxPriceAgeMs'>;
  /** What it comes to, in sentences. */
  readonly verdict: readonly string[];
}

/** Returns an answer for scripts. `report` is where the report was written. */
export function asJson(answer: BacktestAnswer, report: string | undefined): unknown {
  const { runId, run: { result, record, series, assessment }, settings, grid, benchmarks, currency, trials, warnings, priceAges, verdict } = answer;
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
    max_quote_age: fillAgeText(priceAges.fillQuoteAge),
    max_price_age: formatDuration(priceAges.maxPriceAgeMs),
    equity: equityJson(series.values, currency),
    metrics: assessment.metrics,
    sharpe_interval: assessment.sharpeInterval ?? null,
    trials: trialsJson(trials),
    by_strategy: result.strategies.map(strategyJson),
    benchmarks: { buy_and_hold: benchmarkJson(benchmarks.buy_and_hold), dca: benchmarkJson(benchmarks.dca), cash: benchmarkJson(benchmarks.cash) },
    sensitivity: { optimistic: settingJson(settings.optimistic), base: settingJson(settings.base), pessimistic: settingJson(settings.pessimistic), grid: grid === undefined ? null : gridJson(grid) },
    warnings,
    figure_warnings: assessment.warnings,
    verdict,
    report: report ?? null,
  };
}

/** Returns an answer for people, warnings first, then what it comes to. */
export function asText(answer: BacktestAnswer, report: string | undefined): string {
  const { run: { result, series, record, assessment }, settings, grid, benchmarks, currency, trials, warnings, priceAges, verdict } = answer;
  const tried = trialsText(trials, assessment.metrics.dsr, assessment.luckUnknown);
  const show = (value: number | undefined): string => (value === undefined ? 'cannot be valued' : `${valueText(value, 'price')} ${currency.symbol}`);
  const ends = ({ values }: { readonly values: readonly number[] }): string[] => [show(values[0]), show(values.at(-1))];
  const { warnings: doubts, missing } = splitWarnings(warnings, assessment.warnings);
  const columns = [
    ...(['optimistic', 'base', 'pessimistic'] as const).map((name) => ({ name, assessment: settings[name].assessment })),
    ...([['buy and hold', benchmarks.buy_and_hold], ['DCA', benchmarks.dca]] as const).flatMap(([name, benchmark]) => (benchmark === undefined ? [] : [{ name, assessment: benchmark.assessment }])),
  ];
  return [
    ...doubts.map((warning) => `  ! ${warning}\n`),
    '\n',
    ...verdict.map((sentence) => `  ${sentence}\n`),
    `\n  period     ${instantText(result.startAt)} to ${instantText(result.endAt)} UTC (${shortDuration(result.endAt - result.startAt)})\n`,
    `  events     ${grouped(String(result.events))}, ${grouped(String(Math.round(result.events / result.seconds)))} a second\n`,
    `  decisions  ${grouped(String(result.decisions))}, denied: ${formatCounts(result.denials)}${result.alerts === 0 ? '' : `, ${counted(result.alerts, 'alert')}`}\n`,
    `  swaps      ${formatCounts(result.intents)}\n`,
    `  prices     of swaps: quotes at most ${fillAgeText(priceAges.fillQuoteAge)} old; of equity: at most ${formatDuration(priceAges.maxPriceAgeMs)} old\n`,
    `  equity     ${ends(series).join(' → ')}\n`,
    ...(tried === undefined ? [] : [`  trials     ${tried}\n`]),
    `  hash       ${result.decisions === 0 ? 'none: nothing was decided' : result.decisionHash}\n`,
    ...(report === undefined ? [] : [`  report     ${report}\n`]),
    '\n',
    figureTable(columns, currency.symbol),
    ...missing.map((reason) => `  ${reason}\n`),
    '\n',
    ...(grid === undefined ? [] : [gridText(grid), '\n']),
    table([['strategy', 'swaps', 'start', 'end'], ...result.strategies.map(({ name, swaps }) => {
      const strategy = record.strategies.find((one) => one.name === name);
      return [name, grouped(String(swaps)), ...(strategy === undefined ? ['-', '-'] : ends(seriesOf(record, [strategy])))];
    })], { right: [1, 2, 3] }),
  ].join('');
}
