import type { Observable } from 'rxjs';
import { map, merge, NEVER, switchMap, take, takeUntil } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { runBacktest, samplingOf } from '../../src/backtest/backtest.ts';
import { replayRun } from '../../src/backtest/replay.ts';
import { BASE_MODEL } from '../../src/trading/simulation-model.ts';
import type { LoggedDecision } from '../../src/engine/decision-log.ts';
import { Engine } from '../../src/engine/engine.ts';
import type { StrategyInstance } from '../../src/engine/strategy-host.ts';
import type { FeedKey } from '../../src/market/event.ts';
import { joinSampling, restartSampling, takesSample } from '../../src/market/sample-windows.ts';
import type { Quote } from '../../src/market/quote.ts';
import type { PricedQuote } from '../../src/strategy/index.ts';
import { defineStrategy, quotes, timer } from '../../src/strategy/index.ts';
import { buyingSol, PURCHASE } from '../market/events.ts';
import { SOL_USDC, USDC } from '../market/tokens.ts';
import { stateWith, strategySetup } from '../trading/states.ts';
import { cursorOver } from './recordings.ts';

/** Alerts each price of buying SOL for 25 USDC that it receives. */
const teller = (name: string, every: string): StrategyInstance => ({
  name, params: {},
  strategy: defineStrategy({
    name, summary: 'Tells each price.', params: z.strictObject({}),
    inputs: () => ({ price: quotes(SOL_USDC, { amount: { token: USDC, amount: PURCHASE }, every }) }),
    run: ({ price }, _, context) => price.pipe(map(({ at }) => context.alert('info', `price of ${at}`))),
  }),
});

/** Polls every ten seconds as live does, with a tolerance of a tenth. */
const POLLED: readonly Quote[] = Array.from({ length: 360 }, (_, n) =>
  buyingSol(150_000 + n, 4_000 + n * 10_000 + Math.round(450 * Math.sin(n * n))));
const stateOf = (strategies: readonly StrategyInstance[]) =>
  stateWith({ strategies: strategies.map(({ name }) => strategySetup(name)) });
const ROWS = POLLED.map((input, n) => ({ seq: n + 1, at: input.receivedAt, input }));

function live(
  strategies: readonly StrategyInstance[], intervals: ReadonlyMap<FeedKey, number> | undefined,
): { readonly logged: readonly LoggedDecision[]; readonly seqs: readonly number[] } {
  const logged: LoggedDecision[] = [];
  const seqs: number[] = [];
  const engine = new Engine({
    state: stateOf(strategies), strategies, startAt: 0, seed: 7, intervals,
    listener: { onInput: (seq) => { seqs.push(seq); }, onRuling: (_, decision) => { logged.push(decision); } },
  });
  engine.start();
  for (const { at, input } of ROWS) engine.accept(input, at);
  engine.stop();
  return { logged, seqs };
}

const toldBy = (logged: readonly LoggedDecision[], name: string): readonly string[] =>
  logged.filter(({ strategy }) => strategy === name)
    .map(({ proposal }) => (proposal.kind === 'alert' ? proposal.message : ''));

