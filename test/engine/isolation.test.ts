import { map, merge, NEVER, Observable, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { StrategyInstance } from '../../src/engine/strategy-host.ts';
import { interval } from '../../src/strategy/index.ts';
import { buyingSol } from '../market/events.ts';
import { SOL_USDC } from '../market/tokens.ts';
import type { Run } from './runs.ts';
import { alerts, decided, priceInput, start, strategy } from './runs.ts';

const neighbour = (name: string): StrategyInstance => strategy(name, ({ price }, context) =>
  price!.pipe(map((_, n) =>
    (n === 1 ? context.buy(SOL_USDC, { fraction: 0.1 }, 'second price') : context.alert('info', `price ${n}`)))));
const quiet = strategy('broken');

const BROKEN: readonly (readonly [string, StrategyInstance])[] = [
  ['in run', strategy('broken', () => { throw new Error('boom'); })],
  ['in inputs’ adapter',
    strategy('broken', ({ price }, context) => price!.pipe(map(() => context.alert('info', 'never'))),
      () => ({ price: { ...priceInput().price, adapt: () => { throw new Error('boom'); } } }))],
  ['in a stream', strategy('broken', ({ price }) => price!.pipe(map(() => { throw new Error('boom'); })))],
  ['as it subscribes', strategy('broken', () => throwError(() => new Error('boom')))],
  ['in a timer of an operator', strategy('broken', (_streams, context) =>
    interval(context, '10ms').pipe(map(() => { throw new Error('boom'); })))],
  ['in a timer of its own', strategy('broken', (_streams, context) => {
    context.clock.schedule(() => { throw new Error('boom'); }, 10);
    return NEVER;
  })],
  ['with something that is no error', strategy('broken', ({ price }) =>
    price!.pipe(map(() => { throw 'boom' as unknown as Error; })))],
  ['by proposing nothing', strategy('broken', ({ price }) => price!.pipe(map(() => undefined as never)))],
  ['by proposing an amount that is no number', strategy('broken', ({ price }, context) =>
    price!.pipe(map(() => context.buy(SOL_USDC, { fraction: Number.NaN }, 'x'))))],
  ['by a proposal that cannot be read', strategy('broken', ({ price }, context) =>
    price!.pipe(map(() => Object.defineProperty(context.alert('info', 'x'), 'message', {
      get: () => { throw new Error('boom'); },
    }))))],
  ['by an alert with data that is no number', strategy('broken', ({ price }, context) =>
    price!.pipe(map(() => context.alert('info', 'x', { z: Number.NaN }))))],
];

function drive(broken: StrategyInstance): Run {
  const run = start([neighbour('before'), broken, neighbour('after')]);
  for (const at of [20, 30, 40, 50]) run.engine.accept(buyingSol(150_000 + at, at), at);
  run.engine.advanceTo(100);
  return run;
}

describe('a strategy that fails', () => {
  const undisturbed = drive(quiet);

  it.each(BROKEN)('%s is stopped with one alert, and the others decide the same', (_where, broken) => {
    const run = drive(broken);
    expect(alerts(run, 'broken'))
      .toEqual([expect.stringMatching(/^\d+ strategy broken stopped: (?:boom|expected .+)$/)]);
    expect(run.logged.find(({ strategy: name }) => name === 'broken'))
      .toMatchObject({ proposal: { level: 'critical' }, verdict: 'approved' });
    expect(run.engine.running).toEqual(['before', 'after']);
    for (const name of ['before', 'after']) {
      expect(decided(run, name)).toEqual(decided(undisturbed, name));
      expect(decided(run, name)).toHaveLength(4);
    }
  });

  it('fails in the same way in a replay', () => {
    for (const [where, broken] of BROKEN)
      expect(drive(broken).engine.decisionHash, where).toBe(drive(broken).engine.decisionHash);
  });

  it('keeps its earlier proposals', () => {
    const run = start([strategy('broken', (_streams, context) => new Observable((subscriber) => {
      subscriber.next(context.alert('info', 'before'));
      throw new Error('boom');
    }))]);
    expect(alerts(run)).toEqual(['0 before', '0 strategy broken stopped: boom']);
  });

  it('is not restarted by a later event, and its open intents are still settled', () => {
    const run = start([strategy('broken', ({ price }, context) => price!.pipe(map((_, n) => {
      if (n > 0) throw new Error('boom');
      return context.buy(SOL_USDC, { fraction: 0.5 }, 'dip');
    })))]);
    for (const at of [10, 20, 30]) run.engine.accept(buyingSol(150_000, at), at);
    expect(run.logged).toHaveLength(2);
    run.engine.accept({ kind: 'outcome', intentId: 'broken-1', attempt: 1, state: 'abandoned' }, 40);
    expect(run.state.intents.size).toBe(0);
  });

  it('is stopped when it answers each refusal with a new proposal, and the others continue', () => {
    const stubborn = strategy('broken', ({ price }, context) => {
      const swap = context.buy(SOL_USDC, { fraction: 1 }, 'again', { slippageBps: 10_000 as never });
      return merge(price!.pipe(map(() => swap)), context.denials$.pipe(map(() => swap)));
    });
    const run = drive(stubborn);
    expect(alerts(run, 'broken')).toEqual([expect.stringContaining('it keeps proposing at one instant')]);
    expect(run.engine.running).toEqual(['before', 'after']);
  });
});

it('a strategy that completes stops without an alert', () => {
  const run =
    start([strategy('done', () => new Observable((subscriber) => { subscriber.complete(); })), neighbour('after')]);
  run.engine.accept(buyingSol(150_000, 10), 10);
  expect(run.engine.running).toEqual(['after']);
  expect(alerts(run)).toEqual(['10 price 0']);
});
