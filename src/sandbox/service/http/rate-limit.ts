import { GannetError } from '../../../core/errors.ts';

/** The caller of a request: a key, or the address of a request without one. */
export type Caller = { readonly key: string } | { readonly address: string };

/** The counters of all callers. */
export interface RateLimits {
  /** Counts a request. Returns undefined where nothing limits this caller. */
  take(caller: Caller, bucket: 'main' | 'execute'): (Verdict & { readonly headers: boolean }) | undefined;
}

/** The limit of counters, since a client may send a new key with every request; the oldest are dropped. */
const MOST_COUNTERS = 10_000;

/** Returns the counters of a service; an absent limit is no limit. */
export function createRateLimits(options: {
  readonly keyed?: RateLimit | undefined;
  readonly keyless?: RateLimit | undefined;
  /** Real time; its offset decides the reset times in the answers. */
  readonly nowMs: () => number;
}): RateLimits {
  const counters = new Map<string, Counter>();
  return {
    take(caller, bucket) {
      const limit = 'key' in caller ? options.keyed : options.keyless;
      if (limit === undefined) return undefined;
      const name = `${bucket} ${'key' in caller ? `key ${caller.key}` : caller.address}`;
      const counter = counters.get(name)
        ?? createCounter({ ...limit, requests: bucket === 'main' ? limit.requests : limit.executeRequests });
      if (!counters.has(name) && counters.size >= MOST_COUNTERS) counters.delete(counters.keys().next().value!);
      counters.set(name, counter);
      return { ...counter.take(options.nowMs()), headers: limit.headers };
    },
  };
}

/** How a service counts: in a sliding window, in fixed windows that begin with a request, or by tokens of a bucket. */
const LIMIT_KINDS = ['sliding', 'fixed', 'bucket'] as const;
type LimitKind = (typeof LIMIT_KINDS)[number];

/** The limit of one key, in real time; the speed of slots does not matter. */
export interface RateLimit {
  readonly kind: LimitKind;
  /** Requests per window, of all endpoints but `/execute`. */
  readonly requests: number;
  readonly windowMs: number;
  /** Requests per window to `/execute`, counted apart. */
  readonly executeRequests: number;
  /** Whether answers tell the state of the limit. */
  readonly headers: boolean;
}

/** A counter's decision on one request, with the figures for the headers. */
interface Verdict {
  readonly allowed: boolean;
  /** Requests that count now; one that is refused does not. */
  readonly current: number;
  /** The requests that are left. */
  readonly remaining: number;
  /** When the next place becomes free, in milliseconds of the clock that was handed in. */
  readonly resetAtMs: number;
}

/** Counts the requests of one key. */
interface Counter {
  take(nowMs: number): Verdict;
}

/** Throws CONFIG_INVALID on an invalid limit. */
export function requireRateLimit(limit: RateLimit): void {
  const { kind, requests, windowMs, executeRequests } = limit;
  if (!LIMIT_KINDS.includes(kind)) throw new GannetError(
    'CONFIG_INVALID', `rateLimit.kind: expected one of ${LIMIT_KINDS.join(', ')}, got ${JSON.stringify(kind)}`,
  );
  for (const [name, value] of Object.entries({ requests, windowMs, executeRequests })) {
    if (!Number.isInteger(value) || value < 1 || value > 86_400_000) {
      throw new GannetError(
        'CONFIG_INVALID', `rateLimit.${name}: expected a whole number of 1 to 86400000, got ${value}`,
      );
    }
  }
}

/** Returns a counter of a limit of `requests` per `windowMs`. */
function createCounter(
  limit: { readonly kind: LimitKind; readonly requests: number; readonly windowMs: number },
): Counter {
  const create = { sliding: slidingCounter, fixed: fixedCounter, bucket: bucketCounter }[limit.kind];
  return create(limit);
}

type Window = { readonly requests: number; readonly windowMs: number };

function slidingCounter({ requests, windowMs }: Window): Counter {
  const times: number[] = [];
  return {
    take(nowMs) {
      const firstWithin = times.findIndex((time) => time > nowMs - windowMs);
      times.splice(0, firstWithin < 0 ? times.length : firstWithin);
      const allowed = times.length < requests;
      if (allowed) times.push(nowMs);
      return { allowed, current: times.length, remaining: requests - times.length, resetAtMs: times[0]! + windowMs };
    },
  };
}

function fixedCounter({ requests, windowMs }: Window): Counter {
  let startedAtMs = Number.NEGATIVE_INFINITY;
  let current = 0;
  return {
    take(nowMs) {
      if (nowMs >= startedAtMs + windowMs) [startedAtMs, current] = [nowMs, 0];
      const allowed = current < requests;
      if (allowed) current += 1;
      return { allowed, current, remaining: requests - current, resetAtMs: startedAtMs + windowMs };
    },
  };
}

/**
 * In whole numbers: a token is worth `windowMs`, and each millisecond brings `requests` of that; thirds of a token
 * would never add up.
 */
function bucketCounter({ requests, windowMs }: Window): Counter {
  let worth = requests * windowMs;
  let filledAtMs: number | undefined;
  return {
    take(now) {
      const nowMs = Math.floor(now);
      if (filledAtMs !== undefined) worth = Math.min(requests * windowMs, worth + (nowMs - filledAtMs) * requests);
      filledAtMs = nowMs;
      const allowed = worth >= windowMs;
      if (allowed) worth -= windowMs;
      const remaining = Math.floor(worth / windowMs);
      return { allowed, current: requests - remaining, remaining, resetAtMs: nowMs
        + Math.ceil(((remaining + 1) * windowMs - worth) / requests) };
    },
  };
}
