import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRateLimits, type RateLimit } from '../../../../src/sandbox/service/http/rate-limit.ts';

type Counter = ReturnType<typeof createCounter>;

/** Returns the main counter of one key with this limit. */
function createCounter({ kind, requests, windowMs }: Pick<RateLimit, 'kind' | 'requests' | 'windowMs'>) {
  let nowMs = 0;
  const keyed = { kind, requests, windowMs, executeRequests: 1, headers: true };
  const limits = createRateLimits({ keyed, nowMs: () => nowMs });
  return {
    take(time: number) {
      nowMs = time;
      const { headers: _, ...verdict } = limits.take({ key: 'key' }, 'main')!;
      return verdict;
    },
  };
}

/** Returns which of the requests at these times a counter lets in. */
function allowed(counter: Counter, times: readonly number[]): boolean[] {
  return times.map((time) => counter.take(time).allowed);
}

describe('a counter', () => {
  it('of a sliding window frees a place when the request that took it is one window old', () => {
    const counter = createCounter({ kind: 'sliding', requests: 2, windowMs: 100 });
    expect(allowed(counter, [0, 60, 99, 100, 101, 159, 160])).toEqual([true, true, false, true, false, false, true]);
    expect(counter.take(170)).toEqual({ allowed: false, current: 2, remaining: 0, resetAtMs: 200 });
  });

  it('of a fixed window frees all places at its end, and the next one begins with a request', () => {
    const counter = createCounter({ kind: 'fixed', requests: 2, windowMs: 100 });
    expect(allowed(counter, [0, 60, 99, 100, 101, 102, 500])).toEqual([true, true, false, true, true, false, true]);
    expect(counter.take(510)).toEqual({ allowed: true, current: 2, remaining: 0, resetAtMs: 600 });
  });

  it('of a bucket gives a token back at a time', () => {
    const counter = createCounter({ kind: 'bucket', requests: 2, windowMs: 100 });
    expect(allowed(counter, [0, 0, 49, 50, 51, 1_000, 1_000, 1_000]))
      .toEqual([true, true, false, true, false, true, true, false]);
    expect(counter.take(1_010)).toEqual({ allowed: false, current: 2, remaining: 0, resetAtMs: 1_050 });
  });

  it.each(['sliding', 'fixed', 'bucket'] as const)('of kind %s: what it tells is true', (kind) => {
    fc.assert(fc.property(fc.integer({ min: 1, max: 8 }), fc.integer({ min: 10, max: 200 }),
      fc.array(fc.integer({ min: 0, max: 60 }), { maxLength: 60 }), (requests, windowMs, gaps) => {
        const counter = createCounter({ kind, requests, windowMs });
        const accepted: number[] = [];
        let now = 0;
        for (const gap of gaps) {
          now += gap;
          const verdict = counter.take(now);
          expect(verdict.current + verdict.remaining).toBe(requests);
          expect(verdict.remaining).toBeGreaterThanOrEqual(0);
          expect(verdict.resetAtMs).toBeGreaterThan(now);
          if (verdict.allowed) accepted.push(now);
          // Who waits as long as he was told gets in.
          else now = verdict.resetAtMs;
          if (!verdict.allowed) {
            expect(counter.take(now).allowed).toBe(true);
            accepted.push(now);
          }
        }
        const most = Math.max(0, ...accepted.map((start) =>
          accepted.filter((time) => time >= start && time < start + windowMs).length));
        expect(most).toBeLessThanOrEqual(kind === 'sliding' ? requests : 2 * requests);
      }));
  });
});

describe('the counters of strangers', () => {
  it('make room for one another, so that their number is bounded', () => {
    const limit = { kind: 'fixed', requests: 1, windowMs: 1_000, executeRequests: 1, headers: true } as const;
    const limits = createRateLimits({ keyed: limit, nowMs: () => 0 });
    expect(limits.take({ key: 'first' }, 'main')).toMatchObject({ allowed: true });
    expect(limits.take({ key: 'first' }, 'main')).toMatchObject({ allowed: false });
    for (let i = 0; i < 10_000; i++) limits.take({ key: `key ${i}` }, 'main');
    expect(limits.take({ key: 'first' }, 'main')).toMatchObject({ allowed: true });
    expect(limits.take({ address: '127.0.0.1' }, 'main')).toBeUndefined();
  });
});
