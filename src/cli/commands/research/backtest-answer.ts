import type { StrategyRecord } from '../../../backtest/record/run-record.ts';
import type { SampledInput } from '../../../backtest/sampling.ts';
import { currencyText, equityJson, figureTable } from '../../output/metrics-text.ts';
import { statisticsText } from '../../output/statistics-text.ts';
import { table } from '../../output/table.ts';
import { fillAgeText } from '../../../config/config-record.ts';
import { formatDecimal } from '../../../core/amount.ts';
import { formatCounts, groupThousands, pluralize } from '../../../core/text.ts';
import { formatDuration, shortDuration } from '../../../core/time.ts';
import { describeFeedKey } from '../../../market/market-text.ts';
import type { Token, TokenTable } from '../../../market/token.ts';
import { instantText } from '../../../report/printed-figures.ts';
import { splitWarnings } from '../../../report/page.ts';
import type { ReportedBacktest } from '../../../report/write-report.ts';
import { withTrials } from '../../../research/metrics/deflated-sharpe.ts';
import { shareText } from '../../../research/metrics/figure-text.ts';
import type { Benchmark, Benchmarks } from '../../../research/metrics/run-figures.ts';
import { assessRun, seriesOf } from '../../../research/metrics/run-figures.ts';
import type { RunStatistics } from '../../../research/metrics/run-statistics.ts';
import { valueText } from '../../../research/metrics/value-text.ts';
import type { MeasuredRun } from '../../../research/trials/measured-run.ts';
import type { SensitivityGrid } from '../../../research/trials/sensitivity-grid.ts';
import { trialsJson, trialsText } from '../../../research/trials/verdict.ts';
import { SOL_DECIMALS } from '../../../solana/constants.ts';
import type { SimulationModel } from '../../../trading/simulation-model.ts';


/** The result of a backtest, as the command prints it. */
export interface BacktestAnswer extends ReportedBacktest {
  /** Results under other latencies and costs; undefined when not computed. */
  readonly grid: SensitivityGrid | undefined;
  /** Swaps that the recorded run landed: their impact is in its quotes, and is not counted again. */
  readonly recordedSwaps: number;
  /** The largest allowed ages of recorded prices. */
  readonly priceAges: Pick<SimulationModel, 'fillQuoteAge' | 'maxPriceAgeMs'>;
  /** Inputs that strategies saw less often than recorded. */
  readonly sampled: readonly SampledInput[];
  readonly tokens: TokenTable;
  readonly statistics: RunStatistics;
}

/** The paths of the files that were written. */
interface WrittenFiles {
  readonly report: string | undefined;
  readonly trades: string | undefined;
}

/** Returns an answer for `--json`. */
export function asJson(answer: BacktestAnswer, { report, trades: tradesFile }: WrittenFiles): unknown {
  const {
    runId, run: { result, record, series, assessment }, settings, grid, benchmarks, currency, recordedSwaps, trials,
    warnings,
    priceAges, sampled, tokens, verdict, statistics,
  } = answer;
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
    sampled: sampled.map(({ strategy, feed, recordedMs, everyMs }) => ({
      strategy, input: describeFeedKey(tokens, feed), recorded: shortDuration(recordedMs),
      every: formatDuration(everyMs),
    })),
    max_quote_age: fillAgeText(priceAges.fillQuoteAge),
    max_price_age: formatDuration(priceAges.maxPriceAgeMs),
    equity: equityJson(series.values, currency),
    deposits: depositsJson(answer),
    metrics: assessment.metrics,
    sharpe_interval: assessment.sharpeInterval ?? null,
    trials: trialsJson(trials),
    by_strategy: strategiesJson(answer),
    benchmarks: benchmarksJson(benchmarks, currency),
    sensitivity: {
      optimistic: settingJson(settings.optimistic, currency), base: settingJson(settings.base, currency),
      pessimistic: settingJson(settings.pessimistic, currency), grid: grid === undefined ? null : gridJson(grid),
    },
    recorded_own_swaps: recordedSwaps,
    own_impact: result.simulation.ownImpact.map(({ inputMint, outputMint, feeds, fills, displaced }) => ({
      input_mint: inputMint, output_mint: outputMint, feeds, modelled: fills.none === 0,
      fills: { by_recorded_sizes: fills.sizes, by_stated_impact: fills.stated, not_modelled: fills.none }, displaced,
    })),
    warnings,
    figure_warnings: assessment.warnings,
    statistics,
    verdict,
    terms: record.terms ?? null,
    is_made_up: record.isMadeUp === true,
    report: report ?? null,
    trades_file: tradesFile ?? null,
  };
}

