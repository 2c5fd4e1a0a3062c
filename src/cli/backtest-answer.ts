import type { StrategyResult } from '../backtest/backtest.ts';
import type { MeasuredRun, MeasuredSettings } from '../backtest/measured-run.ts';
import { SHOWN_METRICS } from '../backtest/metrics/shown-metrics.ts';
import type { Benchmark, Benchmarks } from '../backtest/record/run-figures.ts';
import { assessRun, seriesOf } from '../backtest/record/run-figures.ts';
import { formatDuration } from '../core/time.ts';
import { formatCounts } from '../daemon/counts-text.ts';
import type { Token } from '../market/token.ts';
import { table } from './table.ts';

/** What a backtest came to, to be told. */
export interface BacktestAnswer {
  readonly runId: string;
  readonly run: MeasuredRun;
  readonly settings: MeasuredSettings;
  readonly benchmarks: Benchmarks;
  readonly currency: Token;
  readonly warnings: readonly string[];
}

/** Returns an answer for scripts. `report` is where the report was written. */
export function asJson(answer: BacktestAnswer, report: string | undefined): unknown {
  const { runId, run: { result, record, series, assessment }, settings, benchmarks, currency, warnings } = answer;
  const known = new Map(record.strategies.map((strategy) => [strategy.name, strategy]));
  const strategyJson = ({ name, swaps, feesLamports, balances }: StrategyResult): unknown => {
    const strategy = known.get(name);
    const own = strategy === undefined ? undefined : assessRun(record, [strategy]);
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
    by_strategy: result.strategies.map(strategyJson),
    benchmarks: { buy_and_hold: benchmarkJson(benchmarks.buy_and_hold), dca: benchmarkJson(benchmarks.dca), cash: benchmarkJson(benchmarks.cash) },
    sensitivity: { optimistic: settingJson(settings.optimistic), base: settingJson(settings.base), pessimistic: settingJson(settings.pessimistic) },
    warnings,
    report: report ?? null,
  };
}

/** Returns an answer for people, warnings first. */
export function asText(answer: BacktestAnswer, report: string | undefined): string {
  const { run: { result, series, record }, settings, benchmarks, currency, warnings } = answer;
  const show = (value: number | undefined): string => (value === undefined ? 'cannot be valued' : `${decimal(value, currency)} ${currency.symbol}`);
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
    `\n  period     ${new Date(result.startAt).toISOString()} to ${new Date(result.endAt).toISOString()} (${formatDuration(result.endAt - result.startAt)})\n`,
    `  events     ${result.events}, ${Math.round(result.events / result.seconds)} a second\n`,
    `  decisions  ${result.decisions}, denied: ${formatCounts(result.denials)}, alerts: ${result.alerts}\n`,
    `  swaps      ${formatCounts(result.intents)}\n`,
    `  equity     ${ends(series).join(' → ')}\n`,
    `  hash       ${result.decisionHash}\n`,
    ...(report === undefined ? [] : [`  report     ${report}\n`]),
    '\n',
    table([['', ...columns.map(({ name }) => name)], ...rows], { right: columns.map((_, i) => i + 1) }),
    '\n',
    table([['strategy', 'swaps', 'start', 'end'], ...result.strategies.map(({ name, swaps }) => {
      const strategy = record.strategies.find((one) => one.name === name);
      return [name, String(swaps), ...(strategy === undefined ? ['-', '-'] : ends(seriesOf(record, [strategy])))];
    })], { right: [1, 2, 3] }),
  ].join('');
}

function equityJson(values: readonly number[], currency: Token): unknown {
  const text = (value: number | undefined): string | null => (value === undefined ? null : decimal(value, currency));
  return { start: text(values[0]), end: text(values.at(-1)), currency: currency.symbol };
}

/** As amounts are written: all digits that the token has, none beyond the last that is not 0. */
function decimal(value: number, { decimals }: Token): string {
  const text = value.toFixed(decimals);
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}
