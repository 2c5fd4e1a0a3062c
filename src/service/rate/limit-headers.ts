import type { Millis } from '../../core/time.ts';

/** The limits of the bucket of a request, as the service states them in its headers. */
export interface ServerLimits {
  /** Requests left; below zero where more arrived than are allowed. */
  readonly remaining: number | undefined;
  /** How many a window holds in all, of whatever length it is. */
  readonly limit?: number | undefined;
  /** How long until one more request is allowed. */
  readonly resetInMs: Millis | undefined;
}

type ResponseHeaders = Readonly<Record<string, string | string[] | undefined>>;

// Windows are a minute at most.
const LONGEST_WAIT_MS = 65_000;

/**
 * Returns the limits in a response's headers, undefined where there are none.
 * The reset is an absolute time of the service's clock, so it is measured against the service's own `Date` where given.
 */
export function readServerLimits(headers: ResponseHeaders, now: Millis): ServerLimits | undefined {
  const remaining = readNumber(headers['x-ratelimit-remaining']);
  const current = readNumber(headers['x-ratelimit-current']);
  const reset = readNumber(headers['x-ratelimit-reset']);
  const retryAfterMs = readRetryAfter(headers, now);
  if (remaining === undefined && reset === undefined && retryAfterMs === undefined) return undefined;
  const limit = remaining === undefined || current === undefined || remaining + current < 1 ? undefined
    : remaining + current;
  const untilResetMs = reset === undefined ? undefined
    : waitUntil(asEpochMs(reset), serverTime(headers['date']) ?? now);
  return { remaining, limit, resetInMs: untilResetMs ?? retryAfterMs };
}

/** Retry-After is a number of seconds, or a date by the service's clock. */
function readRetryAfter(headers: ResponseHeaders, now: Millis): Millis | undefined {
  const seconds = readNumber(headers['retry-after']);
  const date = seconds === undefined ? serverTime(headers['retry-after']) : undefined;
  const waitMs = seconds === undefined ? date === undefined ? undefined : date - (serverTime(headers['date']) ?? now)
    : seconds * 1_000;
  return waitMs === undefined ? undefined : Math.min(Math.max(waitMs, 0), LONGEST_WAIT_MS);
}

/**
 * Returns undefined where an instant is too far away to be true: one of the two clocks is wrong, and it tells nothing.
 */
function waitUntil(instant: Millis, now: Millis): Millis | undefined {
  return instant - now > LONGEST_WAIT_MS ? undefined : Math.max(instant - now, 0);
}

function readNumber(header: string | string[] | undefined): number | undefined {
  return typeof header === 'string' && /^-?\d{1,15}(\.\d+)?$/.test(header) ? Number(header) : undefined;
}

/** Seconds until the year 5138 are below this bound, milliseconds since 1973 above it. */
function asEpochMs(instant: number): Millis {
  return instant < 100_000_000_000 ? instant * 1_000 : instant;
}

/** Returns the time in a Date header, undefined where there is none. */
export function serverTime(header: string | string[] | undefined): Millis | undefined {
  const time = typeof header === 'string' ? Date.parse(header) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}