function depositsJson({ run: { result: { deposits }, record }, currency }: BacktestAnswer): unknown {
  const sumOf = (pick: (strategy: StrategyRecord) => number | undefined): string =>
    currencyText(record.strategies.reduce((sum, strategy) => sum + (pick(strategy) ?? 0), 0), currency);
  return {
    returned_lamports: deposits.returnedLamports, locked_lamports: deposits.lockedLamports,
    returned: sumOf(({ returned }) => returned), locked: sumOf(({ deposited }) => deposited), currency: currency.symbol,
  };
}

function strategiesJson({ run: { result, record }, trials, currency }: BacktestAnswer): unknown[] {
  const rents = new Map<string, bigint>();
  for (const { intent: { strategy }, fill } of result.fills)
    rents.set(strategy, (rents.get(strategy) ?? 0n) + fill.rentLamports);
  return result.strategies.map(({ name, swaps, feesLamports, balances }) => {
    const strategy = record.strategies.find((one) => one.name === name);
    const alone = strategy === undefined ? undefined : assessRun(record, [strategy]);
    const own = alone === undefined || trials === undefined ? alone : withTrials(alone, trials);
    return {
      name, swaps, fees_lamports: feesLamports, rent_lamports: rents.get(name) ?? 0n,
      balances: Object.fromEntries(balances),
      equity: equityJson(strategy === undefined ? [] : seriesOf(record, [strategy]).values, currency),
      metrics: own?.metrics ?? null, warnings: own?.warnings.map(({ message }) => message) ?? [],
    };
  });
}

/** Returns benchmarks for `--json`, null for a missing one. */
export function benchmarksJson({ buy_and_hold, dca, cash }: Benchmarks, currency: Token): unknown {
  const one = (benchmark: Benchmark | undefined): unknown => (benchmark === undefined ? null : {
    equity: equityJson(benchmark.series.values, currency), metrics: benchmark.assessment.metrics,
  });
  return { buy_and_hold: one(buy_and_hold), dca: one(dca), cash: one(cash) };
}

function settingJson({ result, series, assessment, warnings }: MeasuredRun, currency: Token): unknown {
  return {
    equity: equityJson(series.values, currency), fills: result.fills.length, intents: result.intents,
    denials: result.denials, decision_hash: result.decisionHash, metrics: assessment.metrics, warnings,
  };
}

const MOST_SAMPLED = 3;

function sampledText(sampled: readonly SampledInput[], tokens: TokenTable): string[] {
  const more = sampled.length - MOST_SAMPLED;
  return [
    ...sampled.slice(0, MOST_SAMPLED).map(({ strategy, feed, recordedMs, everyMs }) =>
      `  sampled    ${strategy}: ${describeFeedKey(tokens, feed)} is recorded every ${shortDuration(recordedMs)}, `
        + `shown every ${formatDuration(everyMs)}\n`),
    ...(more > 0 ? [`             and ${pluralize(more, 'more input')}\n`] : []),
  ];
}

