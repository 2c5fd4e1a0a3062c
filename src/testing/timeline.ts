import type { Millis } from '../core/time.ts';
import { formatDuration, parseDuration } from '../core/time.ts';
import type { MarketValue } from './market-values.ts';

/**
 * One event of a feed: a line "5s 149.5" of a time and a value, or both as a pair. The value of a line is a number,
 * JSON, or plain text. A time is a duration since the start of the run, or an instant: "2026-01-01T00:00:05Z".
 */
export type TimelineEntry = string | readonly [at: string, value: MarketValue];

/** A value of one feed at one instant. */
export interface TimedValue<Target> {
  readonly at: Millis;
  readonly target: Target;
  readonly value: MarketValue;
}

/** Returns the instant of a time in a run that started at `startAt`. Throws TypeError. */
export function instantOf(text: string, startAt: Millis): Millis {
  if (/^\d{4}-\d\d-\d\dT/.test(text)) {
    const at = Date.parse(text);
    if (Number.isFinite(at)) return at;
  }
  return startAt + spanOf(text);
}

/** Returns a duration in milliseconds; "0s" is none. Throws TypeError. */
export function spanOf(text: string): Millis {
  if (/^0(?:ms|[smhd])?$/.test(text)) return 0;
  try {
    return parseDuration(text);
  } catch (error) {
    throw new TypeError(`expected a time such as "10s", "1h30m" or "2026-01-01T00:00:10Z", got "${text}"`, {
      cause: error,
    });
  }
}

/** Returns an instant as a test writes it: "1m30s" since the start. */
export function timeText(at: Millis, startAt: Millis): string {
  return at < startAt ? `-${formatDuration(startAt - at)}` : formatDuration(at - startAt);
}

/** Returns the values of several feeds in order of time; at one instant, in the order in which they are named. */
export function merged<T>(feeds: readonly (readonly TimedValue<T>[])[]): TimedValue<T>[] {
  return feeds.flat().sort((a, b) => a.at - b.at);
}

/** Returns the values that the lines of one feed name. */
export function readEntries<T>(target: T, entries: readonly TimelineEntry[], startAt: Millis): TimedValue<T>[] {
  return entries.map((entry) => {
    if (typeof entry !== 'string') return { at: instantOf(entry[0], startAt), target, value: entry[1] };
    const [, time = '', value] = /^\s*(\S+)\s+(\S.*?)\s*$/s.exec(entry) ?? [];
    if (value === undefined) throw new TypeError(`expected a line such as "5s 149.5", got "${entry}"`);
    return { at: instantOf(time, startAt), target, value: readValue(value) };
  });
}

function readValue(text: string): MarketValue {
  if (/^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/.test(text)) return Number(text);
  if (!/^[[{"]/.test(text)) return text;
  try {
    return JSON.parse(text) as MarketValue;
  } catch (error) {
    throw new TypeError(`expected a number, JSON or plain text as the value of a line, got ${text}`, { cause: error });
  }
}

/** Returns values at equal intervals from an instant on; undefined is an interval without an event. */
export function readSeries(
  target: string, values: readonly (MarketValue | undefined)[], from: Millis, everyMs: Millis,
): TimedValue<string>[] {
  return values.flatMap((value, index) =>
    (value === undefined ? [] : [{ at: from + index * everyMs, target, value }]));
}

/**
 * Returns the values of a marble diagram: each character is one tick, "-" is none, a letter is a value of `values`.
 * Letters in brackets are at the instant of the opening bracket. Spaces align diagrams and take no time.
 */
export function readMarbles(
  target: string, diagram: string, values: Readonly<Record<string, MarketValue>>, from: Millis, tickMs: Millis,
): TimedValue<string>[] {
  const found: TimedValue<string>[] = [];
  let openedAt: Millis | undefined;
  for (const [index, mark] of withoutSpaces(diagram).split('').entries()) {
    const at = openedAt ?? from + index * tickMs;
    if (mark === '-') continue;
    if (mark === '(' && openedAt === undefined) openedAt = at;
    else if (mark === ')' && openedAt !== undefined) openedAt = undefined;
    else if (Object.hasOwn(values, mark)) found.push({ at, target, value: values[mark]! });
    else {
      throw new TypeError(`the diagram "${diagram}" of ${target} has "${mark}": expected "-", brackets, or one of `
        + (Object.keys(values).join(', ') || 'no letter'));
    }
  }
  if (openedAt !== undefined) throw new TypeError(`the diagram "${diagram}" of ${target} has no closing bracket`);
  return found;
}

/** Returns the length of a diagram in ticks. */
export function diagramTicks(diagram: string): number {
  return withoutSpaces(diagram).length;
}

function withoutSpaces(diagram: string): string {
  return diagram.replaceAll(/\s/g, '');
}
