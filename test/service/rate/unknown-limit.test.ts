import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { GannetError } from '../../../src/core/errors.ts';
import type { Millis } from '../../../src/core/time.ts';
import { VirtualClock } from '../../../src/engine/virtual-clock.ts';
import { RateGovernor } from '../../../src/service/rate/rate-governor.ts';
import { bucketLimits } from '../../../src/service/rate/rate-plan.ts';
import type { Limiter } from './simulated-server.ts';
import { fixedWindow, slidingWindow, tokenBucket } from './simulated-server.ts';
import { after, settled } from '../virtual-time.ts';

const START = Date.UTC(2026, 0, 1) + 12_345;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

interface Polled {
  readonly governor: RateGovernor;
  readonly clock: VirtualClock;
  /** When requests were admitted and refused, from the start. */
  readonly admittedAt: readonly Millis[];
  readonly refusedAt: readonly Millis[];
  until(at: Millis): Promise<void>;
}

/** Polls a service without rate headers for as much as the plan allows, in virtual time. */
function poll({ plan, admits, retryAfterMs, pollers = 40 }: {
  readonly plan: number;
  readonly admits: (now: Millis) => boolean;
  readonly retryAfterMs?: Millis;
  readonly pollers?: number;
}): Polled {
  const clock = new VirtualClock(START);
  const governor =
    new RateGovernor({ limits: bucketLimits({ requestsPerSecond: plan }, 'main'), clock, maxInFlight: 64 });
  const admittedAt: Millis[] = [];
  const refusedAt: Millis[] = [];
  const send = async (): Promise<{ value: number }> => {
    const isAdmitted = admits(clock.now());
    (isAdmitted ? admittedAt : refusedAt).push(clock.now() - START);
    await after(clock, 80);
    if (isAdmitted) return { value: 1 };
    throw new GannetError('SERVICE_RATE_LIMITED', 'too many', { details: { status: 429, resetInMs: retryAfterMs } });
  };
  const forEver = async (): Promise<never> => {
    for (;;) await governor.run({ priority: 'watch', send }).catch(() => undefined);
  };
  for (let n = 0; n < pollers; n++) void forEver();
  return {
    governor, clock, admittedAt, refusedAt,
    async until(at) {
      while (clock.now() < START + at) {
        await settled();
        clock.advanceTo(Math.min(clock.nextAt(), START + at));
      }
    },
  };
}

async function entry({ governor, clock }: Polled, onLeft: () => void): Promise<void> {
  return governor.run({
    priority: 'entry',
    send: async () => {
      onLeft();
      await after(clock, 80);
      return { value: undefined };
    },
  });
}

function counted(limiter: Limiter): (now: Millis) => boolean {
  return (now) => limiter.admits(now);
}

function mostPerHour(refusedAt: readonly Millis[]): number {
  return Math.max(0, ...refusedAt.map((at) => refusedAt.filter((other) => other >= at && other < at + HOUR).length));
}

/** Expects what the service allows to be used, and a refusal an hour at most, once the search is over. */
function expectFound({ admittedAt, refusedAt }: Polled, { perSecond, searchMs, untilMs }: {
  readonly perSecond: number; readonly searchMs: Millis; readonly untilMs: Millis;
}): void {
  const used = admittedAt.filter((at) => at >= searchMs).length / ((untilMs - searchMs) / 1_000) / perSecond;
  expect(used).toBeGreaterThanOrEqual(0.85);
  expect(mostPerHour(refusedAt.filter((at) => at >= searchMs))).toBeLessThanOrEqual(1);
}

describe('issue 13.17: a limit that the service does not state is found', () => {
  const TEN_PER_TEN_SECONDS: readonly (readonly [string, () => Limiter])[] = [
    ['over a sliding window', () => slidingWindow(10, 10_000)],
    ['by fixed windows', () => fixedWindow(10, 10_000, 3_333)],
    ['with a bucket of ten tokens', () => tokenBucket(10, 1)],
  ];
  test.each(
    TEN_PER_TEN_SECONDS.flatMap(([name, limiter]) => [2, 10, 50].map((plan) => [name, plan, limiter] as const)),
  )(
    'ten in ten seconds, counted %s, under a plan of %d a second: 85 % used after ten minutes, one 429 an hour',
    async (_name, plan, limiter) => {
      const polled = poll({ plan, admits: counted(limiter()) });
      await polled.until(2.5 * HOUR);
      expectFound(polled, { perSecond: 1, searchMs: 10 * MINUTE, untilMs: 2.5 * HOUR });
    });

  test('any rate, any kind of window', async () => {
    const kinds: Readonly<Record<string, (perSecond: number, offset: Millis) => Limiter>> = {
      slidingTen: (perSecond) => slidingWindow(Math.max(1, Math.round(10 * perSecond)), 10_000),
      fixedTen: (perSecond, offset) => fixedWindow(Math.max(1, Math.round(10 * perSecond)), 10_000, offset),
      slidingMinute: (perSecond) => slidingWindow(Math.round(60 * perSecond), 60_000),
      fixedMinute: (perSecond, offset) => fixedWindow(Math.round(60 * perSecond), 60_000, offset),
      bucketTen: (perSecond) => tokenBucket(10 * perSecond, perSecond),
      bucketTwo: (perSecond) => tokenBucket(2, perSecond),
    };
    await fc.assert(fc.asyncProperty(
      fc.constantFrom(...Object.keys(kinds)), fc.integer({ min: 3, max: 30 }), fc.integer({ min: 2, max: 30 }),
      fc.integer({ min: 0, max: 59_999 }),
      async (kind, tenths, times, offset) => {
        const perSecond = tenths / 10;
        const limiter = kinds[kind]!(perSecond, offset);
        const polled = poll({ plan: perSecond * times, admits: counted(limiter) });
        // A window of a minute takes longer to be found out.
        const searchMs = kind.endsWith('Minute') ? 20 * MINUTE : 12 * MINUTE;
        await polled.until(1.2 * HOUR);
        expectFound(polled, { perSecond, searchMs, untilMs: 1.2 * HOUR });
      }), { numRuns: 12, seed: 13_017 });
  });

  test('is found again after the service lowers it, and after it raises it', async () => {
    let limiter = slidingWindow(50, 10_000);
    const polled = poll({ plan: 10, admits: (now) => limiter.admits(now) });
    const perSecond = (from: Millis, to: Millis): number =>
      polled.admittedAt.filter((at) => at >= from && at < to).length / ((to - from) / 1_000);
    await polled.until(HOUR / 2);
    limiter = slidingWindow(10, 10_000);
    await polled.until(HOUR);
    expect(perSecond(0.75 * HOUR, HOUR)).toBeGreaterThan(0.85);
    limiter = slidingWindow(40, 10_000);
    await polled.until(3.2 * HOUR);
    expect(perSecond(3 * HOUR, 3.2 * HOUR)).toBeGreaterThan(2.5);
  });
});

