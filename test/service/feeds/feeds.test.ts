import { asyncScheduler, Subject } from 'rxjs';
import { describe, expect, test } from 'vitest';
import type { Amount } from '../../../src/core/amount.ts';
import { amount } from '../../../src/core/amount.ts';
import { GannetError } from '../../../src/core/errors.ts';
import { seededRandom } from '../../../src/core/random.ts';
import type { Millis } from '../../../src/core/time.ts';
import { VirtualClock } from '../../../src/engine/virtual-clock.ts';
import type { FeedHealth, MarketEvent } from '../../../src/market/event.ts';
import type { FeedSpec } from '../../../src/market/feed.ts';
import { feedKey } from '../../../src/market/feed.ts';
import { SOL_MINT, USDC_MINT } from '../../../src/market/token.ts';
import type { PollingFeed } from '../../../src/service/feeds/feeds.ts';
import { createFeeds } from '../../../src/service/feeds/feeds.ts';
import type { FeedSource } from '../../../src/service/feeds/feed-request.ts';
import type { CallOptions } from '../../../src/service/rate/rate-plan.ts';
import type { SwapOrder, SwapRequest } from '../../../src/trading/swap-terms.ts';
import { mintNumber, orderAnswer, tokenAnswer } from '../answers.ts';
import { clientOf, json, listen } from '../loopback.ts';
import { advance, after } from '../virtual-time.ts';
import type { TokenRecord } from '../../../src/market/token-record.ts';
import { UNASKED } from './unasked-calls.ts';

const START = Date.UTC(2026, 0, 1);
const QUOTE: FeedSpec =
  { kind: 'quote', inputMint: SOL_MINT, outputMint: USDC_MINT, amount: amount(1_000_000_000n), everyMs: 5_000 };
const BOOK: FeedSpec = { kind: 'order-book', marketId: 'RAIN', everyMs: 5_000 };
const statsSpec = (n: number, everyMs = 10_000): FeedSpec => ({ kind: 'token-stats', mint: mintNumber(n), everyMs });

const ORDER: SwapOrder = {
  inputMint: SOL_MINT, outputMint: USDC_MINT, inAmount: amount(1_000_000_000n), outAmount: amount(150_000_000n),
  threshold: amount(149_250_000n), feeBps: 2, router: 'iris',
};
const fault = (code: GannetError['code'], details = {}): GannetError =>
  new GannetError(code, `trouble of kind ${code}`, { details });
const isHealth = (event: MarketEvent): event is FeedHealth => event.kind === 'feed-health';

function unexpected(): never {
  throw new Error('not asked in this test');
}

/** A service that answers each kind of question as the test says, and counts what was asked. */
function source(answers: {
  order?: (request: SwapRequest) => Promise<SwapOrder> | SwapOrder;
  book?: () => Promise<{ yes: []; no: [] } | undefined>;
  tokens?: (mints: readonly string[]) =>
    { records: TokenRecord[]; rejected: { id: string | undefined; message: string }[] };
}): FeedSource & { readonly asked: string[]; readonly signals: AbortSignal[] } {
  const asked: string[] = [];
  const signals: AbortSignal[] = [];
  const note = (what: string, call: CallOptions | undefined): void => {
    asked.push(what);
    if (call?.signal !== undefined) signals.push(call.signal);
    call?.onStart?.();
  };
  return {
    asked, signals,
    watchPace: () => ({ waitMs: 0, turnMs: 0 }),
    swap: {
      async order(request, call) {
        note(`quote of ${request.amount}, ${call?.priority}`, call);
        return answers.order === undefined ? unexpected() : await answers.order(request);
      },
    },
    lend: UNASKED.lend,
    prediction: {
      ...UNASKED.prediction,
      async orderBook(marketId, call) {
        note(`book of ${marketId}`, call);
        return answers.book === undefined ? unexpected() : await answers.book();
      },
    },
    tokens: {
      ...UNASKED.tokens,
      async search(mints, call) {
        note(`${mints.length} tokens`, call);
        return answers.tokens === undefined ? unexpected() : answers.tokens(mints);
      },
    },
  };
}

