import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { GannetError } from '../../../src/core/errors.ts';
import { seededRandom } from '../../../src/core/random.ts';
import type { Millis } from '../../../src/core/time.ts';
import { VirtualClock } from '../../../src/engine/virtual-clock.ts';
import type { CallOptions, Priority } from '../../../src/service/rate/rate-plan.ts';
import {
  PLAN_NAMES, bucketLimits, requestsPerSecond, scaledLimits, shareOf, watchRequestsPerSecond,
} from '../../../src/service/rate/rate-plan.ts';
import { RateGovernor } from '../../../src/service/rate/rate-governor.ts';
import type { ServerLimits } from '../../../src/service/rate/limit-headers.ts';
import { readServerLimits } from '../../../src/service/rate/limit-headers.ts';
import { createSlidingWindow } from '../../../src/service/rate/sliding-window.ts';
import { MAX_CONNECTIONS } from '../../../src/service/transport.ts';
import type { Limiter } from './simulated-server.ts';
import { fixedWindow, slidingWindow, tokenBucket } from './simulated-server.ts';
import { advance, after, settled } from '../virtual-time.ts';

const START = Date.UTC(2026, 0, 1);
const HOUR = 3_600_000;

function governorOf(clock: VirtualClock, requestsPerSecondAllowed: number, maxInFlight = 32): RateGovernor {
  return new RateGovernor({
    limits: bucketLimits({ requestsPerSecond: requestsPerSecondAllowed }, 'main'), clock, maxInFlight,
  });
}

test('a request that another process sends takes its turn, and its answer is not taken for one', async () => {
  const clock = new VirtualClock(START);
  const governor = governorOf(clock, 1);
  const sentAt: Millis[] = [];
  const order = (): Promise<unknown> =>
    governor.run({ priority: 'exit', send: async () => ({ value: sentAt.push(clock.now() - START) }) });
  const elsewhere = (): Promise<unknown> => governor.run({
    priority: 'exit', isElsewhere: true, send: async () => ({ value: undefined }),
  });
  // The plan allows ten in its window: five of each leave at once, the next order waits.
  for (let n = 0; n < 5; n++) void Promise.all([order(), elsewhere()]);
  void order();
  await settled();
  expect([sentAt.length, governor.stats().sent]).toEqual([5, 10]);
  await advance(clock, 11_000);
  expect(sentAt).toHaveLength(6);
  // After a refusal one request alone tries whether it holds; only an answer that was seen ends that.
  await governor.run({ priority: 'exit', send: () => Promise.reject(new GannetError('SERVICE_RATE_LIMITED', 'no')) })
    .catch(() => undefined);
  await advance(clock, 30_000);
  await elsewhere();
  const waits: string[] = [];
  const slow = governor.run({ priority: 'exit', send: async () => {
    waits.push('first');
    await after(clock, 1_000);
    return { value: undefined };
  } });
  void governor.run({ priority: 'exit', send: async () => ({ value: waits.push('second') }) });
  await settled();
  expect(waits).toEqual(['first']);
  await advance(clock, 1_000);
  await slow;
  await settled();
  expect(waits).toEqual(['first', 'second']);
});

/** A service that answers after a while, whatever comes. */
function answering<T>(clock: VirtualClock, value: T): () => Promise<{ value: T }> {
  return async () => {
    await after(clock, 80);
    return { value };
  };
}

/** Pollers that ask for more than there is, each waiting for its answer before it asks again. */
function flood(
  clock: VirtualClock, governor: RateGovernor, options: { readonly pollers: number; readonly everyMs: Millis },
): void {
  const random = seededRandom('flood');
  for (let n = 0; n < options.pollers; n++) {
    const poll = async (): Promise<void> => {
      for (;;) {
        await governor.run({ priority: 'watch', coalesceKey: `poll-${n}`, send: answering(clock, n) });
        await after(clock, options.everyMs * (0.9 + 0.2 * random()));
      }
    };
    void poll();
  }
}

/** Asks a service that counts with a bucket, again as soon as it has answered. */
async function pollForEver({ clock, governor, bucket, onRefused }: {
  readonly clock: VirtualClock;
  readonly governor: RateGovernor;
  readonly bucket: Limiter;
  readonly onRefused: () => void;
}): Promise<never> {
  for (;;) {
    await governor.run({
      priority: 'watch',
      async send() {
        const isAdmitted = bucket.admits(clock.now());
        await after(clock, 80);
        if (isAdmitted) return { value: 1 };
        onRefused();
        throw refusal();
      },
    }).catch(() => undefined);
  }
}