describe('issue 13.16: orders outrank polls while the rate is learned', () => {
  test.each(
    [['entry', 2], ['exit', 2], ['entry', 0.5]] as const,
  )('no poll leaves while an order of the kind %s waits, under a plan of %d', async (priority, plan) => {
    const limiter = slidingWindow(plan * 2, 10_000);
    const polled = poll({ plan, admits: counted(limiter) });
    const leftAt: Millis[] = [];
    const overtaken: Millis[] = [];
    const waitedMs: Millis[] = [];
    let given = 0;
    for (let n = 1; n <= 100; n++) {
      await polled.until(n * 17_000);
      const askedAt = polled.clock.now();
      given += 1;
      const order = polled.governor.run({
        priority,
        send: async () => {
          waitedMs.push(polled.clock.now() - askedAt);
          leftAt.push(polled.clock.now() - START);
          await after(polled.clock, 80);
          return { value: 1 };
        },
      }).catch(() => undefined);
      void order;
    }
    await polled.until(101 * 17_000);
    for (const [index, left] of leftAt.entries()) {
      const asked = left - waitedMs[index]!;
      overtaken.push(...[...polled.admittedAt, ...polled.refusedAt].filter((at) => at > asked && at < left));
    }
    expect(overtaken).toEqual([]);
    expect(leftAt.length).toBe(given);
    expect(Math.max(...waitedMs)).toBeLessThanOrEqual(15_000);
  });
});

describe('issue 13.16: an order of a swap', () => {
  test('leaves at once beside polls that flood the smallest plan', async () => {
    const polled = poll({ plan: 0.5, admits: () => true });
    const waitedMs: Millis[] = [];
    for (let n = 1; n <= 20; n++) {
      await polled.until(n * 31_000);
      void entry(polled, () => waitedMs.push(polled.clock.now() - START - n * 31_000));
    }
    expect(waitedMs).toEqual(Array(20).fill(0));
  });

  test('is sent before its timeout, however long polls pause after refusals', async () => {
    const polled = poll({ plan: 1, admits: (now) => now - START > 2 * MINUTE || now - START < 5_000 });
    await polled.until(2 * MINUTE + 1_000);
    let leftAt = Infinity;
    const order = entry(polled, () => { leftAt = polled.clock.now() - START; });
    await polled.until(3 * MINUTE);
    await order;
    expect(leftAt).toBeLessThan(2 * MINUTE + 12_000);
    expect(polled.admittedAt.filter((at) => at > 2 * MINUTE && at < leftAt)).toEqual([]);
  });
});

describe('issue 13.17: an incident of the service is not learned as a limit', () => {
  test.each([
    1_000, 5_000, 20_000,
  ])('20 s of 429 each minute that say to wait %d ms leave the rate as it is', async (retryAfterMs) => {
    const polled = poll({ plan: 8, retryAfterMs, admits: (now) => (now - START) % MINUTE < 40_000 });
    const whole = polled.governor.stats().requestsPerSecond;
    for (let minute = 1; minute <= 60; minute++) {
      await polled.until(minute * MINUTE - 21_000);
      expect(polled.governor.stats().requestsPerSecond).toBe(whole);
    }
    // What the plan leaves for watching is 6 a second, two thirds of the time.
    const used = polled.admittedAt.filter((at) => at >= 10 * MINUTE).length / (49 * 60);
    expect(used).toBeGreaterThan(0.85 * 4);
  });

  test('a storm of 429 without a time, every ten minutes, nearly always leaves the rate unchanged', async () => {
    const polled = poll({ plan: 8, admits: (now) => (now - START) % (11 * MINUTE) < 10 * MINUTE });
    await polled.until(6 * HOUR);
    expect(polled.governor.stats().requestsPerSecond).toBeGreaterThan(7);
    expect(polled.admittedAt.length / (6 * 3_600)).toBeGreaterThan(0.8 * 6);
  });

  test('a storm of 429 without a time, every minute, does not lower the rate permanently', async () => {
    const polled = poll({ plan: 8, admits: (now) => (now - START) % MINUTE < 40_000 });
    await polled.until(3 * HOUR);
    const late = polled.admittedAt.filter((at) => at >= 2 * HOUR).length / 3_600;
    // Four a second would be all of it; after each refusal a single request tries first, less and less often.
    expect(late).toBeGreaterThan(1.8);
  });
});
