import type { Millis } from '../../core/time.ts';

const [SECOND, MINUTE, HOUR, DAY] = [1_000, 60_000, 3_600_000, 86_400_000];

/** As people would write them, each about four times the one before. */
const USUAL: readonly Millis[] = [SECOND, 4 * SECOND, 15 * SECOND, MINUTE, 4 * MINUTE, 15 * MINUTE, HOUR, 4 * HOUR, 12 * HOUR, 2 * DAY, 8 * DAY, 32 * DAY, 128 * DAY];
/** So much of the longest is tried where none of these is enough: between it and the last of them there may be much. */
const MOST = 3 / 4;

/** Lengths that differ by less than a step are the same to people. */
const STEPS: readonly (readonly [below: Millis, step: Millis])[] = [[MINUTE, SECOND], [10 * MINUTE, 10 * SECOND], [2 * HOUR, MINUTE], [DAY, 10 * MINUTE]];

/** Returns lengths of history to try, falling, all of them between the two: down to seconds, however long the longest is. */
export function lengthsBetween(shortest: Millis, longest: Millis): Millis[] {
  return USUAL.filter((length) => length > shortest && length < MOST * longest).toReversed();
}

/** Returns the longest length worth trying between the two; undefined where there is none. */
export function mostBetween(shortest: Millis, longest: Millis): Millis | undefined {
  const most = tidy(MOST * longest);
  return most > shortest && most < longest ? most : undefined;
}

/** Returns a length about in the middle of two; undefined where they are next to each other. */
export function lengthWithin(short: Millis, long: Millis): Millis | undefined {
  const middle = tidy(short === 0 ? long / 2 : Math.sqrt(short * long));
  return middle > short && middle < long ? middle : undefined;
}

function tidy(length: Millis): Millis {
  const step = STEPS.find(([below]) => length < below)?.[1] ?? HOUR;
  return Math.ceil(length / step) * step;
}
