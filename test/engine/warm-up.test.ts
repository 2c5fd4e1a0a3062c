import * as fc from 'fast-check';
import { ignoreElements, map, merge, mergeMap, NEVER, of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import meanReversion from '../../strategies/mean-reversion.ts';
import type { StrategyInstance } from '../../src/engine/strategy-host.ts';
import type { PricedQuote } from '../../src/strategy/index.ts';
import { interval } from '../../src/strategy/index.ts';
import type { Input } from '../../src/trading/step.ts';
import { cursorOver } from '../backtest/recordings.ts';
import { buyingSol, trouble } from '../market/events.ts';
import { SOL, SOL_USDC, USDC } from '../market/tokens.ts';
import { configured } from '../strategies/instances.ts';
import type { Run } from './runs.ts';
import { alerts, prepare, start, strategy } from './runs.ts';

const NOW = 100_000;

const warmed = (instance: StrategyInstance, warmupMs: number): StrategyInstance => ({ ...instance, warmupMs });
const rowsAt = (...ats: number[]): { at: number; input: Input }[] =>
  ats.map((at) => ({ at, input: buyingSol(100_000 + at, at) }));

/** Warms an engine up that starts at `NOW`. */
function warmUp(
  instances: readonly StrategyInstance[], rows = rowsAt(), options: Parameters<typeof prepare>[1] = {},
): Run & { readonly stands: boolean } {
  const run = prepare(instances, { startAt: NOW, ...options });
  const stands = run.engine.warmUp(cursorOver(rows));
  run.engine.start();
  return { ...run, stands };
}

describe('a warm-up', () => {
  it('leaves indicators as after a continuous run, without decisions before the start', () => {
    const dips = configured(meanReversion, { pair: 'SOL/USDC', size: '25 USDC', window: 5, k: 1 });
    fc.assert(fc.property(fc.array(fc.integer({ min: 90_000, max: 110_000 }), { minLength: 1, maxLength: 30 }),
      fc.nat(30), (prices, split) => {
        const quotes = prices.map((price, n) => ({ at: n * 1_000, input: buyingSol(price, n * 1_000) }));
        const before = quotes.slice(0, split);
        const startAt = before.length * 1_000;
        const warm = prepare([warmed(dips, startAt)], { startAt });
        warm.engine.warmUp(cursorOver(before));
        expect([warm.engine.seq, warm.engine.decisions, warm.engine.clock.now()]).toEqual([0, 0, startAt]);
        // Nothing that it proposes is let through, so that the past leaves no trace but what the strategy itself
        // remembers.
        const watching = start([dips], { limits: { maxOpenIntents: 0 } });
        for (const { at, input } of before) watching.engine.accept(input, at);
        const decidedBefore = watching.logged.length;
        warm.engine.start();
        for (const { at, input } of quotes.slice(split)) {
          watching.engine.accept(input, at);
          warm.engine.accept(input, at);
        }
        const [next] = watching.logged.slice(decidedBefore);
        expect(warm.logged[0] && [warm.logged[0].at, warm.logged[0].proposal])
          .toEqual(next && [next.at, next.proposal]);
      }), { numRuns: 60 });
  });

  it('runs at the recorded times: timers fire at their own instants, before and after the start', () => {
    const times: string[] = [];
    const run = warmUp([warmed(strategy('diver', ({ price }, context) => merge(
      price!.pipe(map((quote) => `price of ${(quote as PricedQuote).at}`)),
      interval(context, '4s').pipe(map((n) => `timer ${n}`)),
    ).pipe(map((what) => {
      times.push(`${what} at ${context.now()}`);
      return context.alert('info', what);
    }))), 10_000)], rowsAt(92_000, 95_000));
    expect(times)
      .toEqual(['price of 92000 at 92000', 'timer 0 at 94000', 'price of 95000 at 95000', 'timer 1 at 98000']);
    expect(run.logged).toEqual([]);
    run.engine.advanceTo(102_000);
    expect(alerts(run)).toEqual(['102000 timer 2']);
  });

  it('discards proposals, alerts and log lines, and does not change state and market', () => {
    const run = warmUp([warmed(strategy('diver', ({ price }, context) => price!.pipe(mergeMap(() => {
      context.log('seen');
      return of(context.alert('info', 'seen'), context.buy(SOL_USDC, 'all', 'dip'));
    }))), 10_000)], rowsAt(95_000));
    expect([run.logged, run.logs, run.effects, run.inputs]).toEqual([[], [], [], []]);
    expect(run.state.market.latestQuote(USDC.mint, SOL.mint)).toBeUndefined();
    run.engine.accept(buyingSol(150_000, NOW + 1), NOW + 1);
    expect(run.logs).toEqual(['diver: seen']);
    expect(run.logged).toHaveLength(2);
  });

  it('shows each strategy its own span, and nothing to one without a warm-up', () => {
    const seeing = (name: string) => strategy(name, ({ price }, context) => price!.pipe(mergeMap((quote) => {
      seen.push(`${name} ${(quote as PricedQuote).at} at ${context.now()}`);
      return NEVER;
    })));
    const seen: string[] = [];
    const { stands } = warmUp([seeing('none'), warmed(seeing('short'), 3_000), warmed(seeing('long'), 10_000)], rowsAt(
      89_999, 90_000, 96_999, 97_000, 100_000, 100_001,
    ));
    expect(seen).toEqual(['long 90000 at 90000', 'long 96999 at 96999', 'long 97000 at 97000', 'short 97000 at 97000']);
    expect(stands).toBe(true);
  });

  it('accepts recordings with gaps, unknown feeds, and a clock that was set back', () => {
    const seen: number[] = [];
    const { stands } = warmUp([warmed(strategy('diver', ({ price }) => price!.pipe(mergeMap((quote) => {
      seen.push((quote as PricedQuote).at);
      return NEVER;
    }))), 50_000)], [
      ...rowsAt(60_000, 61_000), { at: 61_500, input: trouble('quote:x', 61_500) }, ...rowsAt(90_000, 80_000, 91_000),
      { at: 92_000, input: { ...buyingSol(1_000, 92_000), feed: 'quote:foreign' } },
    ]);
    expect(seen).toEqual([60_000, 61_000, 90_000, 91_000]);
    expect(stands).toBe(false);
  });

  it('does not fold recorded events into the kept state', () => {
    const counting = strategy('diver', ({ price }, context) => price!.pipe(
      context.stateful('n', 0, (n: number) => n + 1), map(({ state }) => context.alert('info', `${state} seen`))));
    const run = warmUp([warmed(counting, 10_000)], rowsAt(91_000, 92_000), {
      restored: { states: { diver: '{"n":7}' }, unseen: [] },
    });
    run.engine.accept(buyingSol(150_000, NOW + 1), NOW + 1);
    expect(alerts(run)).toEqual([`${NOW + 1} 8 seen`]);
  });

  it('ends before the outcomes of the time when the bot was down', () => {
    const ended = { kind: 'outcome', intentId: 'diver-1', attempt: 1, state: 'expired' } as const;
    const order: string[] = [];
    warmUp([warmed(strategy('diver', ({ price }, context) => merge(
      price!.pipe(mergeMap(() => { order.push('price'); return NEVER; })),
      context.outcomes$.pipe(
        context.stateful('n', 0, (n: number) => { order.push('outcome'); return n + 1; }), ignoreElements(),
      ),
    )), 10_000)], rowsAt(95_000), { restored: { states: { diver: '{"n":0}' }, unseen: [ended] } });
    expect(order).toEqual(['price', 'outcome']);
  });

  it('with a failure stops that strategy at the start, and the others continue', () => {
    const failing =
      warmed(strategy('diver', ({ price }) => price!.pipe(map(() => { throw new Error('boom'); }))), 10_000);
    const run = warmUp([failing, warmed(strategy('other'), 10_000)], rowsAt(95_000));
    expect(alerts(run)).toEqual([`${NOW} strategy diver stopped: boom`]);
    expect(run.engine.running).toEqual(['other']);
  });

  it('without recorded events still runs the strategy through the time', () => {
    const run = warmUp([warmed(strategy(
      'diver', (_streams, context) => interval(context, '4s').pipe(map((n) => context.alert('info', `timer ${n}`))),
    ), 10_000)]);
    run.engine.advanceTo(102_000);
    expect(alerts(run)).toEqual(['102000 timer 2']);
  });
});

