import { describe, expect, test } from 'vitest';
import { seededRandom } from '../../../src/core/random.ts';
import type { Millis } from '../../../src/core/time.ts';
import { VirtualClock } from '../../../src/engine/virtual-clock.ts';
import type { FeedSpec } from '../../../src/market/feed.ts';
import { weightOf } from '../../../src/market/feed.ts';
import { optimalIntervals } from '../../../src/market/poll-plan.ts';
import { weightedMeanAge } from '../../market/weighted-mean-age.ts';
import { Access } from '../../../src/service/access.ts';
import { createFeeds } from '../../../src/service/feeds/feeds.ts';
import type { FeedSource } from '../../../src/service/feeds/feed-request.ts';
import type { Gateway } from '../../../src/service/gateway.ts';
import { createGateway } from '../../../src/service/gateway.ts';
import { requestsPerSecond, watchRequestsPerSecond } from '../../../src/service/rate/rate-plan.ts';
import { loadDialect } from '../../../src/service/wire/dialect.ts';
import type { Limiter, SimulatedServer } from './simulated-server.ts';
import { fixedWindow, simulateServer, slidingWindow, tokenBucket } from './simulated-server.ts';
import { settled } from '../virtual-time.ts';
import { UNASKED } from '../feeds/unasked-calls.ts';

const read = (answer: unknown): unknown => answer;

// Off every boundary of the server's windows.
const START = Date.UTC(2026, 0, 1) + 12_345;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** Half of it for a client that is told how much it may ask: it need not find that out. */
const TOLD = DAY / 2;
const WARM_UP = HOUR;
/** The smallest plan: what it allows in a day can be lived through in a quarter of a second. */
const PLAN = 'keyless';
const PLAN_RATE = requestsPerSecond(PLAN, 'main');
const OVERSUBSCRIBED = 3;

/** Feeds of many intervals and weights that together ask for three times what the plan leaves for watching. */
function demandedFeeds(): (FeedSpec & { readonly everyMs: Millis })[] {
  const random = seededRandom('feeds');
  const specs = Array.from({ length: 24 }, (_, n) => ({
    kind: 'order-book' as const, marketId: `M${n}`, everyMs: 5_000 + 25_000 * random(),
    weight: [1, 1, 2, 4, 10][n % 5]!,
  }));
  const demand = specs.reduce((sum, { everyMs }) => sum + 1_000 / everyMs, 0);
  return specs.map((spec) =>
    ({ ...spec, everyMs: Math.round((spec.everyMs * demand) / (OVERSUBSCRIBED * watchRequestsPerSecond(PLAN))) }));
}

interface Day {
  /** When the main bucket refused, from the start. */
  readonly refusedAt: readonly Millis[];
  /** How long each `/execute` waited before it left. */
  readonly executeWaitsMs: readonly Millis[];
  readonly swapWaitsMs: readonly Millis[];
  /** The weighted mean age of all data, beside the least that a rate for watching allows. */
  ageBesideOptimum(watchPerSecond: number): number;
}

/** Lives a day of virtual time, or half: the real scheduler, governor and gateway before a simulated service. */
async function liveADay({ limiter, headers, trades = false }: {
  readonly limiter: Limiter; readonly headers: boolean; readonly trades?: boolean;
}): Promise<Day> {
  const clock = new VirtualClock(START);
  const server =
    simulateServer({ clock, limiters: { main: limiter, execute: slidingWindow(500, 10_000) }, headers, answer: '{}' });
  const gateway = createGateway({
    transport: server, dialect: loadDialect('neutral'), plan: PLAN, clock, access: new Access(clock),
  });
  const specs = demandedFeeds();
  const feed = createFeeds({ service: booksOf(gateway), specs, clock, random: seededRandom('day') });
  const watching = feed.events$.subscribe();
  const askedAt = landNowAndThen(clock, gateway);
  const swapWaitsMs = trades ? tradeNowAndThen(clock, gateway) : [];
  const end = START + (headers && !trades ? TOLD : DAY);
  while (clock.now() < end) {
    await settled();
    clock.advanceTo(Math.min(clock.nextAt(), end));
  }
  const stats = feed.stats();
  watching.unsubscribe();
  const demands = specs.map((spec) => ({ everyMs: spec.everyMs, weight: weightOf(spec) }));
  const ageMs = weightedMeanAge(demands, stats.map(({ meanAgeMs }) => 2 * meanAgeMs!));
  return {
    refusedAt: server.refusedAt.map((at) => at - START),
    executeWaitsMs: waitsOf(askedAt, server),
    swapWaitsMs,
    ageBesideOptimum: (watchPerSecond) => ageMs / weightedMeanAge(demands, optimalIntervals(demands, watchPerSecond)),
  };
}

function unasked(): never {
  return expect.unreachable('only books are asked for here');
}

function booksOf(gateway: Gateway): FeedSource {
  return {
    watchPace: () => gateway.watchPace(),
    swap: { order: unasked },
    ...UNASKED,
    prediction: {
      ...UNASKED.prediction,
      async orderBook(marketId, call) {
        await gateway.get({ path: `/prediction/v1/orderbook/${marketId}`, shareable: true, read }, call);
        return { yes: [], no: [] };
      },
    },
  };
}

