import type { StrategyResult } from '../../../backtest/backtest.ts';
import type { MeasuredRun, MeasuredSettings } from '../../../research/trials/measured-run.ts';
import { withTrials } from '../../../research/metrics/deflated-sharpe.ts';
import type { Benchmark, Benchmarks } from '../../../research/metrics/run-figures.ts';
import { assessRun, seriesOf } from '../../../research/metrics/run-figures.ts';
import type { StrategyRecord } from '../../../backtest/record/run-record.ts';
import type { SensitivityGrid } from '../../../research/trials/sensitivity-grid.ts';
import type { SampledInput } from '../../../backtest/sampling.ts';
import { splitWarnings } from '../../../report/page.ts';
import { instantText } from '../../../report/axis.ts';
import { valueText } from '../../../research/metrics/value-text.ts';
import { fillAgeText } from '../../../config/simulation-record.ts';
import { formatDecimal } from '../../../core/amount.ts';
import { counted, formatCounts, grouped } from '../../../core/counted.ts';
import { formatDuration, shortDuration } from '../../../core/time.ts';
import { describeFeedKey } from '../../../market/market-text.ts';
import type { Token, TokenTable } from '../../../market/token.ts';
import type { SimulationModel } from '../../../trading/simulation-model.ts';
import type { TrialCount } from '../../../store/trial-log.ts';
import { currencyText, equityJson, figureTable } from '../../output/metrics-text.ts';
import { trialsJson, trialsText } from '../../../research/trials/verdict.ts';
import { table } from '../../output/table.ts';
import { shareText } from '../../../research/metrics/figure-text.ts';

const SOL_DECIMALS = 9;

/** What a backtest came to, to be told. */
export interface BacktestAnswer {
  readonly runId: string;
  readonly run: MeasuredRun;
  readonly settings: MeasuredSettings;
  /** Under other latencies and costs; undefined where it was not computed. */
  readonly grid: SensitivityGrid | undefined;
  readonly benchmarks: Benchmarks;
  readonly currency: Token;
  /** How many swaps the recording's own run landed: their impact is in its quotes, and is not counted twice. */
  readonly recordedSwaps: number;
  /** Made on the same data, this one included; undefined where they could not be counted. */
  readonly trials: TrialCount | undefined;
  readonly warnings: readonly string[];
  /** How old recorded prices may be. */
  readonly priceAges: Pick<SimulationModel, 'fillQuoteAge' | 'maxPriceAgeMs'>;
  /** Inputs that were shown fewer prices than are recorded. */
  readonly sampled: readonly SampledInput[];
  readonly tokens: TokenTable;
  /** What it comes to, in sentences. */
  readonly verdict: readonly string[];
}

