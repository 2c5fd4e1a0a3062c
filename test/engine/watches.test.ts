import { EMPTY, ignoreElements, map, merge, mergeMap, switchMap, take, takeUntil } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { Engine } from '../../src/engine/engine.ts';
import type { FeedSpec } from '../../src/market/feed.ts';
import { feedKey } from '../../src/market/feed.ts';
import type { PricedQuote } from '../../src/strategy/index.ts';
import { orderBook, portfolio, quoteLadder, quotes, signals } from '../../src/strategy/index.ts';
import type { FeedKey } from '../../src/market/event.ts';
import { stateWith, strategySetup } from '../trading/states.ts';
import { book, buyingSol, PURCHASE, sellingSol } from '../market/events.ts';
import { SOL, SOL_USDC, USDC } from '../market/tokens.ts';
import type { Body } from './runs.ts';
import { alerts, apart, prepare, start, strategy } from './runs.ts';

const SALE = quotes(SOL_USDC, { amount: { token: SOL, amount: 1_000_000_000n }, every: '5s' });
const BUY = quotes(SOL_USDC, { amount: { token: USDC, amount: PURCHASE }, every: '5s' });
const isApart = process.env['GANNET_TEST_APART'] !== undefined;

/** Watches sales from the first price of a purchase until the third. */
const watcher: Body = ({ price }, ctx) => merge(
  price!.pipe(take(1), switchMap(() => ctx.watch(SALE).pipe(takeUntil(price!.pipe(take(2)))))).pipe(
    map((sale) => ctx.alert('info', `sale ${sale.price}`)),
  ),
  price!.pipe(map((buy) => ctx.alert('info', `buy ${(buy as PricedQuote).price.toFixed(0)}`))),
);

/** Watches signals from the first price on. */
const told: Body = ({ price }, ctx) => price!.pipe(
  take(1), switchMap(() => ctx.watch(signals('entry'))), map(({ name }) => ctx.alert('info', name)),
);