/** Posts a signed transaction now and then; returns when each was asked for, by its body. */
function landNowAndThen(clock: VirtualClock, gateway: Gateway): ReadonlyMap<string, Millis> {
  const random = seededRandom('execute');
  const askedAt = new Map<string, Millis>();
  clock.schedule(function again(): void {
    const id = `${askedAt.size}`;
    askedAt.set(JSON.stringify({ id }), clock.now());
    void gateway.execute({ path: '/swap/v2/execute', body: { id }, read });
    clock.schedule(again, Math.round(600_000 * random()));
  }, 30_000);
  return askedAt;
}

/** Asks for three things at once now and then, as a swap does; returns how long each waited before it left. */
function tradeNowAndThen(clock: VirtualClock, gateway: Gateway): readonly Millis[] {
  const random = seededRandom('trades');
  const waitsMs: Millis[] = [];
  clock.schedule(function again(): void {
    const askedAt = clock.now();
    for (let n = 0; n < 3; n++) {
      const priority = random() < 0.5 ? 'exit' : 'entry';
      const onStart = (): void => void waitsMs.push(clock.now() - askedAt);
      gateway.get({ path: '/swap/v2/order', shareable: false, read }, { priority, onStart }).catch(() => undefined);
    }
    clock.schedule(again, Math.round(360_000 * random()));
  }, 30_000);
  return waitsMs;
}

function waitsOf(askedAt: ReadonlyMap<string, Millis>, { arrived }: SimulatedServer): Millis[] {
  const arrivedAt = new Map(arrived.flatMap(({ bucket, body, at }) =>
    (bucket === 'execute' ? [[body, at] as const] : [])));
  return [...askedAt].map(([body, at]) => (arrivedAt.get(body) ?? Infinity) - at);
}

function percentile(values: readonly number[], share: number): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length * share)]!;
}

/** The most refusals within any hour after the warm-up. */
function mostPerHour(refusedAt: readonly Millis[]): number {
  const late = refusedAt.filter((at) => at > WARM_UP);
  return Math.max(0, ...late.map((at) => late.filter((other) => other >= at && other < at + HOUR).length));
}

function expectExecuteNeverWaits({ executeWaitsMs }: Day): void {
  expect(executeWaitsMs.length).toBeGreaterThan(125);
  expect(percentile(executeWaitsMs, 0.99)).toBeLessThan(5);
}

/** Services that count differently, none of which the client is told of. */
const COUNTING: Readonly<Record<string, (perSecond: number) => Limiter>> = {
  'over a sliding minute': (perSecond) => slidingWindow(60 * perSecond, 60_000),
  'by the ten seconds': (perSecond) => fixedWindow(10 * perSecond, 10_000, 3_333),
  'by the minute': (perSecond) => fixedWindow(60 * perSecond, 60_000, 7_777),
  'with a bucket of ten seconds': (perSecond) => tokenBucket(10 * perSecond, perSecond),
  'with a bucket of two tokens': (perSecond) => tokenBucket(2, perSecond),
};
const CASES = Object.keys(COUNTING).flatMap((counting) => [{ counting, headers: true }, { counting, headers: false }]);

describe('three times oversubscribed for a day', () => {
  test.each(
    CASES,
  )('at the plan, counted $counting (headers: $headers), is never refused and uses the rate', async (
    { counting, headers },
  ) => {
    const day = await liveADay({ limiter: COUNTING[counting]!(PLAN_RATE), headers });
    expect(day.refusedAt.filter((at) => at > WARM_UP)).toEqual([]);
    expect(day.refusedAt.length).toBeLessThanOrEqual(3);
    expect(day.ageBesideOptimum(watchRequestsPerSecond(PLAN))).toBeLessThan(1.05);
    expectExecuteNeverWaits(day);
  });

  test.each(CASES)('at 3/5 of the plan, counted $counting (headers: $headers), is refused once an hour at most', async (
    { counting, headers },
  ) => {
    const perSecond = 0.6 * PLAN_RATE;
    const day = await liveADay({ limiter: COUNTING[counting]!(perSecond), headers });
    expect(mostPerHour(day.refusedAt)).toBeLessThanOrEqual(headers ? 0 : 1);
    expect(day.refusedAt.length).toBeLessThan(30);
    expect(day.ageBesideOptimum(watchRequestsPerSecond({ requestsPerSecond: perSecond }))).toBeLessThan(1.25);
    expectExecuteNeverWaits(day);
  });

  test.each(
    CASES.slice(1, 3),
  )('at the plan, with swaps, counted $counting (headers: $headers), is never refused', async (
    { counting, headers },
  ) => {
    const day = await liveADay({ limiter: COUNTING[counting]!(PLAN_RATE), headers, trades: true });
    expect(day.refusedAt).toEqual([]);
    expect(day.ageBesideOptimum(watchRequestsPerSecond(PLAN))).toBeLessThan(1.25);
    expect(day.swapWaitsMs.length).toBeGreaterThan(1_000);
    // Three at once, where the plan is five in ten seconds and its headroom one.
    expect(percentile(day.swapWaitsMs, 0.5)).toBeLessThan(5_000);
    expect(percentile(day.swapWaitsMs, 0.99)).toBeLessThan(12_000);
    expectExecuteNeverWaits(day);
  });

  test.each(
    CASES.slice(1, 2),
  )('at 3/5 of the plan, with swaps, counted $counting (headers: $headers), is refused once an hour on average', async (
    { counting, headers },
  ) => {
    const perSecond = 0.6 * PLAN_RATE;
    const day = await liveADay({ limiter: COUNTING[counting]!(perSecond), headers, trades: true });
    expect(day.refusedAt.filter((at) => at > WARM_UP).length).toBeLessThanOrEqual(23);
    expectExecuteNeverWaits(day);
  });
});