function watch(
  service: FeedSource, specs: readonly FeedSpec[], clock: VirtualClock, log?: (report: FeedHealth) => void,
): { feed: PollingFeed; events: MarketEvent[]; stop: () => void } {
  const feed = createFeeds({ service, specs, clock, random: seededRandom(7), log });
  const events: MarketEvent[] = [];
  const subscription = feed.events$.subscribe({
    next: (event) => events.push(event),
    error: (thrown: unknown) => expect.unreachable(`a feed erred: ${String(thrown)}`),
    complete: () => expect.unreachable('a feed completed'),
  });
  return { feed, events, stop: () => subscription.unsubscribe() };
}

describe('feeds of other origins than the service', () => {
  const owner = SOL_MINT;
  const activity: FeedSpec = { kind: 'wallet-activity', owner, everyMs: 1_000 };

  test('the node is polled at its own pace while the service refuses for the rate, with its own health', async () => {
    const clock = new VirtualClock(START);
    const service = source({ order: () => { throw new GannetError('SERVICE_RATE_LIMITED', 'slow down'); } });
    let polls = 0;
    const node = {
      walletActivity: async (wallet: string) => {
        polls += 1;
        if (polls === 3) throw new GannetError('CHAIN_UNREACHABLE', 'away');
        return { owner: wallet, transactions: [] };
      },
    };
    const feed = createFeeds({ service, node, specs: [QUOTE, activity], clock, random: seededRandom(7) });
    const events: MarketEvent[] = [];
    const subscription = feed.events$.subscribe((event) => events.push(event));
    await advance(clock, 20_000);
    subscription.unsubscribe();
    const own = events.filter(({ feed: key }) => key === `wallet-activity:${owner}`);
    expect(own.length).toBeGreaterThan(15);
    expect(own.filter(({ kind }) => kind === 'feed-health')).toEqual([
      expect.objectContaining({ status: 'degraded', code: 'CHAIN_UNREACHABLE' }),
      expect.objectContaining({ status: 'healthy' }),
    ]);
    expect(own[0]).toEqual({
      kind: 'wallet-activity', feed: `wallet-activity:${owner}`, receivedAt: START, owner, transactions: [],
    });
  });

  test('a hint of the node makes the poll of its wallet come soon, and a flood makes few', async () => {
    const clock = new VirtualClock(START);
    const hints$ = new Subject<unknown>();
    const asked: number[] = [];
    const node = {
      walletActivity: async (wallet: string) => {
        asked.push(clock.now() - START);
        return { owner: wallet, transactions: [] };
      },
      walletHints$: (wallet: string) => {
        expect(wallet).toBe(owner);
        return hints$;
      },
    };
    const slow: FeedSpec = { kind: 'wallet-activity', owner, everyMs: 60_000 };
    const feed = createFeeds({ service: source({}), node, specs: [slow], clock, random: seededRandom(7) });
    expect(hints$.observed).toBe(false);
    const subscription = feed.events$.subscribe();
    await advance(clock, 20_000);
    hints$.next('notified');
    await advance(clock, 1);
    // The interval's fifth is the bound where it is longer than a second.
    hints$.next('notified');
    await advance(clock, 11_999);
    expect(asked).toEqual([0, 20_000, 32_000]);
    for (let ms = 0; ms < 60_000; ms += 100) {
      hints$.next('notified');
      await advance(clock, 100);
    }
    expect(asked).toHaveLength(3 + 5);
    feed.replace([]);
    expect(hints$.observed).toBe(false);
    feed.replace([slow]);
    expect(hints$.observed).toBe(true);
    subscription.unsubscribe();
    expect(hints$.observed).toBe(false);
  });

  test('without a node a wallet cannot be watched, and the feed says so', async () => {
    const clock = new VirtualClock(START);
    const { events } = watch(source({}), [activity], clock);
    await advance(clock, 0);
    expect(events).toEqual([expect.objectContaining({ kind: 'feed-health', code: 'CONFIG_INVALID' })]);
  });

  test('signals arrive while someone listens, are counted, and need no request', async () => {
    const clock = new VirtualClock(START);
    const arrivals$ = new Subject<MarketEvent>();
    const specs: readonly FeedSpec[] = [{ kind: 'signal', name: 'entry', everyMs: 1_000 }];
    const feed = createFeeds({ service: source({}), specs, clock, random: seededRandom(7), arrivals$ });
    const events: MarketEvent[] = [];
    const subscription = feed.events$.subscribe((event) => events.push(event));
    const signal = (name: string): MarketEvent =>
      ({ kind: 'signal', feed: `signal:${name}`, receivedAt: clock.now(), name, body: 'now' });
    arrivals$.next(signal('entry'));
    arrivals$.next(signal('unwatched'));
    await advance(clock, 60_000);
    expect(events).toEqual([signal('entry'), signal('unwatched')].map((event) => ({ ...event, receivedAt: START })));
    expect(feed.stats()).toEqual([expect.objectContaining({
      feed: 'signal:entry', answers: 1, failures: 0, status: 'healthy',
    })]);
    subscription.unsubscribe();
    expect(arrivals$.observed).toBe(false);
  });
});

