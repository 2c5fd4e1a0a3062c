import * as fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { ErrorCode } from '../../../src/core/errors.ts';
import { GannetError } from '../../../src/core/errors.ts';
import { seededRandom } from '../../../src/core/random.ts';
import type { Millis } from '../../../src/core/time.ts';
import { VirtualClock } from '../../../src/engine/virtual-clock.ts';
import { optimalIntervals } from '../../../src/market/poll-plan.ts';
import { weightedMeanAge } from '../../market/weighted-mean-age.ts';
import type { Poll } from '../../../src/service/feeds/polls.ts';
import type { PollScheduler } from '../../../src/service/feeds/poll-scheduler.ts';
import { startScheduler } from '../../../src/service/feeds/poll-scheduler.ts';
import type { CallOptions } from '../../../src/service/rate/rate-plan.ts';
import { bucketLimits, watchRequestsPerSecond } from '../../../src/service/rate/rate-plan.ts';
import { RateGovernor } from '../../../src/service/rate/rate-governor.ts';
import { advance, after } from '../virtual-time.ts';

const START = Date.UTC(2026, 0, 1);
const MINUTE = 60_000;
const HOUR = 3_600_000;
const UNPACED = { waitMs: 0, turnMs: 0 };

type Answer = (call: CallOptions) => Promise<void>;

interface Demand {
  readonly everyMs: Millis;
  readonly weight?: number;
  /** What the service makes of the request once it has left; by default it answers after 80 ms. */
  readonly answer?: Answer;
}

/** Polls that go through a governor of so many requests a second, or none, and when each of them left. */
function schedule(clock: VirtualClock, demands: readonly Demand[], perSecond?: number): {
  readonly sentAt: readonly Millis[][]; readonly governor: RateGovernor | undefined; readonly results: unknown[];
  readonly stop: () => void; readonly scheduler: PollScheduler; readonly polls: readonly Poll[];
} {
  const sentAt = demands.map((): Millis[] => []);
  const results: unknown[] = [];
  const governor = perSecond === undefined ? undefined
    : new RateGovernor({ limits: bucketLimits({ requestsPerSecond: perSecond }, 'main'), clock, maxInFlight: 32 });
  const polls = demands.map(({ everyMs, weight = 1, answer = () => after(clock, 80) }, index): Poll => ({
    feeds: [`feed-${index}`],
    everyMs,
    weight,
    async request(call) {
      const leave = async (): Promise<{ value: undefined }> => {
        sentAt[index]!.push(clock.now() - START);
        await answer(call);
        return { value: undefined };
      };
      if (governor === undefined) {
        call.onStart?.();
        await leave();
      } else {
        await governor.run({ ...call, send: leave });
      }
      return new Map();
    },
  }));
  const scheduler = startScheduler({
    polls, clock, random: seededRandom(1), pace: () => governor?.watchPace() ?? UNPACED,
    onResult: (_feed, result) => results.push(result),
  });
  const stop = (): void => { scheduler.stop(); };
  onTestFinished(stop);
  return { sentAt, governor, results, stop, scheduler, polls };
}

function faulty(code: ErrorCode, details: Readonly<Record<string, number>> = {}): Answer {
  return () => Promise.reject(new GannetError(code, 'as the test says', { details }));
}

/** The mean age from the first poll to the last, of data that arrives at once. */
function meanAgeOf(times: readonly Millis[]): Millis {
  return gapsOf(times).reduce((sum, gap) => sum + (gap * gap) / 2, 0) / (times.at(-1)! - times[0]!);
}

const gapsOf = (times: readonly Millis[]): Millis[] => times.slice(1).map((at, index) => at - times[index]!);
const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