describe('a watch', () => {
  it('delivers from its begin to its end', () => {
    const run = start([strategy('late', watcher)]);
    const shown = [
      sellingSol(140_000, 10), buyingSol(150_000, 20), sellingSol(141_000, 30), sellingSol(142_000, 40),
      buyingSol(151_000, 50), buyingSol(152_000, 60), sellingSol(143_000, 70),
    ];
    for (const event of shown) run.engine.accept(event, event.receivedAt);
    expect(alerts(run)).toEqual(['20 buy 150', '30 sale 141', '40 sale 142', '50 buy 151', '60 buy 152']);
  });

  it('tells which feeds are polled, once for all that share it', () => {
    const polled: string[][] = [];
    const body: Body = ({ price }, ctx) => price!.pipe(
      take(1),
      switchMap(() => {
        const sale = ctx.watch(SALE);
        return merge(sale, sale).pipe(take(2));
      }),
      ignoreElements(),
    );
    const engine = new Engine({
      state: stateWith({ strategies: [strategySetup('shared')] }),
      strategies: [isApart ? apart(strategy('shared', body)) : strategy('shared', body)],
      startAt: 0, seed: 7,
      listener: { onWatched: (specs) => { polled.push(specs.map(feedKey)); } },
    });
    engine.start();
    engine.accept(buyingSol(150_000, 10), 10);
    engine.accept(sellingSol(140_000, 20), 20);
    expect(polled).toEqual([[feedKey(SALE.spec)], []]);
  });

  it('of signals is not polled, and has no age', () => {
    const polled: number[] = [];
    const state = stateWith({ strategies: [strategySetup('told')] });
    const engine = new Engine({
      state, strategies: [isApart ? apart(strategy('told', told)) : strategy('told', told)], startAt: 0, seed: 7,
      listener: { onWatched: (specs) => { polled.push(specs.length); } },
    });
    engine.start();
    engine.accept(buyingSol(150_000, 10), 10);
    expect(polled).toEqual([0]);
    expect(state.strategies.get('told')).toMatchObject({ watches: [] });
    engine.accept({
      kind: 'signal', feed: feedKey({ kind: 'signal', name: 'entry' }), receivedAt: 20, name: 'entry', body: 'go',
    }, 20);
    expect(engine.decisions).toBe(1);
  });

  it('sees each event at its own interval, and so does an input of the same feed', () => {
    const every = (seconds: number): FeedSpec => ({ ...BUY.spec, everyMs: seconds * 1_000 });
    const slow = { ...BUY, spec: every(10) };
    const quick = { ...BUY, spec: every(1) };
    const body: Body = ({ price, odds }, ctx) => merge(
      price!.pipe(map(() => ctx.alert('info', `slow ${ctx.now()}`))),
      odds!.pipe(take(1), switchMap(() => ctx.watch(quick).pipe(takeUntil(odds!))),
        map(() => ctx.alert('info', `quick ${ctx.now()}`))),
    );
    const instance = strategy('paces', body, () => ({ price: slow, odds: orderBook('M', { every: '1s' }) }));
    const logged: string[] = [];
    const engine = new Engine({
      state: stateWith({ strategies: [strategySetup('paces')] }),
      strategies: [isApart ? apart(instance) : instance], startAt: 0, seed: 7,
      intervals: new Map<FeedKey, number>([[feedKey(BUY.spec), 10_000], ['order-book:M', 1_000]]),
      listener: {
        onRuling: (_ruling, { proposal }) => { if (proposal.kind === 'alert') logged.push(proposal.message); },
      },
    });
    engine.start();
    engine.accept(buyingSol(150_000, 10_500), 10_500);
    engine.accept(book([[42, 1]], [], 11_000), 11_000);
    for (const at of [20_100, 21_100, 22_100]) engine.accept(buyingSol(150_000, at), at);
    engine.accept(book([[42, 1]], [], 23_000), 23_000);
    for (const at of [24_000, 25_000]) engine.accept(buyingSol(150_000, at), at);
    expect(logged).toEqual([
      'slow 10500', 'slow 20100', 'quick 20100', 'quick 21100', 'quick 22100', 'slow 24000', 'slow 25000',
    ]);
  });

  it('drops no event of an input of the same feed that comes after its strategy', () => {
    const slow = { ...BUY, spec: { ...BUY.spec, everyMs: 10_000 } };
    const told: string[] = [];
    const strategies = [
      strategy('first', ({ price }, ctx) => price!.pipe(
        take(1), switchMap(() => ctx.watch({ ...BUY, spec: { ...BUY.spec, everyMs: 1_000 } })), ignoreElements(),
      ), () => ({ price: slow })),
      strategy('second', ({ price }, ctx) => price!.pipe(map(() => ctx.alert('info', `${ctx.now()}`))),
        () => ({ price: slow })),
    ];
    const engine = new Engine({
      state: stateWith({ strategies: strategies.map(({ name }) => strategySetup(name)) }),
      strategies: isApart ? strategies.map((instance) => apart(instance)) : strategies, startAt: 0, seed: 7,
      intervals: Engine.intervalsOf(strategies),
      listener: {
        onRuling: (_ruling, { proposal }) => { if (proposal.kind === 'alert') told.push(proposal.message); },
      },
    });
    engine.start();
    for (const at of [10_500, 11_500, 12_500, 20_000]) engine.accept(buyingSol(150_000, at), at);
    expect(told).toEqual(['10500', '20000']);
  });

  it('joins the feeds of an assembled input', () => {
    const ladder = quoteLadder(SOL_USDC, {
      amounts: [{ token: USDC, amount: PURCHASE }, { token: SOL, amount: 1_000_000_000n }], every: '5s',
    });
    const run = start([strategy('ladder', (_streams, ctx) => ctx.watch(ladder).pipe(
      map(({ rungs }) => ctx.alert('info', rungs.map(({ price }) => price.toFixed(0)).join(' ')))))]);
    run.engine.accept(buyingSol(150_000, 10), 10);
    run.engine.accept(sellingSol(140_000, 20), 20);
    expect(alerts(run)).toEqual(['20 150 140']);
  });

  it('shows nothing during a warm-up, and goes on after it', () => {
    const run = prepare([{ ...strategy('warm', (_streams, ctx) => ctx.watch(BUY).pipe(
      map(() => ctx.alert('info', 'a price')))), warmupMs: 50 }], { startAt: 100 });
    const rows = [60, 70][Symbol.iterator]();
    let at = 0;
    run.engine.warmUp({
      next: () => {
        const { value, done } = rows.next();
        at = value ?? at;
        return done !== true;
      },
      get at() { return at; },
      get input() { return buyingSol(150_000, at); },
    });
    run.engine.start();
    run.engine.accept(buyingSol(150_000, 110), 110);
    expect(alerts(run)).toEqual(['110 a price']);
  });

  it('is repeated exactly by a replay of the inputs', () => {
    const live = start([apart(strategy('late', watcher))]);
    for (let at = 10; at <= 100; at += 10)
      live.engine.accept(at % 20 === 0 ? buyingSol(150_000 + at, at) : sellingSol(140_000 + at, at), at);
    const replayed = start([strategy('late', watcher)]);
    for (const { at, input } of live.inputs) replayed.engine.accept(input, at);
    expect(live.engine.decisions).toBeGreaterThan(5);
    expect(replayed.engine.decisionHash).toBe(live.engine.decisionHash);
  });
});

