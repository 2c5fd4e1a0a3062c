import { filter, map, merge, mergeMap, scan } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../src/core/random.ts';
import type { StrategyInstance } from '../../src/engine/strategy-host.ts';
import type { Outcome, PricedQuote } from '../../src/strategy/index.ts';
import { interval, quotes } from '../../src/strategy/index.ts';
import type { ReloadStrategy } from '../../src/trading/engine-command.ts';
import type { Input } from '../../src/trading/step.ts';
import { cursorOver } from '../backtest/recordings.ts';
import { buyingSol, PURCHASE, sellingSol } from '../market/events.ts';
import { SOL, SOL_USDC, USDC } from '../market/tokens.ts';
import { outcome } from '../trading/states.ts';
import type { Body, Run } from './runs.ts';
import { alerts, start, strategy } from './runs.ts';

const SALE = quotes(SOL_USDC, { amount: { token: SOL, amount: 1_000_000_000n }, every: '5s' });

const order = (name: string): ReloadStrategy =>
  ({ kind: 'command', name: 'reload-strategy', strategy: name, code: 'c0de', params: {}, warmup: null, reason: '' });

/** Counts prices and ended swaps in a kept state, and buys at each third price. */
const keeper = (name: string, every = 3): StrategyInstance => strategy(name, ({ price }, context) => {
  const seen = context.stateful('seen', { prices: 0, ended: 0 }, (state, event: Outcome | 'price') => (
    event === 'price' ? { ...state, prices: state.prices + 1 }
      : event.state === 'abandoned' ? { ...state, ended: state.ended + 1 } : state));
  return merge(
    context.outcomes$.pipe(seen, filter(() => false)),
    price!.pipe(map(() => 'price' as const), seen, mergeMap(({ state }) => [
      context.alert('info', `${state.prices} prices, ${state.ended} bought, ${context.available(USDC)} left`),
      ...(state.prices % every === 0 ? [context.buy(SOL_USDC, { token: USDC, amount: PURCHASE }, 'in turn')] : []),
    ])),
  ) as ReturnType<Body>;
});

/** Tells the mean of the last five prices: its memory is warmed up. */
const averaging = (name: string): StrategyInstance => ({
  ...strategy(name, ({ price }, context) => price!.pipe(
    scan((last: readonly number[], quote) => [...last.slice(-4), (quote as PricedQuote).price], []),
    filter((last) => last.length === 5),
    map((last) => context.alert('info', `mean ${(last.reduce((sum, one) => sum + one, 0) / 5).toFixed(3)}`)),
  )),
  warmupMs: 5_000,
});

/** Watches a feed beside its inputs from its start on. */
const watching = (name: string): StrategyInstance => strategy(name, (_streams, context) =>
  context.watch(SALE).pipe(map(({ price }) => context.alert('info', `sale at ${price.toFixed(2)}`))));

/** Ticks, and watches sales in its old version. */
const ticking = (what: string): StrategyInstance => strategy('ticking', (_streams, context) => merge(
  interval(context, '7s').pipe(map(() => context.alert('info', what))),
  ...(what === 'old' ? [context.watch(SALE).pipe(map(() => context.alert('info', 'sale')))] : []),
));

const HOSTED = [keeper('keeper'), averaging('averaging'), watching('watching')];

/** Shows an event; each swap is given up at once. */
function show(run: Run, input: Input, at: number): void {
  run.engine.accept(input, at);
  for (const effect of run.effects.splice(0)) {
    if (effect.kind === 'execute') run.engine.accept(outcome(effect.intent, 'abandoned'), at);
  }

}

/** What strategies decided, without the stamps: a reload takes a number, and so changes those after it. */
const decisionsOf = ({ logged }: Run): unknown[] => logged.map(({ seq: _seq, h: _h, ...decision }) => decision);

/** Returns a run whose strategies are reloaded into themselves; `rows` are what it was shown by then. */
function reloadable(instances: readonly StrategyInstance[]): Run {
  const run: Run = start(instances, { startAt: 0, versionOf: ({ strategy: name }, seq) => ({
    instance: instances.find((instance) => instance.name === name)!, rows: rowsBefore(run, seq),
  }) });
  return run;
}

function rowsBefore(run: Run, seq: number): ReturnType<typeof cursorOver> {
  return cursorOver(run.inputs.filter((row) => row.seq < seq).map(({ at, input }) => ({ at, input })));
}

const eventAt = (n: number, at: number): Input =>
  (n % 4 === 3 ? sellingSol(149_000 + n, at) : buyingSol(150_000 + (n * 37) % 1_000, at));