describe('where there is not enough for all', () => {
  test('each is polled in proportion to the root of its weight', async () => {
    const clock = new VirtualClock(START);
    const demands = Array.from({ length: 30 }, (_, index) => ({ everyMs: 1_000, weight: [1, 4, 16][index % 3]! }));
    const { sentAt } = schedule(clock, demands, 1);
    await advance(clock, 4 * HOUR);
    const expected = optimalIntervals(demands, watchRequestsPerSecond({ requestsPerSecond: 1 }));
    for (const [index, times] of sentAt.entries())
      expect(Math.abs(mean(gapsOf(times)) / expected[index]! - 1)).toBeLessThan(0.06);
  });

  test('a feed that needs less than its share is polled as often as asked, and others get the rest', async () => {
    const clock = new VirtualClock(START);
    const { sentAt } = schedule(clock, [{ everyMs: 20_000, weight: 100 }, { everyMs: 500 }, { everyMs: 500 }], 1);
    await advance(clock, HOUR);
    const [calm, ...eager] = sentAt.map((times) => mean(gapsOf(times)));
    expect(calm).toBeGreaterThan(19_500);
    // It waits for its turn at most.
    expect(calm).toBeLessThan(20_000 + 1_313);
    const left = watchRequestsPerSecond({ requestsPerSecond: 1 }) - 1_000 / calm!;
    // Keeping its turn free for it costs a little of the rate.
    for (const interval of eager) expect(Math.abs(interval * left / 2_000 - 1)).toBeLessThan(0.05);
  });

  test.each([
    [6, 8_000], [20, 120_000],
  ])('the weighted mean age of up to %d is within a quarter of the optimum, whatever is asked for', async (
    maxLength, max,
  ) => {
    const demand = fc.record({ everyMs: fc.integer({ min: 100, max }), weight: fc.integer({ min: 1, max: 100 }) });
    await fc.assert(fc.asyncProperty(fc.array(demand, { minLength: 1, maxLength }), async (demands) => {
      const clock = new VirtualClock(START);
      const { sentAt } = schedule(clock, demands, 1);
      await advance(clock, HOUR);
      const intervals = sentAt.map((times) => 2 * meanAgeOf(times));
      const best =
        weightedMeanAge(demands, optimalIntervals(demands, watchRequestsPerSecond({ requestsPerSecond: 1 })));
      expect(weightedMeanAge(demands, intervals)).toBeLessThan(1.25 * best);
    }), { numRuns: 30 });
  });

  test('one poll at most waits for its turn', async () => {
    const clock = new VirtualClock(START);
    const { governor } = schedule(clock, Array.from({ length: 50 }, () => ({ everyMs: 1_000 })), 1);
    for (let second = 0; second < 60; second++) {
      await advance(clock, 1_000);
      expect(governor!.stats().queued).toBeLessThanOrEqual(1);
    }
  });

  test('the heavier have their first data first, and all have some before any has it twice', async () => {
    const clock = new VirtualClock(START);
    const { sentAt } = schedule(clock, [1, 2, 3, 4, 5, 6, 7, 8].map((weight) => ({ everyMs: 100, weight })), 1);
    await advance(clock, 30_000);
    const firsts = sentAt.map(([first]) => first!);
    expect(firsts).toEqual([...firsts].sort((a, b) => b - a));
    expect(Math.max(...firsts)).toBeLessThan(Math.min(...sentAt.map(([, second]) => second ?? Infinity)));
  });
});