/** Watches sales of as many sizes as it sees prices. */
const greedy: Body = ({ price }, ctx) => price!.pipe(
  mergeMap((_price, index) => ctx.watch(quotes(SOL_USDC, {
    amount: { token: SOL, amount: BigInt(index + 1) * 1_000_000_000n }, every: '5s',
  }))),
  map(() => ctx.alert('info', 'a sale')),
);

describe('a strategy that watches too much', () => {
  it('is stopped with the limit, and its watches end', () => {
    const run = start([strategy('greedy', greedy)], { limits: { maxWatches: 3 } });
    for (let at = 10; at <= 50; at += 10) run.engine.accept(buyingSol(150_000, at), at);
    run.engine.accept(sellingSol(140_000, 60), 60);
    expect(alerts(run)).toEqual([
      '40 strategy greedy stopped: it watches 4 feeds at once with ctx.watch, and risk.max_watches allows 3',
    ]);
    expect(run.state.strategies.get('greedy')).toMatchObject({ watches: [] });
  });

  it('is stopped where it watches its own portfolio so, which is an input to declare', () => {
    const run = start([strategy('own', ({ price }, ctx) => price!.pipe(
      switchMap(() => ctx.watch(portfolio())), map(() => ctx.alert('info', 'changed')),
    ))]);
    run.engine.accept(buyingSol(150_000, 10), 10);
    expect(alerts(run)).toEqual([
      '10 strategy own stopped: it watches its portfolio with ctx.watch: declare portfolio() among its inputs',
    ]);
  });

  it('is stopped while it starts, and proposes nothing more', () => {
    const run = start([strategy('eager', ({ price }, ctx) => merge(
      merge(...[1n, 2n].map((amount) => ctx.watch(quotes(SOL_USDC, { amount: { token: SOL, amount }, every: '5s' })))),
      price!,
    ).pipe(map(() => ctx.alert('info', 'goes on'))))], { limits: { maxWatches: 1 } });
    run.engine.accept(buyingSol(150_000, 10), 10);
    expect(alerts(run)).toEqual([
      '0 strategy eager stopped: it watches 2 feeds at once with ctx.watch, and risk.max_watches allows 1',
    ]);
    expect(run.engine.running).toEqual([]);
  });

  it('is stopped where it begins watches without an end', () => {
    const run = start([strategy('restless', ({ price }, ctx) => price!.pipe(
      switchMap(() => ctx.watch(SALE)), ignoreElements()))]);
    for (let at = 1; at <= 121; at++) run.engine.accept(buyingSol(150_000, at), at);
    expect(alerts(run)).toEqual(['121 strategy restless stopped: it begins to watch more than 120 feeds in a minute']);
  });

  it('is stopped for an input that cannot be polled', () => {
    const broken = { ...SALE, spec: { ...SALE.spec, everyMs: 0 } };
    const run = start([strategy('broken', ({ price }, ctx) => price!.pipe(
      mergeMap(() => ctx.watch(broken)), ignoreElements()))]);
    run.engine.accept(buyingSol(150_000, 10), 10);
    expect(alerts(run)).toEqual(['10 strategy broken stopped: an input given to ctx.watch has the interval 0: '
      + 'expected a whole number of milliseconds of at least 1']);
  });

  it('is stopped where a promise begins a watch', async () => {
    const late: { watch?: () => void } = {};
    const run = start([strategy('late', (_streams, ctx) => {
      late.watch = () => { ctx.watch(SALE).subscribe(); };
      return EMPTY;
    })]);
    await Promise.resolve().then(() => late.watch!());
    run.engine.accept(buyingSol(150_000, 10), 10);
    if (!isApart) expect(alerts(run)[0]).toMatch(/late stopped: it began a watch outside the engine’s time/);
    expect(run.state.strategies.get('late')).toMatchObject({ watches: [] });
  });
});

describe('the age of what is watched', () => {
  it('counts from the first event on', () => {
    const run = start([strategy('ages', (_streams, ctx) => merge(
      ctx.watch(SALE).pipe(ignoreElements()),
      ctx.watch(BUY).pipe(map(() => ctx.buy(SOL_USDC, { token: USDC, amount: PURCHASE }, 'a price'))),
    ), () => ({}))], { maxAgeMs: 15_000 });
    run.engine.accept(buyingSol(150_000, 10), 10);
    run.engine.accept(sellingSol(140_000, 20), 20);
    run.engine.accept(buyingSol(150_000, 20_000), 20_000);
    expect(run.logged.filter(({ proposal }) => proposal.kind === 'swap').map(({ verdict, code }) => code ?? verdict))
      .toEqual(['approved', 'INPUT_STALE']);
  });
});
