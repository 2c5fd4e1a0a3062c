import type { Millis } from '../core/time.ts';

/** What the service says in its headers about the bucket a request was counted in. */
export interface ServerLimits {
  /** Requests left; below zero where more arrived than are allowed. */
  readonly remaining: number | undefined;
  /** How many a window holds in all, of whatever length it is. */
  readonly limit?: number | undefined;
  /** How long until one more request is allowed. */
  readonly resetInMs: Millis | undefined;
}

export type ResponseHeaders = Readonly<Record<string, string | string[] | undefined>>;

// Windows are a minute at most; a longer wait is a wrong clock, theirs or ours.
const LONGEST_WAIT_MS = 65_000;

/**
 * Returns the limits in a response's headers, undefined where there are none.
 * The reset is an absolute time of the service's clock, so it is measured against the service's own `Date` where given.
 */
export function readServerLimits(headers: ResponseHeaders, now: Millis): ServerLimits | undefined {
  const remaining = readNumber(headers['x-ratelimit-remaining']);
  const current = readNumber(headers['x-ratelimit-current']);
  const reset = readNumber(headers['x-ratelimit-reset']);
  const retryAfterSeconds = readNumber(headers['retry-after']);
  if (remaining === undefined && reset === undefined && retryAfterSeconds === undefined) return undefined;
  const resetInMs = reset === undefined ? secondsToMs(retryAfterSeconds) : asEpochMs(reset) - (serverTime(headers['date']) ?? now);
  const limit = remaining === undefined || current === undefined || remaining + current < 1 ? undefined : remaining + current;
  return { remaining, limit, resetInMs: resetInMs === undefined ? undefined : Math.min(Math.max(resetInMs, 0), LONGEST_WAIT_MS) };
}

function readNumber(header: string | string[] | undefined): number | undefined {
  return typeof header === 'string' && /^-?\d{1,15}(\.\d+)?$/.test(header) ? Number(header) : undefined;
}

function secondsToMs(seconds: number | undefined): Millis | undefined {
  return seconds === undefined ? undefined : seconds * 1_000;
}

/** Seconds until the year 5138 are below this bound, milliseconds since 1973 above it. */
function asEpochMs(instant: number): Millis {
  return instant < 100_000_000_000 ? instant * 1_000 : instant;
}

function serverTime(header: string | string[] | undefined): Millis | undefined {
  const time = typeof header === 'string' ? Date.parse(header) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}
