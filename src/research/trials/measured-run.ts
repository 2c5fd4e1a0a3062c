import type { Millis } from '../../core/time.ts';
import { formatDecimal } from '../../core/amount.ts';
import { pluralize, printable } from '../../core/text.ts';
import { shortDuration } from '../../core/time.ts';
import type { FeedKey } from '../../market/event.ts';
import { describeFeeds } from '../../market/market-text.ts';
import type { Token, TokenTable } from '../../market/token.ts';
import type { ChunkedWork } from '../../core/chunked-work.ts';
import type { TrialCount } from '../../store/trial-log.ts';
import type { SimulationModel, SimulationSetting } from '../../trading/simulation-model.ts';
import type { BacktestResult } from '../../backtest/backtest.ts';
import { backtestInChunks, samplingOf } from '../../backtest/backtest.ts';
import { withTrials } from '../metrics/deflated-sharpe.ts';
import type { Assessment } from '../metrics/metrics.ts';
import type { RunSeries } from '../metrics/run-figures.ts';
import { assessRun, benchmarkWarnings, seriesOf } from '../metrics/run-figures.ts';
import type { EquitySampler } from '../../backtest/record/equity-sampler.ts';
import { createEquitySampler } from '../../backtest/record/equity-sampler.ts';
import type { RunRecord } from '../../backtest/record/run-record.ts';
import type { HeldPrice } from '../../backtest/record/strategy-accounts.ts';
import type { RecordedIntervals } from '../../backtest/sampling.ts';
import { goesOn, runningInChunks, whileRunning } from '../box/phases.ts';

/** A backtest and its figures. */
export interface MeasuredRun {
  readonly result: BacktestResult;
  readonly record: RunRecord;
  /** The figures of all strategies together. */
  readonly series: RunSeries;
  readonly assessment: Assessment;
  readonly warnings: readonly string[];
}

/** The same backtest under each simulation setting. */
export type MeasuredSettings = Readonly<Record<SimulationSetting, MeasuredRun>>;

/**
 * Runs a backtest and measures it. The benchmarks buy `instruments`. Equity is sampled each `everyMs` and after each
 * fill; its extremes also each `extremesEveryMs`, so that no trough in between is missed.
 */
export function* measureInChunks({
  currency, instruments, everyMs, extremesEveryMs, endAt, interval, intervals, isMadeUp = false, ...options
}: Omit<Parameters<typeof backtestInChunks>[0], 'equity' | 'goesOn' | 'sampling'> & {
  readonly currency: Token;
  readonly instruments: readonly Token[];
  readonly everyMs: Millis;
  readonly extremesEveryMs?: Millis | undefined;
  /** The end of the recording, which limits the time of benchmarks to buy. */
  readonly endAt?: Millis | undefined;
  /** Whether its Sharpe ratio is resampled; true by default. */
  readonly interval?: boolean | undefined;
  /** Left out, strategies receive every row. */
  readonly intervals?: RecordedIntervals | undefined;
  /** Whether the recording's market was generated. */
  readonly isMadeUp?: boolean | undefined;
}): ChunkedWork<MeasuredRun> {
  const { state, model } = options;
  const sampling = whileRunning(options.strategies, () => samplingOf(options.strategies, intervals));
  const equity = createEquitySampler({
    state, market: sampling?.polled?.market, intervals, currency, instruments, everyMs, extremesEveryMs, model, endAt,
  });
  const result =
    yield* runningInChunks(options.strategies, backtestInChunks({ ...options, equity, sampling, goesOn }));
  const record: RunRecord = { ...equity.record(), ...(isMadeUp ? { isMadeUp } : {}) };
  const series = seriesOf(record, record.strategies);
  const assessment = assessRun(record, record.strategies, { interval });
  return {
    result, record, series, assessment,
    warnings: [
      ...result.completed.map(({ strategy, at }) => `${strategy} ended at ${new Date(at).toISOString()}: its stream is `
        + 'complete, so it proposed nothing after that'),
      ...unrecordedWarnings(result.unrecorded, state.tokens), ...heldWarnings(equity.heldPrices(result.endAt), model),
      ...unpricedWarnings({ ...equity.unpriced, moments: series.unpriced }, record), ...benchmarkWarnings(record),
      ...assessment.warnings.map(({ message }) => message),
    ],
  };
}