describe('a feed', () => {
  test('polls at once and then at its interval, a little early or late', async () => {
    const clock = new VirtualClock(START);
    const service = source({ order: () => ORDER });
    const { events } = watch(service, [QUOTE], clock);
    await advance(clock, 0);
    expect(events).toEqual([{
      kind: 'quote', feed: feedKey(QUOTE), receivedAt: START, inputMint: SOL_MINT, outputMint: USDC_MINT,
      inAmount: 1_000_000_000n, outAmount: 150_000_000n, threshold: 149_250_000n, priceImpact: undefined,
      contextSlot: undefined, router: 'iris', feeBps: 2, rate: 0.15,
    }]);
    await advance(clock, 500_000);
    const gaps = events.slice(1).map(({ receivedAt }, i) => receivedAt - events[i]!.receivedAt);
    expect(gaps.length).toBeGreaterThan(95);
    expect(gaps[0]).toBeGreaterThanOrEqual(2_500);
    for (const gap of gaps.slice(1)) expect(Math.abs(gap - 5_000)).toBeLessThanOrEqual(501);
    expect(new Set(gaps).size).toBeGreaterThan(80);
    expect(service.asked[0]).toBe('quote of 1000000000, watch');
  });

  test('polls further feeds while they are watched, with those of one kind in one request', async () => {
    const clock = new VirtualClock(START);
    const service = source({
      order: () => ORDER,
      tokens: (mints) => ({ records: [], rejected: mints.map((id) => ({ id, message: 'not known' })) }),
    });
    const { feed, events } = watch(service, [QUOTE, statsSpec(1)], clock);
    const keys = (): string[] => feed.stats().map(({ feed: key }) => key);
    await advance(clock, 0);
    expect(service.asked).toEqual(['quote of 1000000000, watch', '1 tokens']);
    feed.watch([{ ...QUOTE, amount: amount(2n) }, statsSpec(2)]);
    await advance(clock, 0);
    expect(service.asked.slice(2).toSorted()).toEqual(['2 tokens', 'quote of 2, watch']);
    expect(keys()).toEqual([
      feedKey(QUOTE), feedKey(statsSpec(1)), feedKey({ ...QUOTE, amount: amount(2n) }), feedKey(statsSpec(2)),
    ]);
    feed.watch([]);
    await advance(clock, 60_000);
    expect(service.asked.slice(4).filter((asked) => asked.includes('of 2,') || asked === '2 tokens')).toEqual([]);
    expect(keys()).toEqual([feedKey(QUOTE), feedKey(statsSpec(1))]);
    expect(events.filter(isHealth).filter(({ feed: key }) => key === feedKey(statsSpec(2)))).toHaveLength(1);
  });

  test('asks for a shared feed at the shortest interval while it is watched', async () => {
    const clock = new VirtualClock(START);
    const service = source({ order: () => ORDER });
    const { feed } = watch(service, [QUOTE], clock);
    await advance(clock, 0);
    feed.watch([{ ...QUOTE, everyMs: 1_000 }]);
    expect(feed.stats()).toMatchObject([{ everyMs: 1_000 }]);
    await advance(clock, 20_000);
    expect(service.asked.length).toBeGreaterThan(18);
    feed.watch([]);
    await advance(clock, 20_000);
    expect(service.asked.length).toBeLessThan(30);
  });

  test('polls the same instants for the same seed', async () => {
    const runs = await Promise.all([1, 2].map(async () => {
      const clock = new VirtualClock(START);
      const { events } = watch(source({ order: () => ORDER }), [QUOTE], clock);
      await advance(clock, 60_000);
      return events.map(({ receivedAt }) => receivedAt);
    }));
    expect(runs[0]).toEqual(runs[1]);
  });

  test('polls each distinct thing once, at the fastest rate, and for all subscribers together', async () => {
    const clock = new VirtualClock(START);
    const service = source({ order: () => ORDER });
    const { feed, events, stop } = watch(service, [QUOTE, { ...QUOTE, everyMs: 60_000 }, QUOTE], clock);
    const others: MarketEvent[] = [];
    const second = feed.events$.subscribe((event) => others.push(event));
    await advance(clock, 60_000);
    expect(service.asked.length).toBe(events.length);
    expect(others).toEqual(events);
    expect(events.length).toBeGreaterThan(10);
    second.unsubscribe();
    stop();
  });

  test('never stacks polls: a slow answer delays the next question', async () => {
    const clock = new VirtualClock(START);
    let [open, most] = [0, 0];
    const service = source({
      async order() {
        open += 1;
        most = Math.max(most, open);
        await after(clock, 17_000);
        open -= 1;
        return ORDER;
      },
    });
    const { events } = watch(service, [QUOTE], clock);
    await advance(clock, 17_000 * 10);
    expect(most).toBe(1);
    expect(events).toHaveLength(10);
    expect(events[0]!.receivedAt).toBe(START + 17_000);
  });

  test('asks for a hundred token records at a time, those of one interval together', async () => {
    const clock = new VirtualClock(START);
    const service = source({ tokens: (mints) => ({
      records: mints.map((id) => ({ id, values: { usdPrice: 2 }, updatedAt: START - 1 }) as TokenRecord), rejected: [],
    }) });
    const specs = [...Array.from({ length: 130 }, (_, n) => statsSpec(n)), statsSpec(200, 60_000), BOOK];
    const { events } =
      watch({ ...service, prediction: source({ book: async () => ({ yes: [], no: [] }) }).prediction }, specs, clock);
    await advance(clock, 0);
    expect(service.asked.sort()).toEqual(['1 tokens', '100 tokens', '30 tokens']);
    expect(events).toHaveLength(132);
    expect(events.find(({ feed }) => feed === feedKey(statsSpec(129)))).toEqual({
      kind: 'token-stats', feed: feedKey(statsSpec(129)), receivedAt: START, eventAt: START - 1, mint: mintNumber(129),
      values: { usdPrice: 2 },
    });
  });

  test('of one broken or unknown token leaves the others of its request alone', async () => {
    const clock = new VirtualClock(START);
    const service = source({ tokens: () => ({
      records: [{ id: mintNumber(0), values: {} } as TokenRecord],
      rejected: [{ id: mintNumber(1), message: 'decimals: expected a number' }],
    }) });
    const { feed, events } = watch(service, [statsSpec(0), statsSpec(1), statsSpec(2)], clock);
    await advance(clock, 60_000);
    expect(events.filter(isHealth).map(({ feed: key, status, code }) => [key, status, code])).toEqual([
      [feedKey(statsSpec(1)), 'degraded', 'SERVICE_MALFORMED'], [feedKey(statsSpec(2)), 'degraded', 'TOKEN_UNKNOWN'],
      [feedKey(statsSpec(1)), 'down', 'SERVICE_MALFORMED'], [feedKey(statsSpec(2)), 'down', 'TOKEN_UNKNOWN'],
    ]);
    const [good, broken] = feed.stats();
    expect(good).toMatchObject({ status: 'healthy', answers: good!.polls, failures: 0 });
    expect(broken).toMatchObject({ status: 'down', answers: 0, failures: broken!.polls, lastAnswerAt: undefined });
    expect(good!.polls).toBeGreaterThanOrEqual(6);
  });

  test('reports trouble when its health changes and only then, and goes on', async () => {
    const clock = new VirtualClock(START);
    let healthy = false;
    const logged: FeedHealth[] = [];
    const service = source({
      order() {
        if (!healthy) throw fault('SERVICE_UNREACHABLE');
        return ORDER;
      },
    });
    const { feed, events, stop } = watch(service, [QUOTE], clock, (report) => logged.push(report));
    await advance(clock, 600_000);
    expect(events).toEqual([
      {
        kind: 'feed-health', feed: feedKey(QUOTE), receivedAt: START, status: 'degraded', code: 'SERVICE_UNREACHABLE',
        message: 'trouble of kind SERVICE_UNREACHABLE', consecutiveFailures: 1,
      },
      {
        kind: 'feed-health', feed: feedKey(QUOTE), receivedAt: events[1]!.receivedAt, status: 'down',
        code: 'SERVICE_UNREACHABLE', message: 'trouble of kind SERVICE_UNREACHABLE', consecutiveFailures: 3,
      },
    ]);
    expect(logged).toEqual(events);
    healthy = true;
    await advance(clock, 60_000);
    expect(events.slice(2, 4).map((event) =>
      (isHealth(event) ? [event.status, event.code, event.consecutiveFailures] : event.kind)))
      .toEqual([['healthy', undefined, 0], 'quote']);
    await advance(clock, 60_000);
    expect(events.filter(isHealth)).toHaveLength(3);
    expect(feed.stats()[0]).toMatchObject({ status: 'healthy', consecutiveFailures: 0 });
    stop();
  });

  test('asks less and less often while nothing answers, but at least once a minute', async () => {
    const clock = new VirtualClock(START);
    const at: Millis[] = [];
    const service = source({
      order() {
        at.push(clock.now());
        throw fault('SERVICE_TIMEOUT');
      },
    });
    watch(service, [QUOTE], clock);
    await advance(clock, 24 * 3_600_000);
    const gaps = at.slice(1).map((time, i) => time - at[i]!);
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(5_000);
    expect(Math.max(...gaps)).toBeLessThanOrEqual(60_000);
    expect(gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length).toBeGreaterThan(20_000);
  });

  test('issue 13.15: is asked for again within five seconds of the end of an outage, and all feeds with the first that '
    + 'answers', async () => {
    const clock = new VirtualClock(START);
    const answered = new Map<string, Millis>();
    const service = source({
      order: async ({ outputMint }) => {
        if (clock.now() < START + 71_000) throw fault('SERVICE_UNREACHABLE');
        if (!answered.has(outputMint)) answered.set(outputMint, clock.now() - START);
        return { ...ORDER, outputMint };
      },
    });
    watch(service, [QUOTE, { ...QUOTE, outputMint: mintNumber(3), everyMs: 30_000 }], clock);
    await advance(clock, 90_000);
    expect(Math.min(...answered.values())).toBeLessThanOrEqual(76_000);
    expect(Math.max(...answered.values()) - Math.min(...answered.values())).toBeLessThanOrEqual(1_000);
    expect(answered.size).toBe(2);
  });

  test('waits at least as long as the service asks for', async () => {
    const clock = new VirtualClock(START);
    const at: Millis[] = [];
    watch(source({
      order() {
        at.push(clock.now() - START);
        throw fault('SERVICE_RATE_LIMITED', { resetInMs: 65_000 });
      },
    }), [QUOTE], clock);
    await advance(clock, 200_000);
    expect(at).toEqual([0, 65_000, 130_000, 195_000]);
  });

  test('polls a service that refuses its key seldom', async () => {
    const clock = new VirtualClock(START);
    const service = source({
      order() {
        throw fault('SERVICE_UNAUTHORIZED');
      },
    });
    watch(service, [QUOTE], clock);
    await advance(clock, 3_600_000);
    expect(service.asked.length).toBe(61);
  });

  test.each<[string, Partial<SwapOrder>]>([
    ['another amount', { inAmount: 5n as Amount }],
    ['another mint', { outputMint: mintNumber(3) }],
  ])('that gets an answer for %s reports it malformed and emits no quote', async (_name, changes) => {
    const clock = new VirtualClock(START);
    const { events } = watch(source({ order: () => ({ ...ORDER, ...changes }) }), [QUOTE], clock);
    await advance(clock, 60_000);
    expect(events.map((event) => (isHealth(event) ? event.code : event.kind)))
      .toEqual(['SERVICE_MALFORMED', 'SERVICE_MALFORMED']);
  });

  test('of a market without a book says so, and emits an empty book where there is one', async () => {
    const clock = new VirtualClock(START);
    let book: { yes: []; no: [] } | undefined;
    const { events } = watch(source({ book: async () => book }), [BOOK], clock);
    await advance(clock, 0);
    expect(events).toMatchObject([{ kind: 'feed-health', status: 'degraded', code: 'BOOK_MISSING' }]);
    book = { yes: [], no: [] };
    await advance(clock, 60_000);
    expect(events.slice(1, 3)).toMatchObject([
      { kind: 'feed-health', status: 'healthy' }, { kind: 'order-book', marketId: 'RAIN', yes: [], no: [] },
    ]);
  });

  test('stops polling, and aborts the polls in flight, without subscribers', async () => {
    const clock = new VirtualClock(START);
    const service = source({ order: () => new Promise(() => undefined), book: async () => ({ yes: [], no: [] }) });
    const { events, stop } = watch(service, [QUOTE, BOOK], clock);
    await advance(clock, 20_000);
    const { length } = events;
    stop();
    expect(service.signals.every((signal) => signal.aborted)).toBe(true);
    await advance(clock, 60_000);
    expect(events).toHaveLength(length);
    expect(clock.nextAt()).toBe(Infinity);
  });

  test('measures how old its data is and was, from the first answer on', async () => {
    const clock = new VirtualClock(START);
    let healthy = true;
    const service = source({
      order() {
        if (!healthy) throw fault('SERVICE_UNREACHABLE');
        return ORDER;
      },
      book: () => new Promise(() => undefined),
    });
    const { feed } = watch(service, [{ ...QUOTE, weight: 3 }, BOOK], clock);
    await advance(clock, 600_000);
    const [renewed, never] = feed.stats();
    expect(renewed).toMatchObject({ everyMs: 5_000, weight: 3 });
    expect(renewed!.meanAgeMs).toBeGreaterThan(2_400);
    expect(renewed!.meanAgeMs).toBeLessThan(2_600);
    expect(renewed!.maxAgeMs).toBeLessThanOrEqual(5_500);
    expect(renewed!.ageMs).toBe(clock.now() - renewed!.lastAnswerAt!);
    expect(never).toMatchObject({ weight: 1, ageMs: undefined, meanAgeMs: undefined, maxAgeMs: undefined });
    healthy = false;
    await advance(clock, 600_000);
    const [silent] = feed.stats();
    expect(silent!.ageMs).toBeGreaterThanOrEqual(600_000);
    expect(silent!.maxAgeMs).toBe(silent!.ageMs);
    // Half the time near 2.5 s, the other half growing to ten minutes.
    expect(silent!.meanAgeMs).toBeGreaterThan(150_000);
    expect(silent!.meanAgeMs).toBeLessThan(153_000);
  });

  test('starts again for the next subscriber', async () => {
    const clock = new VirtualClock(START);
    const { feed, stop } = watch(source({ order: () => ORDER }), [QUOTE], clock);
    await advance(clock, 20_000);
    stop();
    const again: MarketEvent[] = [];
    feed.events$.subscribe((event) => again.push(event));
    await advance(clock, 0);
    expect(again).toHaveLength(1);
    expect(feed.stats()[0]).toMatchObject({ polls: 1, answers: 1, lastAnswerAt: clock.now() });
  });
});

