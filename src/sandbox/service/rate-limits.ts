import { createCounter, type Counter, type RateLimit, type Verdict } from './rate-limit.ts';

/** What the gateway knows of who asks: a key, or where a request without one came from. */
export type Caller = { readonly key: string } | { readonly address: string };

/** The counters of all callers. */
export interface RateLimits {
  /** Counts a request. Returns undefined where nothing limits this caller. */
  take(caller: Caller, bucket: 'main' | 'execute'): (Verdict & { readonly headers: boolean }) | undefined;
}

/** A stranger may send a new key with every request; the oldest counters make room. */
const MOST_COUNTERS = 10_000;

/** Returns the counters of a service; what is absent limits nobody. */
export function createRateLimits(options: {
  readonly keyed?: RateLimit | undefined;
  readonly keyless?: RateLimit | undefined;
  /** Real time; its offset decides what the answers call the time of a free place. */
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