/** Returns a run with its Sharpe ratio deflated by the trials on its data. */
function deflatedRun(run: MeasuredRun, trials: TrialCount): MeasuredRun {
  const assessment = withTrials(run.assessment, trials);
  const before = new Set(run.assessment.warnings.map(({ message }) => message));
  return { ...run, assessment, warnings: [
    ...run.warnings.filter((warning) => !before.has(warning)), ...assessment.warnings.map(({ message }) => message),
  ] };
}

/** Returns each run with its Sharpe ratio deflated. The settings count as one trial, because none of them is chosen. */
export function deflatedSettings(
  { optimistic, base, pessimistic }: MeasuredSettings, trials: TrialCount,
): MeasuredSettings {
  return {
    optimistic: deflatedRun(optimistic, trials), base: deflatedRun(base, trials),
    pessimistic: deflatedRun(pessimistic, trials),
  };
}

/** Returns a warning when only some of the three settings show a gain. */
export function robustnessWarnings(settings: MeasuredSettings): string[] {
  const returns = Object.entries(settings)
    .map(([setting, { assessment }]) => ({ setting, total: assessment.metrics.total_return }));
  const gains = returns.filter(({ total }) => total !== null && total > 0).map(({ setting }) => setting);
  const losses = returns.filter(({ total }) => total !== null && total < 0).map(({ setting }) => setting);
  return gains.length === 0 || losses.length === 0 ? []
    : [`not robust: it gains in the ${gains.join(' and ')} setting and loses in the ${losses.join(' and ')} one`];
}

/** A recorded price holds for slightly larger sizes, but not for much larger ones. */
const MUCH_BEYOND = 2;

function heldWarnings(held: readonly HeldPrice[], { maxPriceAgeMs }: SimulationModel): string[] {
  return held.flatMap(({ strategy, symbol, ageMs, timesLargest }) => [
    ...(ageMs <= maxPriceAgeMs ? [] : [`${strategy} holds ${symbol} at the end with a last price that is `
      + `${shortDuration(ageMs)} old: its equity rests on an outdated price`]),
    ...(timesLargest < MUCH_BEYOND ? [] : [`${strategy} holds ${timesLargest.toFixed(0)} times as much ${symbol} at `
      + 'the end as the largest recorded sale: its equity is a guess; record larger sizes']),
  ]);
}

/** A warning names this many feeds, and counts the others. */
const FEEDS_NAMED = 5;

function unrecordedWarnings(feeds: readonly FeedKey[], tokens: TokenTable): string[] {
  if (feeds.length === 0) return [];
  const more = feeds.length - FEEDS_NAMED;
  return [`strategies watched with ctx.watch what the recording does not hold, and saw nothing of it: ${
    printable(describeFeeds(tokens, feeds.slice(0, FEEDS_NAMED)), 500)}${more > 0 ? `, and ${more} more` : ''}`];
}

function unpricedWarnings(
  { moments, fills, feesLamports, depositLamports }: EquitySampler['unpriced'] & { readonly moments: number },
  { currency, times }: RunRecord,
): string[] {
  return [
    ...(moments === 0 ? [] : [`at ${moments} of ${pluralize(times.length, 'sample')} a holding had no price in `
      + `${currency}: the equity leaves ${moments === 1 ? 'that sample' : 'those samples'} out`]),
    ...(fills === 0 ? []
      : [`${pluralize(fills, 'fill')} had no value in ${currency} and ${fills === 1 ? 'is' : 'are'} in no trade`]),
    ...(feesLamports === 0n ? [] : [`fees of ${formatDecimal(feesLamports, 9)} SOL have no value in ${currency}, `
      + 'because the recording has no price of SOL: the equity and the fees paid exclude them']),
    ...(depositLamports === 0n ? [] : [`deposits of ${formatDecimal(depositLamports, 9)} SOL for token accounts have `
      + `no value in ${currency}, because the recording has no price of SOL: the equity excludes them`]),
  ];
}
