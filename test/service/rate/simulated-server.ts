import { GannetError } from '../../../src/core/errors.ts';
import type { Millis } from '../../../src/core/time.ts';
import type { VirtualClock } from '../../../src/engine/virtual-clock.ts';
import type { Bucket } from '../../../src/service/rate/rate-plan.ts';
import { readServerLimits } from '../../../src/service/rate/limit-headers.ts';
import type { HttpRequest, Transport } from '../../../src/service/transport.ts';

/** How a service counts one bucket. */
export interface Limiter {
  /** Counts a request that arrives; returns whether it is let in. A refused one does not count. */
  admits(now: Millis): boolean;
  readonly limit: number;
  remaining(now: Millis): number;
  /** When one more request is let in. */
  freeAt(now: Millis): Millis;
}

/** Returns a limiter that counts over a window that ends at each request. */
export function slidingWindow(limit: number, windowMs: Millis): Limiter {
  const accepted: Millis[] = [];
  const forget = (now: Millis): void => {
    while (accepted.length > 0 && accepted[0]! <= now - windowMs) accepted.shift();
  };
  return {
    limit,
    admits(now) {
      forget(now);
      if (accepted.length >= limit) return false;
      accepted.push(now);
      return true;
    },
    remaining: () => limit - accepted.length,
    freeAt: (now) => (accepted[0] ?? now) + windowMs,
  };
}

/**
 * Returns a limiter whose windows follow one another, the first beginning at `offsetMs` past a multiple of their
 * length.
 */
export function fixedWindow(limit: number, windowMs: Millis, offsetMs: Millis): Limiter {
  const windowOf = (now: Millis): number => Math.floor((now - offsetMs) / windowMs);
  let [current, used] = [0, 0];
  return {
    limit,
    admits(now) {
      if (windowOf(now) !== current) [current, used] = [windowOf(now), 0];
      if (used >= limit) return false;
      used += 1;
      return true;
    },
    remaining: () => limit - used,
    freeAt: (now) => (windowOf(now) + 1) * windowMs + offsetMs,
  };
}

/** Returns a limiter that lets in what it has tokens for, and gains them steadily up to its capacity. */
export function tokenBucket(capacity: number, perSecond: number): Limiter {
  let [tokens, at] = [capacity, 0];
  return {
    limit: capacity,
    admits(now) {
      tokens = Math.min(capacity, tokens + ((now - at) / 1_000) * perSecond);
      at = now;
      if (tokens < 1) return false;
      tokens -= 1;
      return true;
    },
    remaining: () => Math.floor(tokens),
    freeAt: (now) => now + Math.max(0, ((1 - tokens) / perSecond) * 1_000),
  };
}

/** A service that answers every question the same after a while, and refuses what its limiters do. */
export interface SimulatedServer extends Transport {
  readonly arrived: { readonly bucket: Bucket; readonly at: Millis; readonly body: string | undefined }[];
  /** When requests of the main bucket were refused. */
  readonly refusedAt: Millis[];
}

/** Returns a simulated service at the place of the transport. */
export function simulateServer({ clock, limiters, headers, answer, latencyMs = 80 }: {
  readonly clock: VirtualClock;
  readonly limiters: Readonly<Record<Bucket, Limiter>>;
  /** Whether its answers tell of the rate. */
  readonly headers: boolean;
  readonly answer: string;
  readonly latencyMs?: Millis;
}): SimulatedServer {
  const arrived: SimulatedServer['arrived'] = [];
  const refusedAt: Millis[] = [];

  function limitsOf(limiter: Limiter): ReturnType<typeof readServerLimits> {
    const now = clock.now();
    return headers ? readServerLimits({
      'x-ratelimit-remaining': String(limiter.remaining(now)),
      'x-ratelimit-current': String(limiter.limit - limiter.remaining(now)),
      'x-ratelimit-reset': String(Math.floor(limiter.freeAt(now) / 1_000)),
      date: new Date(now).toUTCString(),
    }, now) : undefined;
  }

  return {
    arrived, refusedAt,
    send({ bucket, body }: HttpRequest, signal) {
      const now = clock.now();
      arrived.push({ bucket, at: now, body });
      const limiter = limiters[bucket];
      const isAdmitted = limiter.admits(now);
      const limits = limitsOf(limiter);
      if (!isAdmitted && bucket === 'main') refusedAt.push(now);
      const { promise, resolve, reject } = Promise.withResolvers<Awaited<ReturnType<Transport['send']>>>();
      const timer = clock.schedule(() => {
        if (isAdmitted) resolve({ json: JSON.parse(answer), text: answer, limits });
        else reject(new GannetError(
          'SERVICE_RATE_LIMITED', 'too many requests', { details: { status: 429, resetInMs: limits?.resetInMs } },
        ));
      }, latencyMs);
      signal.addEventListener('abort', () => {
        timer.unsubscribe();
        reject(signal.reason as Error);
      }, { once: true });
      return promise;
    },
    close: async () => undefined,
  };
}