describe('feeds over HTTP', () => {
  test('turn hostile answers into reports and good ones into events, each feed for itself', async () => {
    const server = await listen((request, response) => {
      if (request.path.endsWith('/order')) return json('<html>')(request, response);
      if (request.path.endsWith('/search')) return json([tokenAnswer(mintNumber(0))])(request, response);
      return json({ yes: [[42, 1]], no: [], yes_dollars: [['0.4200', 1]], no_dollars: [] })(request, response);
    });
    const specs = [{ ...QUOTE, everyMs: 20 }, { ...BOOK, everyMs: 20 }, statsSpec(0, 20)];
    const feed = createFeeds({ service: clientOf(server), specs, clock: asyncScheduler, random: seededRandom(1) });
    const events: MarketEvent[] = [];
    const subscription = feed.events$.subscribe((event) => events.push(event));
    await expect.poll(() => feed.stats().every(({ polls }) => polls >= 4)).toBe(true);
    subscription.unsubscribe();
    expect(new Set(events.map((event) => (isHealth(event) ? `${event.status} ${event.code}` : event.kind)))).toEqual(
      new Set(['degraded SERVICE_MALFORMED', 'down SERVICE_MALFORMED', 'order-book', 'token-stats']),
    );
  });

  test('become quotes whose amounts are those of the answer', async () => {
    const server = await listen(json(orderAnswer({ contextSlot: 77, feeBps: 2.5 })));
    const feed =
      createFeeds({ service: clientOf(server), specs: [QUOTE], clock: asyncScheduler, random: seededRandom(1) });
    const quote = await new Promise<MarketEvent>((resolve) => {
      const subscription = feed.events$.subscribe((event) => {
        resolve(event);
        queueMicrotask(() => subscription.unsubscribe());
      });
    });
    expect(quote).toMatchObject({
      kind: 'quote', outAmount: 150_000_000n, contextSlot: 77n, feeBps: 3, priceImpact: -0.001, rate: 0.15,
    });
  });
});