describe('where there is enough', () => {
  test('polls that began together separate', async () => {
    const clock = new VirtualClock(START);
    const { sentAt } = schedule(clock, Array.from({ length: 20 }, () => ({ everyMs: 10_000 })));
    await advance(clock, MINUTE);
    expect(sentAt.map(([first]) => first)).toEqual(Array(20).fill(0));
    const all = sentAt.flat().filter((at) => at > 0);
    expect(new Set(all).size).toBeGreaterThan(0.9 * all.length);
    for (const times of sentAt)
      for (const gap of gapsOf(times).slice(1)) expect(Math.abs(gap - 10_000)).toBeLessThanOrEqual(1_001);
  });

  test('an answer that is slow, or never comes, delays no other poll', async () => {
    const clock = new VirtualClock(START);
    const { sentAt } = schedule(clock, [
      { everyMs: 1_000, answer: () => new Promise(() => undefined) },
      { everyMs: 1_000, answer: () => after(clock, 20_000) }, { everyMs: 1_000 },
    ], 10);
    await advance(clock, MINUTE - 1);
    expect(sentAt[0]).toHaveLength(1);
    expect(sentAt[1]).toHaveLength(3);
    expect(sentAt[2]!.length).toBeGreaterThan(55);
  });

  test('after a sleep of the machine nothing bursts and nothing is made up for', async () => {
    const clock = new VirtualClock(START);
    const { sentAt } = schedule(clock, Array.from({ length: 30 }, () => ({ everyMs: 60_000 })), 1);
    await advance(clock, 5 * MINUTE);
    const before = sentAt.flat().length;
    clock.jumpTo(START + 8 * HOUR);
    await advance(clock, 5 * MINUTE);
    const late = sentAt.flat().sort((a, b) => a - b).slice(before);
    expect(Math.min(...gapsOf(late))).toBeGreaterThan(1_200);
    expect(late.length).toBeLessThan(30 * 6);
    for (const times of sentAt) expect(gapsOf(times).every((gap) => gap > 29_000)).toBe(true);
  });
});

describe('a poll that fails', () => {
  test('backs off, never faster than its interval, and leaves its rate to the others', async () => {
    const clock = new VirtualClock(START);
    const failing = Array.from({ length: 5 }, () =>
      ({ everyMs: 2_000, weight: 100, answer: faulty('SERVICE_STATUS') }));
    const { sentAt } = schedule(clock, [...failing, { everyMs: 2_000 }], 1);
    await advance(clock, 2 * HOUR);
    for (const times of sentAt.slice(0, 5)) {
      expect(Math.min(...gapsOf(times))).toBeGreaterThanOrEqual(2_000);
      expect(mean(gapsOf(times))).toBeGreaterThan(20_000);
    }
    expect(mean(gapsOf(sentAt[5]!))).toBeLessThan(2_700);
  });

  test('begins with a short delay again once it has succeeded', async () => {
    const clock = new VirtualClock(START);
    let failing = true;
    const { sentAt } = schedule(
      clock, [{ everyMs: 1_000, answer: (call) => (failing ? faulty('SERVICE_STATUS')(call) : Promise.resolve()) }],
    );
    await advance(clock, HOUR);
    failing = false;
    await advance(clock, 2 * MINUTE);
    failing = true;
    const before = sentAt[0]!.length;
    await advance(clock, 8_000);
    expect(sentAt[0]!.length - before).toBeGreaterThanOrEqual(2);
  });

  test('for the rate delays all polls alike', async () => {
    const clock = new VirtualClock(START);
    let refusing = true;
    const answer: Answer = (call) =>
      (refusing ? faulty('SERVICE_RATE_LIMITED', { resetInMs: 5_000 })(call) : Promise.resolve());
    const { sentAt } =
      schedule(clock, [{ everyMs: 1_000, answer }, { everyMs: 1_000, answer }, { everyMs: 1_000, answer }]);
    await advance(clock, 9_000);
    expect(sentAt).toEqual([[0, 5_000], [0, 5_000], [0, 5_000]]);
    refusing = false;
    await advance(clock, 10_000);
    for (const times of sentAt) {
      expect(times[2]).toBe(10_000);
      expect(times.length).toBeGreaterThan(9);
    }
  });

  test('for the key ends for all polls with the first accepted one', async () => {
    const clock = new VirtualClock(START);
    let accepting = false;
    const refuse = faulty('SERVICE_UNAUTHORIZED');
    const { sentAt } = schedule(clock, [
      { everyMs: 5_000, answer: (call) => (accepting ? Promise.resolve() : refuse(call)) },
      { everyMs: 5_000, answer: (call) =>
        (accepting ? Promise.resolve() : after(clock, 30_000).then(() => refuse(call))) },
    ]);
    await advance(clock, 50_000);
    expect(sentAt).toEqual([[0], [0]]);
    accepting = true;
    await advance(clock, 10_000);
    // By itself, the second would have waited for a minute from its refusal.
    expect(sentAt).toEqual([[0, 60_000], [0, 60_000]]);
  });

  test('before it has left gives its place to the next', async () => {
    const clock = new VirtualClock(START);
    const asked: string[] = [];
    const common = { everyMs: 10_000, weight: 1 };
    const refused: Poll = {
      ...common,
      feeds: ['refused'],
      async request() {
        asked.push('refused');
        throw new GannetError('SERVICE_UNAUTHORIZED', 'not sent');
      },
    };
    const sent: Poll = {
      ...common,
      feeds: ['sent'],
      async request({ onStart }) {
        onStart?.();
        asked.push('sent');
        return new Map();
      },
    };
    const scheduler = startScheduler({
      polls: [refused, sent],
      clock, random: seededRandom(1), pace: () => UNPACED, onResult: () => undefined,
    });
    onTestFinished(() => { scheduler.stop(); });
    await advance(clock, 0);
    expect(asked).toEqual(['refused', 'sent']);
  });
});