function refusal(resetInMs?: Millis): GannetError {
  return new GannetError('SERVICE_RATE_LIMITED', 'too many', { details: { status: 429, resetInMs } });
}

async function fail(): Promise<never> {
  throw new GannetError('SERVICE_STATUS', 'no', { details: { status: 500 } });
}

function hang(): Promise<{ value: number }> {
  return new Promise(() => undefined);
}

describe('a sliding window', () => {
  test('frees a place when the oldest request leaves the window', () => {
    const window = createSlidingWindow(100);
    for (const at of [0, 10, 20]) window.record(at);
    expect(window.freeAt(30, 100, 3)).toBe(100);
    expect(window.freeAt(30, 100, 1)).toBe(120);
    expect(window.freeAt(100, 100, 3)).toBe(100);
    expect(window.count(110, 100)).toBe(1);
    expect(window.count(25, 15)).toBe(1);
    expect(window.freeAt(25, 20, 2)).toBe(30);
    expect(window.within(30, 20)).toEqual([20]);
  });

  test('forgets requests that have left the window', () => {
    const window = createSlidingWindow(10);
    for (let at = 0; at < 100_000; at++) window.record(at);
    expect(window.count(100_005, 10)).toBe(4);
    expect(window.count(200_000, 10)).toBe(0);
  });
});

describe('a plan', () => {
  test.each(PLAN_NAMES)('%s is kept within over ten seconds and over sixty', (plan) => {
    for (const bucket of ['main', 'execute'] as const) {
      const { limit, windowMs } = bucketLimits(plan, bucket);
      const rate = requestsPerSecond(plan, bucket);
      expect(limit / windowMs * 1_000).toBeLessThan(rate);
      expect(limit).toBeLessThanOrEqual(rate * 10);
    }
  });

  test('of less than a request in ten seconds allows one request in a longer window', () => {
    expect(bucketLimits({ requestsPerSecond: 0.02 }, 'main')).toEqual({ limit: 1, windowMs: 52_500 });
  });

  test.each(PLAN_NAMES)('%s leaves four fifths to watching, less the safety', (plan) => {
    expect(watchRequestsPerSecond(plan)).toBeCloseTo((0.8 * requestsPerSecond(plan, 'main')) / 1.05);
  });

  test('scaled by a share gives that share of its rate, within a request', () => {
    fc.assert(fc.property(fc.integer({ min: 1, max: 1_500 }), fc.double({ min: 0.02, max: 1, noNaN: true }),
      (limit, share) => {
        const whole = { limit, windowMs: 10_500 };
        const part = scaledLimits(whole, share);
        expect(part.limit / part.windowMs).toBeCloseTo((limit / whole.windowMs) * share);
        expect(Math.abs(part.limit - Math.max(1, limit * share))).toBeLessThanOrEqual(1);
        expect(shareOf(part, 'watch')).toBeLessThanOrEqual(part.limit);
      }));
  });

  test.each([0, -1, Number.NaN, Infinity])('of %d requests a second is refused', (rate) => {
    expect(() => bucketLimits({ requestsPerSecond: rate }, 'main'))
      .toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }));
  });
});