/** Returns an answer for scripts. `report` is where the report was written. */
export function asJson(answer: BacktestAnswer, report: string | undefined): unknown {
  const {
    runId, run: { result, record, series, assessment }, settings, grid, benchmarks, currency, recordedSwaps, trials,
    warnings, priceAges, sampled, tokens, verdict,
  } = answer;
  const rents = new Map<string, bigint>();
  for (const { intent: { strategy }, fill } of result.fills)
    rents.set(strategy, (rents.get(strategy) ?? 0n) + fill.rentLamports);
  const known = new Map(record.strategies.map((strategy) => [strategy.name, strategy]));
  const strategyJson = ({ name, swaps, feesLamports, balances }: StrategyResult): unknown => {
    const strategy = known.get(name);
    const alone = strategy === undefined ? undefined : assessRun(record, [strategy]);
    const own = alone === undefined || trials === undefined ? alone : withTrials(alone, trials);
    return {
      name, swaps, fees_lamports: feesLamports, rent_lamports: rents.get(name) ?? 0n,
      balances: Object.fromEntries(balances),
      equity: equityJson(strategy === undefined ? [] : seriesOf(record, [strategy]).values, currency),
      metrics: own?.metrics ?? null, warnings: own?.warnings.map(({ message }) => message) ?? [],
    };
  };
  const worthOf = (pick: (strategy: StrategyRecord) => number | undefined): string => (
    currencyText(record.strategies.reduce((sum, strategy) => sum + (pick(strategy) ?? 0), 0), currency));
  const benchmarkJson = (benchmark: Benchmark | undefined): unknown => (benchmark === undefined ? null : {
    equity: equityJson(benchmark.series.values, currency), metrics: benchmark.assessment.metrics,
  });
  const { deposits, simulation: { ownImpact } } = result;
  const settingJson = (run: MeasuredRun): unknown => ({
    equity: equityJson(run.series.values, currency), fills: run.result.fills.length, intents: run.result.intents,
    denials: run.result.denials,
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
    sampled: sampled.map(({ strategy, feed, recordedMs, everyMs }) => ({
      strategy, input: describeFeedKey(tokens, feed), recorded: shortDuration(recordedMs),
      every: formatDuration(everyMs),
    })),
    max_quote_age: fillAgeText(priceAges.fillQuoteAge),
    max_price_age: formatDuration(priceAges.maxPriceAgeMs),
    equity: equityJson(series.values, currency),
    deposits: {
      returned_lamports: deposits.returnedLamports, locked_lamports: deposits.lockedLamports,
      returned: worthOf(({ returned }) => returned), locked: worthOf(({ deposited }) => deposited),
      currency: currency.symbol,
    },
    metrics: assessment.metrics,
    sharpe_interval: assessment.sharpeInterval ?? null,
    trials: trialsJson(trials),
    by_strategy: result.strategies.map(strategyJson),
    benchmarks: {
      buy_and_hold: benchmarkJson(benchmarks.buy_and_hold), dca: benchmarkJson(benchmarks.dca),
      cash: benchmarkJson(benchmarks.cash),
    },
    sensitivity: {
      optimistic: settingJson(settings.optimistic), base: settingJson(settings.base),
      pessimistic: settingJson(settings.pessimistic), grid: grid === undefined ? null : gridJson(grid),
    },
    recorded_own_swaps: recordedSwaps,
    own_impact: ownImpact.map(({ inputMint, outputMint, feeds, fills, displaced }) => ({
      input_mint: inputMint, output_mint: outputMint, feeds, modelled: fills.none === 0,
      fills: { by_recorded_sizes: fills.sizes, by_stated_impact: fills.stated, not_modelled: fills.none }, displaced,
    })),
    warnings,
    figure_warnings: assessment.warnings,
    verdict,
    report: report ?? null,
  };
}

const MOST_SAMPLED = 3;

function sampledText(sampled: readonly SampledInput[], tokens: TokenTable): string[] {
  const more = sampled.length - MOST_SAMPLED;
  return [
    ...sampled.slice(0, MOST_SAMPLED).map(({ strategy, feed, recordedMs, everyMs }) =>
      `  sampled    ${strategy}: ${describeFeedKey(tokens, feed)} is recorded every ${shortDuration(recordedMs)}, `
        + `shown every ${formatDuration(everyMs)}\n`),
    ...(more > 0 ? [`             and ${counted(more, 'more input')}\n`] : []),
  ];
}

/** Returns an answer for people, warnings first, then what it comes to. */
export function asText(answer: BacktestAnswer, report: string | undefined): string {
  const {
    run: { result, series, record, assessment }, settings, grid, benchmarks, currency, trials, warnings, priceAges,
    sampled, tokens, verdict,
  } = answer;
  const tried = trialsText(trials, assessment.metrics.dsr, assessment.luckUnknown);
  const show = (value: number | undefined): string =>
    (value === undefined ? 'cannot be valued' : `${valueText(value, 'price')} ${currency.symbol}`);
  const ends = ({ values }: { readonly values: readonly number[] }): string[] => [show(values[0]), show(values.at(-1))];
  const { warnings: doubts, missing } = splitWarnings(warnings, assessment.warnings);
  const columns = [
    ...(['optimistic', 'base', 'pessimistic'] as const)
      .map((name) => ({ name, assessment: settings[name].assessment })),
    ...([['buy and hold', benchmarks.buy_and_hold], ['DCA', benchmarks.dca]] as const)
      .flatMap(([name, benchmark]) => (benchmark === undefined ? [] : [{ name, assessment: benchmark.assessment }])),
  ];
  return [
    ...doubts.map((warning) => `  ! ${warning}\n`),
    '\n',
    ...verdict.map((sentence) => `  ${sentence}\n`),
    `\n  period     ${instantText(result.startAt)} to ${instantText(result.endAt)} UTC `
      + `(${shortDuration(result.endAt - result.startAt)})\n`,
    `  events     ${grouped(String(result.events))}, ${grouped(String(Math.round(result.events / result.seconds)))} a `
      + `second\n`,
    `  decisions  ${grouped(String(result.decisions))}, denied: `
      + `${formatCounts(result.denials)}${result.alerts === 0 ? '' : `, ${counted(result.alerts, 'alert')}`}\n`,
    `  swaps      ${formatCounts(result.intents)}\n`,
    ...sampledText(sampled, tokens),
    `  prices     of swaps: quotes at most ${fillAgeText(priceAges.fillQuoteAge)} old; of equity: the last one, with a `
      + `warning where it is over ${formatDuration(priceAges.maxPriceAgeMs)} old at the end\n`,
    `  equity     ${ends(series).join(' → ')}\n`,
    ...depositLine(result.deposits),
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
      return [
        name, grouped(String(swaps)), ...(strategy === undefined ? ['-', '-'] : ends(seriesOf(record, [strategy]))),
      ];
    })], { right: [1, 2, 3] }),
  ].join('');
}

/** A deposit is no cost: what is laid down is missing until the account is closed. */
function depositLine({ returnedLamports, lockedLamports }: MeasuredRun['result']['deposits']): string[] {
  if (returnedLamports + lockedLamports === 0n) return [];
  const [returned, locked] = [returnedLamports, lockedLamports]
    .map((lamports) => `${formatDecimal(lamports, SOL_DECIMALS)} SOL`);
  return [`  deposits   for token accounts: ${locked} laid down and not in the equity, ${returned} back at the end\n`];
}

/** Returns a grid for scripts: total returns, a row for each latency, null where there is none. */
export function gridJson({ latency, cost, totalReturn, halfSpreadBps }: SensitivityGrid): unknown {
  return {
    latency, cost, half_spread_bps: halfSpreadBps,
    total_return: totalReturn.map((row) => row.map((value) => (typeof value === 'number' ? value : null))),
    missing: [...new Set(totalReturn.flat().filter((value) => typeof value === 'string'))],
  };
}

/** Returns a grid for people. */
export function gridText({ latency, cost, totalReturn, halfSpreadBps }: SensitivityGrid): string {
  const rows = latency.map((factor, row) =>
    [`latency × ${factor}`, ...totalReturn[row]!.map((value) => (typeof value === 'number' ? shareText(value) : '-'))]);
  return `${table([['total return', ...cost.map((factor) => `costs × ${factor}`)], ...rows], { right: cost.map((_, i) => i + 1) })}  costs: fees, and half of the spread, ${halfSpreadBps.toFixed(2)} bps a swap\n`;
}