/** Returns an answer as text: warnings, the conclusion, then the figures. */
export function asText(answer: BacktestAnswer, { report, trades: tradesFile }: WrittenFiles): string {
  const {
    run: { result, series, record, assessment }, settings, grid, benchmarks, currency, trials, warnings, priceAges,
    sampled, tokens, verdict, statistics,
  } = answer;
  const tried = trialsText(trials, assessment.metrics.dsr, assessment.luckUnknown);
  const show = (value: number | undefined): string =>
    (value === undefined ? 'unknown: a price is missing' : `${valueText(value, 'price')} ${currency.symbol}`);
  const ends = ({ values }: { readonly values: readonly number[] }): string[] => [show(values[0]), show(values.at(-1))];
  const { warnings: general, missing } = splitWarnings(warnings, assessment.warnings);
  const columns = [
    ...(['optimistic', 'base', 'pessimistic'] as const)
      .map((name) => ({ name, assessment: settings[name].assessment })),
    ...([['buy and hold', benchmarks.buy_and_hold], ['DCA', benchmarks.dca]] as const)
      .flatMap(([name, benchmark]) => (benchmark === undefined ? [] : [{ name, assessment: benchmark.assessment }])),
  ];
  return [
    ...general.map((warning) => `  ! ${warning}\n`),
    '\n',
    ...verdict.map((sentence) => `  ${sentence}\n`),
    `\n  period     ${instantText(result.startAt)} to ${instantText(result.endAt)} UTC `
      + `(${shortDuration(result.endAt - result.startAt)})\n`,
    `  events     ${groupThousands(String(result.events))}, `
      + `${groupThousands(String(Math.round(result.events / result.seconds)))} a `
      + `second\n`,
    `  decisions  ${groupThousands(String(result.decisions))}, denied: `
      + `${formatCounts(result.denials)}${result.alerts === 0 ? '' : `, ${pluralize(result.alerts, 'alert')}`}\n`,
    `  swaps      ${formatCounts(result.intents)}\n`,
    ...sampledText(sampled, tokens),
    `  prices     of swaps: quotes at most ${fillAgeText(priceAges.fillQuoteAge)} old; of equity: the last one, with a `
      + `warning where it is over ${formatDuration(priceAges.maxPriceAgeMs)} old at the end\n`,
    `  equity     ${ends(series).join(' → ')}\n`,
    ...depositLine(result.deposits),
    ...(tried === undefined ? [] : [`  trials     ${tried}\n`]),
    `  hash       ${result.decisions === 0 ? 'none: no decision' : result.decisionHash}\n`,
    ...(report === undefined ? [] : [`  report     ${report}\n`]),
    ...(tradesFile === undefined ? [] : [`  trades     ${tradesFile}\n`]),
    '\n',
    figureTable(columns, currency.symbol),
    ...missing.map((reason) => `  ${reason}\n`),
    '\n',
    statisticsText(statistics, currency.symbol),
    '\n',
    ...(grid === undefined ? [] : [gridText(grid), '\n']),
    table([['strategy', 'swaps', 'start', 'end'], ...result.strategies.map(({ name, swaps }) => {
      const strategy = record.strategies.find((one) => one.name === name);
      return [
        name, groupThousands(String(swaps)),
        ...(strategy === undefined ? ['-', '-'] : ends(seriesOf(record, [strategy]))),
      ];
    })], { right: [1, 2, 3] }),
  ].join('');
}

/** Returns the line of deposits. A deposit is no cost, but it is not available until the account is closed. */
function depositLine({ returnedLamports, lockedLamports }: MeasuredRun['result']['deposits']): string[] {
  if (returnedLamports + lockedLamports === 0n) return [];
  const [returned, locked] = [returnedLamports, lockedLamports]
    .map((lamports) => `${formatDecimal(lamports, SOL_DECIMALS)} SOL`);
  return [`  deposits   for token accounts: ${locked} paid and not in the equity, ${returned} returned at the end\n`];
}

/** Returns a grid for `--json`: total returns, a row for each latency, null for a missing one. */
function gridJson({ latency, cost, totalReturn, halfSpreadBps }: SensitivityGrid): unknown {
  return {
    latency, cost, half_spread_bps: halfSpreadBps,
    total_return: totalReturn.map((row) => row.map((value) => (typeof value === 'number' ? value : null))),
    missing: [...new Set(totalReturn.flat().filter((value) => typeof value === 'string'))],
  };
}

/** Returns a grid as text. */
function gridText({ latency, cost, totalReturn, halfSpreadBps }: SensitivityGrid): string {
  const rows = latency.map((factor, row) =>
    [`latency × ${factor}`,
      ...totalReturn[row]!.map((value) => (typeof value === 'number' ? shareText(value) : '-'))]);
  const heading = ['total return', ...cost.map((factor) => `costs × ${factor}`)];
  return table([heading, ...rows], { right: cost.map((_, i) => i + 1) })
    + `  costs: fees, and half the spread, ${halfSpreadBps.toFixed(2)} bps per swap\n`;
}
