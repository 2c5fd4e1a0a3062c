import type { Millis } from '../../core/time.ts';
import { formatDecimal } from '../../core/amount.ts';
import { counted } from '../../core/counted.ts';
import { shortDuration } from '../../core/time.ts';
import type { Token } from '../../market/token.ts';
import type { Steps } from '../../core/steps.ts';
import { atOnce } from '../../core/steps.ts';
import type { TrialCount } from '../../store/trial-log.ts';
import type { SimulationSetting } from '../../trading/simulated-landing.ts';
import type { SimulationModel } from '../../trading/simulation-model.ts';
import type { BacktestResult } from '../../backtest/backtest.ts';
import { backtestSteps, samplingOf } from '../../backtest/backtest.ts';
import { withTrials } from '../metrics/deflated-sharpe.ts';
import type { Assessment } from '../metrics/metrics.ts';
import type { RunSeries } from '../metrics/run-figures.ts';
import { assessRun, benchmarkWarnings, seriesOf } from '../metrics/run-figures.ts';
import type { HeldPrice, EquitySampler } from '../../backtest/record/equity-sampler.ts';
import { createEquitySampler } from '../../backtest/record/equity-sampler.ts';
import type { RunRecord } from '../../backtest/record/run-record.ts';
import type { RecordedIntervals } from '../../backtest/sampling.ts';

/** A backtest with its figures. */
export interface MeasuredRun {
  readonly result: BacktestResult;
  readonly record: RunRecord;
  /** Of all strategies together. */
  readonly series: RunSeries;
  readonly assessment: Assessment;
  readonly warnings: readonly string[];
}

/** The same backtest under each setting. */
export type MeasuredSettings = Readonly<Record<SimulationSetting, MeasuredRun>>;

/**
 * Runs a backtest and measures it. `instruments` are what its benchmarks buy; equity is looked at each `everyMs` and
 * after each fill, and in passing each `extremesEveryMs`, so that no trough between is missed.
 */
export function* measureSteps({
  currency, instruments, everyMs, extremesEveryMs, endAt, interval, intervals, isMadeUp = false, ...options
}: Omit<Parameters<typeof backtestSteps>[0], 'meter' | 'sampling'> & {
  readonly currency: Token;
  readonly instruments: readonly Token[];
  readonly everyMs: Millis;
  readonly extremesEveryMs?: Millis | undefined;
  /** Where the recording ends, which says how long benchmarks have to buy. */
  readonly endAt?: Millis | undefined;
  /** Whether its Sharpe ratio is resampled; true by default. */
  readonly interval?: boolean | undefined;
  /** Left out, strategies are shown every row. */
  readonly intervals?: RecordedIntervals | undefined;
  /** Whether the recording's market was made up. */
  readonly isMadeUp?: boolean | undefined;
}): Steps<MeasuredRun> {
  const { state, model } = options;
  const sampling = samplingOf(options.strategies, intervals);
  const meter = createEquitySampler({
    state, market: sampling?.polled?.market, intervals, currency, instruments, everyMs, extremesEveryMs, model, endAt,
  });
  const result = yield* backtestSteps({ ...options, meter, sampling });
  const record: RunRecord = { ...meter.record(), ...(isMadeUp ? { isMadeUp } : {}) };
  const series = seriesOf(record, record.strategies);
  const assessment = assessRun(record, record.strategies, { interval });
  return {
    result, record, series, assessment,
    warnings: [...heldWarnings(meter.heldPrices(result.endAt), model), ...unpricedWarnings(
      { ...meter.unpriced, moments: series.unpriced }, record,
    ), ...benchmarkWarnings(record), ...assessment.warnings.map(({ message }) => message)],
  };
}

/** Runs a backtest and measures it as `measureSteps` does, all at once. */
export function measureRun(options: Parameters<typeof measureSteps>[0]): MeasuredRun {
  return atOnce(measureSteps(options));
}

/** Returns a run with its Sharpe ratio deflated by the trials made on its data. */
function deflatedRun(run: MeasuredRun, trials: TrialCount): MeasuredRun {
  const assessment = withTrials(run.assessment, trials);
  const before = new Set(run.assessment.warnings.map(({ message }) => message));
  return { ...run, assessment, warnings: [
    ...run.warnings.filter((warning) => !before.has(warning)), ...assessment.warnings.map(({ message }) => message),
  ] };
}

/**
 * Returns each run with its Sharpe ratio deflated. The settings stand beside one another, and none is chosen: they are
 * one trial.
 */
export function deflatedSettings(
  { optimistic, base, pessimistic }: MeasuredSettings, trials: TrialCount,
): MeasuredSettings {
  return {
    optimistic: deflatedRun(optimistic, trials), base: deflatedRun(base, trials),
    pessimistic: deflatedRun(pessimistic, trials),
  };
}

/** Returns what the three settings say together: a gain that only some of them show is none. */
export function robustnessWarnings(settings: MeasuredSettings): string[] {
  const returns = Object.entries(settings)
    .map(([setting, { assessment }]) => ({ setting, total: assessment.metrics.total_return }));
  const gains = returns.filter(({ total }) => total !== null && total > 0).map(({ setting }) => setting);
  const losses = returns.filter(({ total }) => total !== null && total < 0).map(({ setting }) => setting);
  return gains.length === 0 || losses.length === 0 ? []
    : [`not robust: it gains in the ${gains.join(' and ')} setting and loses in the ${losses.join(' and ')} one`];
}

/** A price of a little less goes on a little beyond; of much more nobody knows anything. */
const MUCH_BEYOND = 2;

function heldWarnings(held: readonly HeldPrice[], { maxPriceAgeMs }: SimulationModel): string[] {
  return held.flatMap(({ strategy, symbol, ageMs, timesLargest }) => [
    ...(ageMs <= maxPriceAgeMs ? [] : [`${strategy} holds ${symbol} at the end whose last price is `
      + `${shortDuration(ageMs)} old: its equity counts on a price that nobody may pay any more`]),
    ...(timesLargest < MUCH_BEYOND ? [] : [`${strategy} holds ${timesLargest.toFixed(0)} times as much ${symbol} at `
      + 'the end as the largest sale that was recorded: what its equity counts it at is a guess; record larger sizes']),
  ]);
}

function unpricedWarnings(
  { moments, fills, feesLamports, depositLamports }: EquitySampler['unpriced'] & { readonly moments: number },
  { currency, times }: RunRecord,
): string[] {
  return [
    ...(moments === 0 ? [] : [`at ${moments} of ${counted(times.length, 'look')} something held had no price in `
      + `${currency}: the equity leaves ${moments === 1 ? 'it' : 'them'} out`]),
    ...(fills === 0 ? []
      : [`${counted(fills, 'fill')} had no value in ${currency}, and ${fills === 1 ? 'is' : 'are'} in no round trip`]),
    ...(feesLamports === 0n ? [] : [`fees of ${formatDecimal(feesLamports, 9)} SOL have no value in ${currency}, since `
      + 'the recording holds no price of SOL: neither the equity nor the fees paid have them']),
    ...(depositLamports === 0n ? [] : [`deposits of ${formatDecimal(depositLamports, 9)} SOL for token accounts have `
      + `no value in ${currency}, since the recording holds no price of SOL: the equity leaves them out`]),
  ];
}