describe('the rate headers', () => {
  const now = 2_000_000_000_000;
  const date = new Date(now).toUTCString();
  test.each<[string, Record<string, string>, ServerLimits | undefined]>([
    ['none', { 'content-type': 'text/plain' }, undefined],
    [
      'in seconds', { 'x-ratelimit-remaining': '3', 'x-ratelimit-reset': '2000000007', date },
      { remaining: 3, resetInMs: 7_000 },
    ],
    [
      'with what is used up', { 'x-ratelimit-remaining': '3', 'x-ratelimit-current': '2' },
      { remaining: 3, limit: 5, resetInMs: undefined },
    ],
    [
      'of a window that holds nothing', { 'x-ratelimit-remaining': '-2', 'x-ratelimit-current': '2' },
      { remaining: -2, limit: undefined, resetInMs: undefined },
    ],
    [
      'in milliseconds', { 'x-ratelimit-remaining': '-2', 'x-ratelimit-reset': '2000000007500', date },
      { remaining: -2, resetInMs: 7_500 },
    ],
    ['without the service\'s time', { 'x-ratelimit-reset': '2000000007' }, { remaining: undefined, resetInMs: 7_000 }],
    ['of a service whose clock is an hour fast', {
      'x-ratelimit-reset': '2000003605', date: new Date(now + HOUR).toUTCString(),
    }, { remaining: undefined, resetInMs: 5_000 }],
    ['in the past', { 'x-ratelimit-reset': '1999999990', date }, { remaining: undefined, resetInMs: 0 }],
    [
      'by a clock that is wrong', { 'x-ratelimit-reset': '2000003605', 'x-ratelimit-remaining': '1' },
      { remaining: 1, resetInMs: undefined },
    ],
    ['nonsense', { 'x-ratelimit-remaining': 'many', 'x-ratelimit-reset': 'soon' }, undefined],
    ['as a wait', { 'retry-after': '4' }, { remaining: undefined, resetInMs: 4_000 }],
    ['as a long wait', { 'retry-after': '3600' }, { remaining: undefined, resetInMs: 65_000 }],
    [
      'as a wait beside a clock that is wrong', { 'retry-after': '4', 'x-ratelimit-reset': '2999999990', date },
      { remaining: undefined, resetInMs: 4_000 },
    ],
  ])('%s are read', (_name, headers, expected) => {
    expect(readServerLimits(headers, now)).toEqual(expected);
  });
});

