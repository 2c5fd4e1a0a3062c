import { GannetError } from '../../core/errors.ts';
import type { Millis } from '../../core/time.ts';
import { formatDuration, shortDuration } from '../../core/time.ts';

/** A period of rows, from `from` to before `to`. */
export interface TradedPeriod {
  readonly from: Millis;
  readonly to: Millis;
}

/** One step of a walk-forward: parameters are chosen by one period and judged by the next. */
export interface Fold {
  /** From 1. */
  readonly number: number;
  readonly inSample: TradedPeriod;
  readonly outOfSample: TradedPeriod;
}

/** The terms of the folds. */
interface FoldTerms {
  readonly firstAt: Millis;
  readonly lastAt: Millis;
  /** The warm-up of the strategies: no period begins before it. */
  readonly warmupMs: Millis;
  readonly inSampleMs: Millis;
  readonly outOfSampleMs: Millis;
  /** Whether every in-sample period begins at the first row instead of having a fixed length. */
  readonly anchored: boolean;
}

/** The folds of a recording. */
export interface FoldPlan {
  readonly folds: readonly Fold[];
  /** The time at the end that is too short for a fold. */
  readonly unusedMs: Millis;
}

/** A shorter last period still counts as a fold, because recordings seldom end exactly. */
const ENOUGH_OF_A_FOLD = 0.9;
const MOST_FOLDS = 1_000;

/**
 * Returns the folds of a recording; each out-of-sample period begins at the end of the one before. Throws USAGE on
 * invalid lengths, and RECORDING_INCOMPLETE when the recording is too short for one fold.
 */
export function foldPlan({ firstAt, lastAt, warmupMs, inSampleMs, outOfSampleMs, anchored }: FoldTerms): FoldPlan {
  if (inSampleMs < warmupMs) {
    throw new GannetError('USAGE', `--in-sample ${formatDuration(inSampleMs)} is shorter than the `
      + `${formatDuration(warmupMs)} that the strategies need to warm up: give a longer period`);
  }
  const [begin, end] = [firstAt + warmupMs, lastAt + 1];
  const folds: Fold[] = [];
  let from = begin + inSampleMs;
  for (; end - from >= ENOUGH_OF_A_FOLD * outOfSampleMs; from += outOfSampleMs) {
    if (folds.length === MOST_FOLDS) throw new GannetError('USAGE', `--out-of-sample ${formatDuration(outOfSampleMs)} `
      + `makes more than ${MOST_FOLDS} folds of the ${shortDuration(lastAt - firstAt)} recorded: take longer ones`);
    folds.push({
      number: folds.length + 1,
      inSample: { from: anchored ? begin : from - inSampleMs, to: from },
      outOfSample: { from, to: Math.min(from + outOfSampleMs, end) },
    });
  }
  if (folds.length === 0) {
    const wanted = [
      ...(warmupMs > 0 ? [`${formatDuration(warmupMs)} to warm up`] : []), `${formatDuration(inSampleMs)} in-sample`,
      `${formatDuration(outOfSampleMs)} out-of-sample`,
    ];
    throw new GannetError('RECORDING_INCOMPLETE',
      `one fold takes ${wanted.join(', ')}, and the recording spans ${shortDuration(lastAt - firstAt)}: shorten `
        + '--in-sample or --out-of-sample, or take a longer recording');
  }
  return { folds, unusedMs: Math.max(0, end - from) };
}
