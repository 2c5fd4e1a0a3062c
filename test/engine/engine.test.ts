import { map, merge, mergeMap, NEVER, of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { PricedQuote } from '../../src/strategy/index.ts';
import { interval, orderBook, quotes, timer } from '../../src/strategy/index.ts';
import { Engine } from '../../src/engine/engine.ts';
import type { Outcome } from '../../src/trading/intent.ts';
import { book, buyingSol, PURCHASE, sellingSol, trouble } from '../market/events.ts';
import { SOL, SOL_USDC, USDC } from '../market/tokens.ts';
import type { Protection } from '../../src/trading/limits.ts';
import { freshSnapshot } from '../../src/trading/engine-state.ts';
import { fillOf, WALLET } from '../trading/states.ts';
import type { Run } from './runs.ts';
import { alerts, prepare, start, strategy } from './runs.ts';

const PURCHASE_OF = { token: USDC, amount: PURCHASE };

const building = (id: string): Outcome => ({ kind: 'outcome', intentId: id, attempt: 1, state: 'building' });

const watching = (name: string, every: string) =>
  strategy(name, ({ price }, context) => price!.pipe(map(() => context.alert('info', name))),
    () => ({ price: quotes(SOL_USDC, { amount: PURCHASE_OF, every }) }));

const listening = (name: string) => strategy(name, ({ price }, context) => merge(
  price!.pipe(mergeMap(() => (name === 'diver-2' ? [context.buy(SOL_USDC, PURCHASE_OF, 'dip')] : []))),
  context.outcomes$.pipe(map(({ state }) =>
    context.alert('info', `${state}, ${context.openIntents()} open, ${context.available(SOL)} SOL`))),
));

const drawing = (name: string) =>
  strategy(name, (_streams, context) => of(context.alert('info', String(context.random()))));

const drawn = (seed: number, ...names: string[]): string[] => alerts(start(names.map(drawing), { seed }));

describe('the engine', () => {
  it('publishes a price after the state holds it', () => {
    const seen: unknown[] = [];
    const run = start([strategy('diver', ({ price }) => price!.pipe(mergeMap((quote) => {
      seen.push([
        (quote as PricedQuote).at, (quote as PricedQuote).price,
        run.state.market.latestQuote(USDC.mint, SOL.mint)?.receivedAt,
      ]);
      return NEVER;
    })))]);
    run.engine.accept(buyingSol(150_000, 10), 10);
    run.engine.accept(buyingSol(125_000, 20), 20);
    expect(seen).toEqual([[10, expect.closeTo(150, 5), 10], [20, 125, 20]]);
    expect(run.engine.clock.now()).toBe(20);
  });

  it('rules on all proposals before the next input, and numbers inputs and decisions without a gap', () => {
    const twice = strategy('diver', ({ price }, context) => price!.pipe(
      mergeMap(() => [context.alert('info', 'one'), context.alert('info', 'two')])));
    const run =
      start([twice, strategy('other', ({ price }, context) => price!.pipe(map(() => context.alert('info', 'three'))))]);
    run.engine.accept(buyingSol(150_000, 10), 10);
    run.engine.accept(trouble('quote:x', 11), 11);
    run.engine.accept(buyingSol(151_000, 12), 12);
    expect(run.order).toEqual(['in 1', 'out 2', 'out 3', 'out 4', 'in 5', 'in 6', 'out 7', 'out 8', 'out 9']);
    expect(alerts(run)).toEqual(['10 one', '10 two', '10 three', '12 one', '12 two', '12 three']);
    expect([run.engine.seq, run.engine.decisions]).toEqual([9, 6]);
  });

  it('emits a swap’s effect before the protection that it triggers, so that a saved state includes its row', () => {
    const seller = strategy('diver', (_streams, context) =>
      timer(context, '20s').pipe(map(() => context.sell(SOL_USDC, 'all', 'out'))));
    const absent: Protection = {
      trigger: { kind: 'dead-man', afterMs: 15_000 }, scope: 'global', action: 'deny', release: { kind: 'operator' },
    };
    const order: string[] = [];
    const run: Run = start([seller], {
      limits: { protections: [absent] },
      snapshot: {
        ...freshSnapshot(WALLET),
        books: { diver: { balances: { [SOL.mint]: '1000000000' }, feesLamports: '0', swaps: 0 } },
      },
      onEffect: () => { order.push('swap'); },
      onProtection: ({ protection }) => { order.push(protection.trigger.kind); },
    });
    run.engine.accept(buyingSol(150_000, 10), 10);
    run.engine.advanceTo(20_000);
    expect(order).toEqual(['swap', 'dead-man']);
  });

  it('rules on a timer’s proposals before the next timer fires', () => {
    const run = start([strategy('diver', (_streams, context) => merge(
      timer(context, '10ms').pipe(map(() => context.buy(SOL_USDC, 'all', 'first'))),
      timer(context, '20ms').pipe(map(() => context.alert('info', `${context.available(USDC)} left`))),
    ))]);
    run.engine.advanceTo(100);
    expect(alerts(run)).toEqual(['20 0 left']);
    expect(run.logged.map(({ at, verdict }) => [at, verdict])).toEqual([[10, 'approved'], [20, 'approved']]);
  });

  it('rules on proposals of a strategy’s start', () => {
    const run = start([strategy('diver', (_streams, context) => of(context.alert('info', 'here')))], { startAt: 500 });
    expect(alerts(run)).toEqual(['500 here']);
  });

  it('queues an input that arrives during the handling of another', () => {
    const run = start([strategy('diver', ({ price }, context) => price!.pipe(
      mergeMap(() => [context.buy(SOL_USDC, PURCHASE_OF, 'dip'), context.alert('info', 'bought')])))], {
      onEffect: (effect, engine) => { if (effect.kind === 'execute') engine.accept(building(effect.intent.id), 10); },
    });
    run.engine.accept(buyingSol(150_000, 10), 10);
    expect(run.order).toEqual(['in 1', 'out 2', 'out 3', 'in 4']);
    expect(run.inputs[1]!.input).toMatchObject({ kind: 'outcome', state: 'building' });
    expect(run.state.intents.get('diver-1')!.state).toBe('building');
  });

  it('refuses to be advanced from within', () => {
    let failure: unknown;
    const run = start([strategy('diver', ({ price }, context) => price!.pipe(map(() => context.alert('info', 'x'))))], {
      onEffect: (_effect, engine) => {
        try {
          engine.advanceTo(99);
        } catch (error) {
          failure = error;
        }
      },
    });
    run.engine.accept(buyingSol(150_000, 10), 10);
    expect(failure).toMatchObject({ name: 'AssertionError', message: 'the engine is moved from outside only' });
    expect(run.engine.clock.now()).toBe(10);
  });

  it('polls a shared feed once, and publishes every event to each strategy', () => {
    const instances = [watching('slow', '5s'), watching('fast', '1s'), strategy('reader', undefined, () =>
      ({ book: orderBook('M', { every: '9s' }) }))];
    expect(Engine.feedsOf(instances).map(({ kind, everyMs }) => [kind, everyMs]))
      .toEqual([['quote', 1_000], ['order-book', 9_000]]);
    const run = start(instances);
    run.engine.accept(buyingSol(150_000, 10), 10);
    run.engine.accept(book([[1, 1]], [], 11), 11);
    run.engine.accept(sellingSol(150_000, 12), 12);
    expect(alerts(run)).toEqual(['10 slow', '10 fast']);
  });

  it('publishes outcomes to the strategy of the intent alone', () => {
    const run = start([listening('diver'), listening('diver-2')]);
    run.engine.accept(buyingSol(150_000, 10), 10);
    const { intent } = run.effects[0] as { kind: 'execute'; intent: Parameters<typeof fillOf>[0] };
    const said = (state: Outcome['state'], rest: Partial<Outcome> = {}): void =>
      { run.engine.accept({ kind: 'outcome', intentId: intent.id, attempt: 1, state, ...rest }, 20); };
    said('building');
    said('signed');
    said('confirmed', { fill: fillOf(intent, 42n) });
    expect(alerts(run, 'diver')).toEqual([]);
    expect(alerts(run, 'diver-2'))
      .toEqual(['20 building, 1 open, 0 SOL', '20 signed, 1 open, 0 SOL', '20 confirmed, 0 open, 42 SOL']);
  });

  it('applies inputs after the strategies are stopped, without further proposals', () => {
    const run = start([strategy('diver', ({ price }, context) => merge(
      price!.pipe(map(() => context.alert('info', 'price'))),
      interval(context, '10ms').pipe(map(() => context.alert('info', 'tick')))))]);
    expect(run.engine.running).toEqual(['diver']);
    run.engine.stop();
    run.engine.accept(buyingSol(150_000, 50), 50);
    run.engine.advanceTo(100);
    expect(run.engine.running).toEqual([]);
    expect(alerts(run)).toEqual([]);
    expect(run.state.market.latestQuote(USDC.mint, SOL.mint)).toBeDefined();
  });

  it('gives equal random numbers for equal seed and name, and others otherwise', () => {
    expect(drawn(7, 'a', 'b')).toEqual(drawn(7, 'a', 'b'));
    expect(new Set([...drawn(7, 'a', 'b'), ...drawn(8, 'a', 'b')]).size).toBe(4);
    expect(drawn(7, 'b')[0]).toBe(drawn(7, 'a', 'b')[1]);
  });

  it('passes log lines on without a decision', () => {
    const run = start([strategy('diver', (_streams, context) => {
      context.log('hello');
      return NEVER;
    })]);
    expect(run.logs).toEqual(['diver: hello']);
    expect(run.engine.seq).toBe(0);
  });

  it('composes the proposals of a strategy’s swaps', () => {
    const run = start([strategy('diver', (_streams, context) => of(
      context.buy(SOL_USDC, PURCHASE_OF, 'a'), context.sell(SOL_USDC, 'all', 'b', { route: 'build', key: 'k' }),
      context.swap(SOL, USDC, { fraction: 0.5 }, 'c')))]);
    expect(run.logged.map(({ proposal }) => proposal)).toEqual([
      { kind: 'swap', inputMint: USDC.mint, outputMint: SOL.mint, amount: PURCHASE, reason: 'a' },
      {
        kind: 'swap', inputMint: SOL.mint, outputMint: USDC.mint, amount: 'all', reason: 'b', route: 'build', key: 'k',
      },
      { kind: 'swap', inputMint: SOL.mint, outputMint: USDC.mint, amount: { fraction: 0.5 }, reason: 'c' },
    ]);
  });

  it('refuses a strategy without a record in the state', () => {
    const known = prepare([strategy('known')]);
    expect(() =>
      new Engine({ state: known.state, strategies: [strategy('unknown')], startAt: 0, seed: 1, listener: {} }))
      .toThrow('unknown has no record');
  });
});