describe('the governor', () => {
  test('sends at once while there is room, and then at the pace of the plan', async () => {
    const clock = new VirtualClock(START);
    const governor = governorOf(clock, 1);
    const sentAt: Millis[] = [];
    for (let n = 0; n < 30; n++) {
      void governor.run({ priority: 'exit', send: async () => ({ value: sentAt.push(clock.now() - START) }) })
        .catch(() => undefined);
    }
    await advance(clock, 14_000);
    expect(sentAt.filter((at) => at === 0)).toHaveLength(10);
    expect(sentAt.filter((at) => at === 10_500)).toHaveLength(10);
    expect(sentAt).toHaveLength(20);
  });

  test('spreads watching, so that it does not come in bursts', async () => {
    const clock = new VirtualClock(START);
    const governor = governorOf(clock, 1);
    const sentAt: Millis[] = [];
    for (let n = 0; n < 40; n++)
      void governor.run({ priority: 'watch', send: async () => ({ value: sentAt.push(clock.now() - START) }) });
    await advance(clock, 40_000);
    expect(sentAt.filter((at) => at === 0).length).toBe(4);
    const gaps = sentAt.slice(12).map((at, i) => at - sentAt[i + 11]!);
    expect(Math.max(...gaps)).toBeLessThan(2_000);
    expect(Math.min(...gaps)).toBeGreaterThan(1_000);
  });

  test('lets the more urgent go first, each kind in its own order', async () => {
    const clock = new VirtualClock(START);
    const governor = governorOf(clock, 1);
    const order: string[] = [];
    const ask = (name: string, priority: Priority): void =>
      void governor.run({ priority, send: async () => ({ value: order.push(name) }) });
    for (let n = 0; n < 10; n++) ask('full', 'execute');
    await settled();
    order.length = 0;
    for (const [name, priority] of [
      ['w1', 'watch'], ['n1', 'entry'], ['w2', 'watch'], ['x1', 'exit'], ['n2', 'entry'], ['e1', 'execute'],
      ['x2', 'exit'],
    ] as const) ask(name, priority);
    expect(order).toEqual([]);
    await advance(clock, 12_000);
    expect(order).toEqual(['e1', 'x1', 'x2', 'n1', 'n2', 'w1', 'w2']);
  });

  test('keeps headroom for exits while watching floods', async () => {
    const clock = new VirtualClock(START);
    const governor = governorOf(clock, 1);
    flood(clock, governor, { pollers: 30, everyMs: 1_000 });
    await advance(clock, 60_000);
    const waits: Millis[] = [];
    for (let n = 0; n < 100; n++) {
      const askedAt = clock.now();
      await Promise.all([
        governor.run({ priority: 'exit', send: async () => ({ value: waits.push(clock.now() - askedAt) }) }),
        advance(clock, 30_000),
      ]);
    }
    expect(waits).toHaveLength(100);
    expect(Math.max(...waits)).toBe(0);
  });

  test('rejects an order that would be sent too late', async () => {
    const clock = new VirtualClock(START);
    const governor = governorOf(clock, 0.02);
    await governor.run({ send: async () => ({ value: 1 }) });
    const late = governor.run({ priority: 'entry', send: async () => ({ value: 2 }) })
      .catch((thrown: unknown) => thrown);
    await advance(clock, 15_000);
    expect(await late).toMatchObject({ code: 'SERVICE_RATE_LIMITED' });
    expect(governor.stats().queued).toBe(0);
  });

  test('sends identical requests once, with the most urgent priority of their callers', async () => {
    const clock = new VirtualClock(START);
    const governor = governorOf(clock, 0.1);
    const sent: string[] = [];
    const ask = (name: string, priority: Priority): Promise<number> =>
      governor.run({ priority, coalesceKey: name, send: async () => ({ value: sent.push(name) }) });
    await ask('a', 'watch');
    const waiting = [ask('b', 'watch'), ask('c', 'watch'), ask('c', 'exit')];
    await advance(clock, 21_000);
    expect(sent).toEqual(['a', 'c', 'b']);
    expect(await Promise.all(waiting)).toEqual([3, 2, 2]);
    expect(governor.stats()).toMatchObject({ sent: 3, coalesced: 1, queued: 0, inFlight: 0 });
  });

  test('rejects all callers of a shared request that fails', async () => {
    const governor = governorOf(new VirtualClock(START), 10);
    const results = await Promise.allSettled([
      governor.run({ coalesceKey: 'k', send: fail }), governor.run({ coalesceKey: 'k', send: fail }),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(governor.stats().sent).toBe(1);
  });

  test('aborts a shared request when its last caller gives up, not its first', async () => {
    const clock = new VirtualClock(START);
    const governor = governorOf(clock, 10);
    let aborted = false;
    const send = (signal: AbortSignal): Promise<{ value: string }> => new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => {
        aborted = true;
        reject(signal.reason as Error);
      });
    });
    const [one, two] = [new AbortController(), new AbortController()];
    const asked = [one, two]
      .map(({ signal }) => governor.run({ coalesceKey: 'k', signal, send }).catch((reason: unknown) => reason));
    one.abort('gone');
    expect(await asked[0]).toBe('gone');
    expect(aborted).toBe(false);
    two.abort('gone too');
    expect(await asked[1]).toBe('gone too');
    expect(aborted).toBe(true);
    await settled();
    expect(governor.stats()).toMatchObject({ inFlight: 0, queued: 0 });
    await expect(governor.run({ signal: one.signal, send })).rejects.toBe('gone');
  });

  test('removes a request without callers from the queue', async () => {
    const clock = new VirtualClock(START);
    const governor = governorOf(clock, 0.1);
    await governor.run({ send: async () => ({ value: 1 }) });
    const abort = new AbortController();
    const waiting = governor.run({ priority: 'watch', signal: abort.signal, send: async () => ({ value: 2 }) })
      .catch((reason: unknown) => reason);
    abort.abort('enough');
    expect(await waiting).toBe('enough');
    await advance(clock, 60_000);
    expect(governor.stats()).toMatchObject({ sent: 1, queued: 0 });
  });

  test('keeps places in flight for requests that are more urgent than watching', async () => {
    const clock = new VirtualClock(START);
    const governor = governorOf(clock, 1_000, 8);
    for (let n = 0; n < 20; n++) void governor.run({ priority: 'watch', send: hang });
    expect(governor.stats()).toMatchObject({ inFlight: 6, queued: 14 });
    for (let n = 0; n < 2; n++) void governor.run({ priority: 'exit', send: hang });
    expect(governor.stats().inFlight).toBe(8);
  });

  test('reaches the rate of the largest plan with slow answers', async () => {
    const clock = new VirtualClock(START);
    const governor =
      new RateGovernor({ limits: bucketLimits('pro', 'main'), clock, maxInFlight: MAX_CONNECTIONS.main });
    for (let n = 0; n < 100; n++) {
      const poll = async (): Promise<void> => {
        for (;;) {
          await governor.run({
            priority: 'watch',
            async send() {
              await after(clock, 400);
              return { value: 1 };
            },
          });
        }
      };
      void poll();
    }
    await advance(clock, 30_000);
    expect(governor.stats().sent / 30).toBeGreaterThan(0.98 * watchRequestsPerSecond('pro'));
  });

  test('paces by the remaining requests in the headers, and keeps the last ones for orders', async () => {
    const clock = new VirtualClock(START);
    const governor = governorOf(clock, 10);
    const ask = (call: CallOptions, limits?: ServerLimits): Promise<Millis> =>
      governor.run({ ...call, send: async () => ({ value: clock.now() - START, limits }) });
    await ask({ priority: 'watch' }, { remaining: 2, resetInMs: 4_000 });
    const watching = ask({ priority: 'watch' });
    expect(await Promise.all([ask({ priority: 'exit' }), ask({ priority: 'exit' })])).toEqual([0, 0]);
    const third = ask({ priority: 'exit' });
    await advance(clock, 30_000);
    expect(await third).toBe(4_000);
    expect(await watching).toBeGreaterThan(4_000);
  });

  test('sends a signed transaction whatever the headers say, which may be wrong or another bucket\'s', async () => {
    const clock = new VirtualClock(START);
    const governor = governorOf(clock, 20);
    const leftAt: Millis[] = [];
    for (let n = 0; n < 3; n++) {
      void governor.run({ priority: 'execute', send: async () =>
        ({ value: leftAt.push(clock.now() - START), limits: { remaining: -1, resetInMs: 60_000 } }) });
      await advance(clock, 100);
    }
    expect(leftAt).toEqual([0, 100, 200]);
  });

  test('pauses after a refusal until the service allows requests, and then tries with a single one', async () => {
    const clock = new VirtualClock(START);
    const governor = governorOf(clock, 100);
    const sentAt: Millis[] = [];
    let refusing = true;
    const send = async (): Promise<{ value: number }> => {
      sentAt.push(clock.now() - START);
      await after(clock, 100);
      if (refusing) throw refusal(3_000);
      return { value: 1 };
    };
    const asked = Array.from({ length: 20 }, () => governor.run({ priority: 'exit', send }).catch(() => undefined));
    await advance(clock, 200);
    expect(sentAt).toHaveLength(20);
    await Promise.all(asked);
    expect(governor.stats()).toMatchObject({ refused: 20, coolDownUntil: START + 4_100 });
    for (let n = 0; n < 20; n++) void governor.run({ priority: 'exit', send }).catch(() => undefined);
    await advance(clock, 4_000);
    expect(sentAt.slice(20)).toEqual([4_100]);
    refusing = false;
    await advance(clock, 10_000);
    expect(sentAt.slice(20, 23)).toEqual([4_100, 8_200, 8_300]);
    expect(governor.stats().queued).toBe(0);
  });

  test('waits longer with every refusal where the service gives no time, and no longer than a minute', async () => {
    const clock = new VirtualClock(START);
    const governor = governorOf(clock, 1);
    const sentAt: Millis[] = [];
    const poll = async (): Promise<void> => {
      for (;;) {
        await governor.run({
          priority: 'watch',
          async send() {
            sentAt.push(clock.now());
            throw refusal();
          },
        }).catch(() => undefined);
      }
    };
    void poll();
    await advance(clock, HOUR);
    const gaps = sentAt.slice(1).map((at, i) => at - sentAt[i]!);
    expect(gaps.slice(0, 4)).toEqual([4_200, 8_400, 16_800, 33_600]);
    expect(gaps.at(-1)).toBe(60_000);
    expect(sentAt.length).toBeLessThan(70);
  });

  test('tells each caller when the request leaves, and a caller that joins later at once', async () => {
    const clock = new VirtualClock(START);
    const governor = governorOf(clock, 0.1);
    const started: string[] = [];
    const ask = (name: string, call: CallOptions = {}): void => void governor.run({
      ...call, coalesceKey: name.slice(0, 1), send: hang, onStart: () => started.push(`${name} ${clock.now() - START}`),
    });
    ask('a');
    ask('a, joining');
    ask('b', { priority: 'watch' });
    ask('b, joining', { priority: 'exit' });
    expect(started).toEqual(['a 0', 'a, joining 0']);
    await advance(clock, 10_500);
    expect(started.slice(2)).toEqual(['b 10500', 'b, joining 10500']);
  });

  test('starts with one burst, and never bursts again after an idle time', async () => {
    const clock = new VirtualClock(START);
    const governor = governorOf(clock, 10);
    const sentAt: Millis[] = [];
    const askForMany = async (): Promise<void> => {
      for (let n = 0; n < 60; n++)
        void governor.run({ priority: 'watch', send: async () => ({ value: sentAt.push(clock.now()) }) });
      await advance(clock, 60_000);
    };
    await askForMany();
    expect(sentAt.filter((at) => at === START)).toHaveLength(40);
    clock.jumpTo(START + 9 * HOUR);
    sentAt.length = 0;
    await askForMany();
    const gaps = sentAt.slice(1).map((at, i) => at - sentAt[i]!);
    expect(gaps).toHaveLength(59);
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(131 - 50);
  });

  test('makes up for late timers, but not for a stall', async () => {
    const clock = new VirtualClock(START);
    const late = Object.assign(Object.create(clock) as VirtualClock, {
      now: () => clock.now(),
      schedule: (work: () => void, delay: number) => clock.schedule(work, delay + 3),
    });
    const governor = governorOf(late, 100);
    let sent = 0;
    const poll = async (): Promise<void> => {
      for (;;) await governor.run({ priority: 'watch', send: async () => ({ value: (sent += 1) }) });
    };
    void poll();
    await advance(clock, 60_000);
    const before = sent;
    await advance(clock, 60_000);
    expect((sent - before) / 60).toBeGreaterThan(0.99 * watchRequestsPerSecond({ requestsPerSecond: 100 }));
    expect((sent - before) / 60).toBeLessThan(1.01 * watchRequestsPerSecond({ requestsPerSecond: 100 }));
  });

  test('lets an exit try two seconds after a refusal without a time, and watching later', async () => {
    const clock = new VirtualClock(START);
    const governor = governorOf(clock, 1);
    await governor.run({ send: () => Promise.reject(refusal()) }).catch(() => undefined);
    const leftAt: Record<string, Millis> = {};
    for (const priority of ['watch', 'exit'] as const) {
      void governor.run({
        priority, send: answering(clock, 1), onStart: () => (leftAt[priority] = clock.now() - START),
      });
    }
    await advance(clock, 10_000);
    expect(leftAt).toEqual({ exit: 2_000, watch: 4_200 });
  });

  test('sends a signed transaction beside a slow answer, even after a refusal', async () => {
    const clock = new VirtualClock(START);
    const governor = governorOf(clock, 100);
    await governor.run({ priority: 'execute', send: () => Promise.reject(refusal()) }).catch(() => undefined);
    for (let n = 0; n < 3; n++) void governor.run({ priority: 'execute', send: hang });
    await advance(clock, 2_000);
    expect(governor.stats()).toMatchObject({ inFlight: 3, queued: 0 });
  });

  test('does not lower the rate after a refusal of the quick start', async () => {
    const clock = new VirtualClock(START);
    const governor = governorOf(clock, 10);
    const bucket = tokenBucket(10, 10);
    let refused = 0;
    for (let n = 0; n < 40; n++) void pollForEver({ clock, governor, bucket, onRefused: () => { refused += 1; } });
    await advance(clock, HOUR / 4);
    expect(refused).toBeGreaterThan(0);
    expect(refused).toBeLessThanOrEqual(30);
    expect(governor.stats().requestsPerSecond).toBeCloseTo(10 / 1.05);
  });

  test('learns the rate of a service that counts by the minute alone', async () => {
    const clock = new VirtualClock(START);
    const governor = governorOf(clock, 1);
    const window = slidingWindow(36, 60_000);
    const poll = async (): Promise<void> => {
      for (;;) {
        await governor.run({
          priority: 'watch',
          async send() {
            if (window.admits(clock.now())) return { value: 1 };
            throw refusal();
          },
        }).catch(() => undefined);
        await after(clock, 100);
      }
    };
    void poll();
    while (governor.stats().refused === 0) await advance(clock, 1_000);
    expect(clock.now()).toBeGreaterThan(START + 40_000);
    // One refusal may be an incident.
    expect(governor.stats().requestsPerSecond).toBeCloseTo(1 / 1.05, 2);
    await advance(clock, HOUR / 4);
    expect(governor.stats().requestsPerSecond).toBeLessThan(0.63);
    expect(governor.stats().requestsPerSecond).toBeGreaterThan(0.5);
  });

  test('learns a rate of less than a request in ten seconds', async () => {
    const clock = new VirtualClock(START);
    const governor = governorOf(clock, 0.5);
    const bucket = tokenBucket(1, 0.06);
    const refusedAt: Millis[] = [];
    void pollForEver({ clock, governor, bucket, onRefused: () => { refusedAt.push(clock.now() - START); } });
    await advance(clock, 12 * HOUR);
    const perHour = Array.from({ length: 11 }, (_, n) =>
      refusedAt.filter((at) => at >= (n + 1) * HOUR && at < (n + 2) * HOUR).length);
    expect(Math.max(...perHour)).toBeLessThanOrEqual(1);
    expect(governor.stats().sent).toBeGreaterThan(0.6 * 0.06 * 12 * 3_600);
  });

  test('keeps its rate although the service refuses everything for a minute now and then', async () => {
    const clock = new VirtualClock(START);
    const governor = governorOf(clock, 0.5);
    const poll = async (): Promise<void> => {
      for (;;) {
        await governor.run({
          priority: 'watch',
          async send() {
            await after(clock, 80);
            if ((clock.now() - START) % (2 * HOUR) > 2 * HOUR - 60_000) throw refusal();
            return { value: 1 };
          },
        }).catch(() => undefined);
      }
    };
    void poll();
    await advance(clock, 24 * HOUR);
    expect(governor.stats().refused).toBeLessThan(12 * 5);
    expect(governor.stats().sent / 86_400).toBeGreaterThan(0.95 * watchRequestsPerSecond('keyless'));
  });

  test('spreads watching over the minute where the headers would make it pause', async () => {
    const clock = new VirtualClock(START);
    const governor = governorOf(clock, 1);
    const window = fixedWindow(36, 60_000, 0);
    const sentAt: Millis[] = [];
    const send = async (): Promise<{ value: number; limits: ServerLimits }> => {
      sentAt.push(clock.now());
      expect(window.admits(clock.now())).toBe(true);
      await after(clock, 80);
      return { value: 1, limits: {
        remaining: window.remaining(clock.now()), limit: 36, resetInMs: window.freeAt(clock.now()) - clock.now(),
      } };
    };
    const poll = async (): Promise<void> => {
      for (;;) await governor.run({ priority: 'watch', send });
    };
    for (let n = 0; n < 5; n++) void poll();
    await advance(clock, HOUR);
    const gaps = sentAt.slice(1).map((at, i) => at - sentAt[i]!);
    // The first minute is sent at the plan's pace until the headers stop it.
    expect(Math.max(...gaps.slice(0, 60))).toBeGreaterThan(10_000);
    expect(Math.max(...gaps.slice(60))).toBeLessThan(5_000);
    expect(sentAt.length).toBeGreaterThan(0.65 * 36 * 60);
  });

  test('reports the rate that it allows', async () => {
    const clock = new VirtualClock(START);
    const governor = governorOf(clock, 1);
    expect(governor.stats().requestsPerSecond).toBeCloseTo(1 / 1.05);
    for (let times = 0; times < 2; times++) {
      for (let n = 0; n < 5; n++) {
        await governor.run({ send: async () => ({ value: 1 }) });
        await advance(clock, 2_000);
      }
      await governor.run({ send: () => Promise.reject(refusal()) }).catch(() => undefined);
      await advance(clock, 5_000);
    }
    expect(governor.stats().requestsPerSecond).toBeLessThan(0.5);
    expect(governor.stats().requestsPerSecond).toBeGreaterThan(0.3);
  });

  test('rejects everything once it is closed, and sends nothing more', async () => {
    const clock = new VirtualClock(START);
    const governor = governorOf(clock, 0.1);
    const asked = Array.from({ length: 3 }, () => governor.run<number>({ send: (signal) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))) }));
    governor.close();
    const results = await Promise.allSettled([...asked, governor.run({ send: async () => ({ value: 1 }) })]);
    expect(results.map((result) => (result as PromiseRejectedResult).reason))
      .toEqual(Array(4).fill(expect.objectContaining({ code: 'SERVICE_UNREACHABLE' })));
    await advance(clock, HOUR);
    expect(governor.stats()).toMatchObject({ sent: 1, queued: 0, inFlight: 0 });
  });
});
