import { GannetError } from '../../core/errors.ts';
import type { Millis } from '../../core/time.ts';
import { formatDuration, shortDuration } from '../../core/time.ts';

/** Rows received from here to before there. */
export interface TradedPeriod {
  readonly from: Millis;
  readonly to: Millis;
}

/** One step of a walk-forward: parameters are chosen by the one period, and judged by the one that follows. */
export interface Fold {
  /** From 1. */
  readonly number: number;
  readonly inSample: TradedPeriod;
  readonly outOfSample: TradedPeriod;
}

/** What folds are laid over a recording by. */
interface FoldTerms {
  readonly firstAt: Millis;
  readonly lastAt: Millis;
  /** What the strategies see before they may trade: no period begins before so much of the recording. */
  readonly warmupMs: Millis;
  readonly inSampleMs: Millis;
  readonly outOfSampleMs: Millis;
  /** Whether every choice looks back to the beginning, instead of over a period of one length. */
  readonly anchored: boolean;
}

/** Folds with what they leave of the recording. */
export interface FoldPlan {
  readonly folds: readonly Fold[];
  /** At the end, too short for a fold. */
  readonly unusedMs: Millis;
}

/** A last period that lacks no more than this is a fold still: recordings seldom end on the dot. */
const ENOUGH_OF_A_FOLD = 0.9;
const MOST_FOLDS = 1_000;

/**
 * Returns the folds that a recording has room for, each out-of-sample period where the one before it ends. Throws USAGE
 * on lengths that make no sense, and RECORDING_INCOMPLETE where the recording is too short for one fold.
 */
export function foldPlan({ firstAt, lastAt, warmupMs, inSampleMs, outOfSampleMs, anchored }: FoldTerms): FoldPlan {
  if (inSampleMs < warmupMs) {
    throw new GannetError('USAGE', `--in-sample ${formatDuration(inSampleMs)} is shorter than the `
      + `${formatDuration(warmupMs)} that the strategies warm up on: choose by a period of at least that length`);
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
