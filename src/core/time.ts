import type { SchedulerLike } from 'rxjs';
import { GannetError } from './errors.ts';

/** Milliseconds since the Unix epoch, or a span of them. */
export type Millis = number;

/** The only source of time: `now` and timers. RxJS time operators take it as their scheduler. */
export interface Clock extends SchedulerLike {
  /** Returns the current time in milliseconds since the epoch. */
  now(): Millis;
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** The range of a JavaScript date. */
const LONGEST_MS: Millis = 8.64e15;

/** Returns the milliseconds in a duration such as "250ms", "5s", "1h30m" or "2d". Throws DURATION_INVALID. */
export function parseDuration(text: string): Millis {
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)];
  if (parts.length === 0 || parts.map((part) => part[0]).join('') !== text) throw durationError(text);
  const total = parts.reduce((sum, [, value, unit]) => sum + spanOf(value!, UNITS[unit!]!), 0);
  if (total > LONGEST_MS) throw new GannetError(
    'DURATION_INVALID',
    `the duration is too large: expected at most ${formatDuration(LONGEST_MS)}, got "${text.slice(0, 40)}"`,
    { details: { found: text.slice(0, 40) } },
  );
  if (!Number.isInteger(total) || total <= 0) throw durationError(text);
  return total;
}

/**
 * Uses whole numbers up to the division, which is exact where its result is whole: as doubles, 1.001 * 1000 is not
 * 1001.
 */
function spanOf(value: string, unitMs: Millis): Millis {
  const places = value.split('.')[1]?.length ?? 0;
  return (Number(value.replace('.', '')) * unitMs) / 10 ** places;
}

/** Returns the shortest exact text of a duration: "1h30m", "10s", "250ms". */
export function formatDuration(span: Millis): string {
  let rest = Math.max(0, Math.round(span));
  let text = '';
  for (const [unit, size] of [['d', 86_400_000], ['h', 3_600_000], ['m', 60_000], ['s', 1_000], ['ms', 1]] as const) {
    const count = Math.floor(rest / size);
    if (count > 0) text += `${count}${unit}`;
    rest -= count * size;
  }
  return text === '' ? '0s' : text;
}

/**
 * Returns a span for people, rounded up: "250ms", "1.3s", "13s", "2h5m". The unit is a millisecond under a second, a
 * tenth of a second under ten seconds, a second under an hour, a minute above.
 */
export function roughDuration(span: Millis): string {
  const step = span < 1_000 ? 1 : span < 10_000 ? 100 : span < 3_600_000 ? 1_000 : 60_000;
  const rounded = Math.ceil(span / step) * step;
  return step === 100 ? `${rounded / 1_000}s` : formatDuration(rounded);
}

const SHORT_STEPS: readonly (readonly [from: Millis, step: Millis])[] =
  [[86_400_000, 3_600_000], [3_600_000, 60_000], [60_000, 1_000], [1_000, 100]];

/** Returns a span for people, rounded to its two largest units: "30d", "2d5h", "1m30s", "1.5s", "250ms". */
export function shortDuration(span: Millis): string {
  const step = SHORT_STEPS.find(([from]) => span >= from)?.[1] ?? 1;
  const rounded = Math.round(span / step) * step;
  return step === 100 && rounded < 60_000 ? `${rounded / 1_000}s` : formatDuration(rounded);
}

function durationError(text: string): GannetError {
  const found = text.slice(0, 40);
  return new GannetError('DURATION_INVALID', `expected a duration such as "5s", "250ms" or "1h30m", got "${found}"`, {
    details: { found },
  });
}

/** Returns the time of day of an instant, to the second: "14:05:12 UTC". */
export function timeOfDay(at: Millis): string {
  const seconds = Math.floor(at / 1_000);
  const parts = [Math.floor(seconds / 3_600) % 24, Math.floor(seconds / 60) % 60, seconds % 60];
  return `${parts.map((part) => String(part).padStart(2, '0')).join(':')} UTC`;
}
