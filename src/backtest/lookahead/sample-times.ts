import type { Random } from '../../core/random.ts';
import type { Millis } from '../../core/time.ts';

/**
 * Returns instants at which the future is to begin, each once: the first right after decisions (a decision must not need
 * what comes after it) and at them, then anywhere. Between the first and the last row, exclusively.
 */
export function sampleTimes({ decidedAt, startAt, endAt, count, random }: {
  /** When decisions were made, rising. */
  readonly decidedAt: readonly Millis[];
  readonly startAt: Millis;
  readonly endAt: Millis;
  readonly count: number;
  readonly random: Random;
}): Millis[] {
  const instants = [...new Set(decidedAt)];
  const times = new Set<Millis>();
  const add = (at: Millis): void => { if (at > startAt && at <= endAt && times.size < count) times.add(at); };
  const decisions = [instants[0], instants.at(-1), ...Array.from({ length: count }, () => instants[Math.floor(random() * instants.length)])];
  const aroundMax = Math.ceil((2 / 3) * count);
  for (const at of decisions) {
    if (at === undefined || times.size >= aroundMax) break;
    add(at + 1);
    add(at);
  }
  for (let tries = 0; tries < 10 * count; tries++) add(Math.ceil(startAt + random() * (endAt - startAt)));
  return [...times];
}