describe('issue 13.1: inputs of one feed receive events at their own intervals', () => {
  const both = [teller('fast', '10s'), teller('slow', '1m')];

  it('live, in replay and in a backtest of the polled rows, with the same decisions', () => {
    const { logged, seqs } = live(both, Engine.intervalsOf(both));
    expect(toldBy(logged, 'fast')).toHaveLength(360);
    // The first event of each minute.
    const minutes = Map.groupBy(POLLED, ({ receivedAt }) => Math.floor(receivedAt / 60_000));
    expect(toldBy(logged, 'slow'))
      .toStrictEqual([...minutes.values()].map(([first]) => `price of ${first!.receivedAt}`));

    let place = -1;
    const rows = ROWS.map((row, n) => ({ ...row, seq: seqs[n]! }));
    const { match } = replayRun({
      state: stateOf(both), strategies: both, seed: 7, startAt: 0, started: { after_seq: 0, at: 0 }, stopped: null,
      intervals: Engine.intervalsOf(both),
      cursor: {
        next: () => ++place < rows.length, get at() { return rows[place]!.at; },
        get input() { return rows[place]!.input; }, get seq() { return rows[place]!.seq; },
      },
      recorded: logged.map(({ seq, at, h }) => ({ seq, at, h })),
    });
    expect(match).toBe(true);

    const recorded = new Map([[POLLED[0]!.feed, 10_000]]);
    const { decisionHash } = runBacktest({
      state: stateOf(both), strategies: both, seed: 7, startAt: 0, cursor: cursorOver(ROWS), model: BASE_MODEL,
      stopwatch: () => 0, sampling: samplingOf(both, recorded),
    });
    expect(decisionHash).toBe(logged.at(-1)!.h);
  });

  it('receive the first event at once, and the next one after half an interval at the earliest', () => {
    const windows = { everyMs: 60_000, window: -Infinity };
    const taken = (at: number): boolean => takesSample(windows, at);
    expect([50_000, 60_000, 110_000, 120_000, 170_000, 180_500, 239_999].map(taken))
      .toStrictEqual([true, false, false, true, false, true, false]);
    restartSampling(windows);
    expect([200_000, 230_000, 240_000].map(taken)).toStrictEqual([true, false, true]);
    joinSampling(windows, 250_000);
    expect([250_000, 299_999, 300_000].map(taken)).toStrictEqual([false, false, true]);
    joinSampling(windows, 360_000);
    expect(taken(360_000)).toBe(true);
  });

  it('receive every event in older runs, which have no intervals', () => {
    expect(toldBy(live(both, undefined).logged, 'slow')).toHaveLength(360);
  });

  it('receive every poll of a recording with the configured interval, with a tolerance of a tenth', () => {
    expect(samplingOf([teller('own', '10s')], new Map([[POLLED[0]!.feed, 9_998]]))?.polled).toBeUndefined();
    expect(samplingOf([teller('own', '15s')], new Map([[POLLED[0]!.feed, 9_998]]))?.polled).toBeDefined();
  });
});

const price = (every: string) => quotes(SOL_USDC, { amount: { token: USDC, amount: PURCHASE }, every });

describe('a watch in a backtest', () => {
  const SECONDS = Array.from({ length: 100 }, (_, n) => buyingSol(150_000 + n, n * 1_000))
    .map((input, n) => ({ seq: n + 1, at: input.receivedAt, input }));
  const told = (body: Parameters<typeof defineStrategy>[0]['run'], feeds?: readonly FeedKey[]) => {
    const instance: StrategyInstance = { name: 'watcher', params: {}, strategy: defineStrategy({
      name: 'watcher', summary: 'Watches.', params: z.strictObject({}), inputs: () => ({ price: price('30s') }),
      run: body,
    }) };
    const messages: string[] = [];
    const { unrecorded, completed } = runBacktest({
      state: stateOf([instance]), strategies: [instance], seed: 7, startAt: 0, cursor: cursorOver(SECONDS), feeds,
      model: BASE_MODEL, stopwatch: () => 0,
      sampling: samplingOf([instance], new Map([[SECONDS[0]!.input.feed, 1_000]])),
      onDecision: ({ proposal }) => { if (proposal.kind === 'alert') messages.push(proposal.message); },
    });
    return { messages, unrecorded, completed };
  };

  it('sees its feed at its own interval, while the input of the same feed keeps its own', () => {
    const { messages } = told(({ price: slow }, _, context) => merge(
      (slow as Observable<PricedQuote>).pipe(map(({ at }) => context.alert('info', `slow ${at}`))),
      timer(context, '40500ms').pipe(
        switchMap(() => context.watch(price('5s')).pipe(takeUntil(timer(context, '20s')))),
        map(({ at }) => context.alert('info', `quick ${at}`)),
      ),
    ));
    expect(messages).toEqual([
      'slow 0', 'slow 30000', 'quick 41000', 'quick 45000', 'quick 50000', 'quick 55000', 'slow 60000', 'quick 60000',
      'slow 90000',
    ]);
  });

  it('ends with a stream that is complete, which the result says', () => {
    const tell = take<PricedQuote>(2);
    const { messages, completed } = told(({ price: slow }, _, context) =>
      (slow as Observable<PricedQuote>).pipe(tell, map(() => context.alert('info', 'one of two'))));
    expect([messages.length, completed]).toEqual([2, [{ strategy: 'watcher', at: 30_000 }]]);
    expect(told(() => NEVER).completed).toEqual([]);
  });

  it('of a feed that the recording lacks is named in the result, and sees nothing', () => {
    const sale = quotes(SOL_USDC, { amount: { token: USDC, amount: 1n }, every: '5s' });
    const { messages, unrecorded } = told((_streams, _, context) => context.watch(sale).pipe(
      map(() => context.alert('info', 'a sale'))), [SECONDS[0]!.input.feed]);
    expect(messages).toEqual([]);
    expect(unrecorded).toEqual([`quote:${USDC.mint}:${SOL_USDC.base.mint}:1`]);
  });
});