describe('a scheduler whose polls are replaced', () => {
  test('sends new ones at once, keeps the turn of the others, and sends what was left out no more', async () => {
    const clock = new VirtualClock(START);
    const { sentAt, scheduler, polls } = schedule(clock, Array.from({ length: 3 }, () => ({ everyMs: 10_000 })));
    scheduler.replace(polls.slice(0, 2));
    await advance(clock, 4_000);
    scheduler.replace([polls[0]!, polls[2]!]);
    await advance(clock, 100_000);
    const [kept, dropped, joined] = sentAt;
    expect(dropped).toEqual([0]);
    // The third was sent once at the start, before it was left out, and again as soon as it joined.
    expect(joined!.slice(0, 2)).toEqual([0, 4_000]);
    expect(joined!.length).toBeGreaterThan(9);
    const gaps = kept!.slice(1).map((at, index) => at - kept![index]!);
    expect(Math.min(...gaps.slice(1))).toBeGreaterThanOrEqual(9_000);
    expect(gaps[0]).toBeGreaterThanOrEqual(5_000);
  });

  test('does not let polls that come and go hold up the others', async () => {
    const clock = new VirtualClock(START);
    const { sentAt, scheduler, polls } = schedule(clock, Array.from({ length: 200 }, () => ({ everyMs: 5_000 })), 1);
    scheduler.replace(polls.slice(0, 1));
    for (let index = 1; index < 200; index++) {
      scheduler.replace([polls[0]!, polls[index]!]);
      await advance(clock, 500);
    }
    const gaps = sentAt[0]!.slice(1).map((at, index) => at - sentAt[0]![index]!);
    expect(Math.max(...gaps)).toBeLessThan(15_000);
  });
});

describe('a scheduler that is stopped', () => {
  test('sends and reports nothing more, and leaves no timer', async () => {
    const clock = new VirtualClock(START);
    const { sentAt, stop, governor, results } =
      schedule(clock, Array.from({ length: 10 }, () => ({ everyMs: 1_000, answer: faulty('SERVICE_STATUS') })), 1);
    await advance(clock, 10_000);
    const [sent, told] = [sentAt.flat().length, results.length];
    stop();
    await advance(clock, HOUR);
    expect(sentAt.flat()).toHaveLength(sent);
    expect(results).toHaveLength(told);
    expect(governor!.stats()).toMatchObject({ queued: 0 });
    expect(clock.nextAt()).toBe(Infinity);
  });
});