describe('a reload', () => {
  it.each([1, 2, 3])('into the same version changes no decision: 1,000 of them in a run (%i)', (seed) => {
    const random = seededRandom(`reloads ${seed}`);
    const one = (below: number): number => Math.floor(random() * below);
    const reloads = Array.from({ length: 1_000 }, () => [one(600), one(3)] as const);
    const plain = reloadable(HOSTED);
    const reloaded = reloadable(HOSTED);
    for (let n = 0; n < 600; n++) {
      // Two events come within each millisecond that has any.
      const at = 10 + Math.floor(n / 2) * 700;
      show(plain, eventAt(n, at), at);
      show(reloaded, eventAt(n, at), at);
      for (const [, which] of reloads.filter(([when]) => when === n))
        reloaded.engine.accept(order(HOSTED[which]!.name), at);
    }
    expect(reloaded.inputs.filter(({ input }) => input.kind === 'command')).toHaveLength(1_000);
    expect(plain.logged.length).toBeGreaterThan(1_000);
    expect(decisionsOf(reloaded)).toEqual(decisionsOf(plain));
    expect(reloaded.engine.running).toEqual(['keeper', 'averaging', 'watching']);
  });

  it('goes on in the new version with the state of the old one, and is repeated by a replay', () => {
    const version = { instance: keeper('keeper', 2) };
    const run = start([keeper('keeper')], { versionOf: () => version });
    for (let n = 0; n < 4; n++) show(run, buyingSol(150_000 + n, 10 + n), 10 + n);
    run.engine.accept(order('keeper'), 20);
    for (let n = 4; n < 8; n++) show(run, buyingSol(150_000 + n, 30 + n), 30 + n);
    // It bought at the third price, and then at each second one.
    expect(run.logged.filter(({ proposal }) => proposal.kind === 'swap').map(({ at }) => at)).toEqual([12, 35, 37]);
    expect(alerts(run).at(-1)).toMatch(/^37 8 prices, 2 bought/);
    const replayed = start([keeper('keeper')], { versionOf: () => version });
    for (const { at, input } of run.inputs) replayed.engine.accept(input, at);
    expect(replayed.engine.decisionHash).toBe(run.engine.decisionHash);
    expect(replayed.engine.takeStrategyStates()).toEqual(run.engine.takeStrategyStates());
  });

  it('ends the timers and watches of the old version, and begins those of the new one', () => {
    const run = start([ticking('old')], { versionOf: () => ({ instance: ticking('new') }) });
    run.engine.accept(sellingSol(140_000, 1_000), 1_000);
    run.engine.accept(order('ticking'), 8_000);
    run.engine.accept(sellingSol(140_000, 9_000), 9_000);
    run.engine.advanceTo(16_000);
    expect(alerts(run)).toEqual(['1000 sale', '7000 old', '15000 new']);
    expect(run.state.strategies.get('ticking')).toMatchObject({ watches: [] });
  });

  it('warms the new version up to the event before, at the recorded times', () => {
    const times: string[] = [];
    const diver = (what: string): StrategyInstance => ({
      ...strategy('diver', ({ price }, context) => merge(
        price!.pipe(map((quote) => `price of ${(quote as PricedQuote).at}`)),
        interval(context, '4s').pipe(map((n) => `timer ${n}`)),
      ).pipe(map((seen) => {
        if (what === 'new') times.push(`${seen} at ${context.now()}`);
        return context.alert('info', `${what} ${seen}`);
      }))), warmupMs: 5_000,
    });
    const run: Run = start([diver('old')], {
      versionOf: (_order, seq) => ({ instance: diver('new'), rows: rowsBefore(run, seq) }),
    });
    for (const at of [2_000, 6_000, 10_000]) run.engine.accept(buyingSol(150_000, at), at);
    run.engine.accept(order('diver'), 10_000);
    expect(times).toEqual(['price of 6000 at 6000', 'timer 0 at 9000', 'price of 10000 at 10000']);
    const before = run.logged.length;
    run.engine.advanceTo(14_000);
    expect(run.logged.slice(before).map(({ at, proposal }) => [at, proposal])).toMatchObject([
      [13_000, { message: 'new timer 1' }],
    ]);
  });

  it('does nothing to a strategy that was stopped', () => {
    const run = start([strategy('broken', ({ price }) => price!.pipe(map(() => { throw new Error('broken'); })))], {
      versionOf: () => ({ instance: keeper('broken') }),
    });
    run.engine.accept(buyingSol(150_000, 10), 10);
    run.engine.accept(order('broken'), 20);
    expect(run.engine.running).toEqual([]);
    expect(run.engine.stateToHandOver('broken')).toEqual({ refused: 'it was stopped: broken' });
  });
});
