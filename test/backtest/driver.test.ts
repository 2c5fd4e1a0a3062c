import * as fc from 'fast-check';
import { map, merge, mergeMap } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { drive, settle } from '../../src/backtest/driver.ts';
import { replayRun } from '../../src/backtest/replay.ts';
import type { StrategyInstance } from '../../src/engine/strategy-host.ts';
import { VirtualClock } from '../../src/engine/virtual-clock.ts';
import type { Quote } from '../../src/market/quote.ts';
import { debounceTime, interval } from '../../src/strategy/index.ts';
import meanReversion from '../../strategies/mean-reversion.ts';
import smaCrossover from '../../strategies/sma-crossover.ts';
import { buyingSol, PURCHASE } from '../market/events.ts';
import { SOL_USDC, USDC } from '../market/tokens.ts';
import { alerts, start, strategy } from '../engine/runs.ts';
import { configured } from '../strategies/instances.ts';
import { stateWith, strategySetup } from '../trading/states.ts';
import { backtest, cursorOver, pricePath } from './recordings.ts';

const WAVE = Array.from({ length: 200 }, (_, n) => 125 + 8 * Math.sin(n / 7) + 3 * Math.sin(n / 3));
const dips = (): StrategyInstance => configured(meanReversion, { pair: 'SOL/USDC', size: '25 USDC', window: 10, k: 1 });
const trend = (): StrategyInstance => configured(smaCrossover, { pair: 'SOL/USDC', size: '25 USDC', fast: 3, slow: 9 });

/** A strategy that uses everything it can: prices, quiet, timers, its own money and its outcomes. */
const nosy = (): StrategyInstance => strategy('nosy', ({ price }, context) => merge(
  price!.pipe(mergeMap((_, n) =>
    (n % 3 === 0 ? [context.buy(SOL_USDC, { token: USDC, amount: PURCHASE }, 'third price')] : []))),
  price!.pipe(debounceTime(context, '2s'), map((last) =>
    context.alert('info', `quiet at ${(last as { price: number }).price}`))),
  interval(context, '7s').pipe(map(() => context.alert('info', `${context.available(USDC)} USDC`))),
  context.outcomes$.pipe(map(({ state, fill }) => context.alert('info', `${state} ${fill?.amountOut ?? ''}`))),
));

const hash = (prices: readonly number[]): string => backtest(nosy(), pricePath(prices)).result.decisionHash;

/** A run with outcomes, kept as a recording keeps it. */
function recorded() {
  const run = start([nosy()], {
    onEffect: (effect, engine) => {
      if (effect.kind !== 'execute') return;
      for (const state of ['building', 'abandoned'] as const)
        engine.accept({ kind: 'outcome', intentId: effect.intent.id, attempt: 1, state }, engine.clock.now());
    },
  });
  for (const quote of pricePath(WAVE.slice(0, 50))) {
    run.engine.advanceTo(quote.receivedAt - 1_234);
    run.engine.accept(quote, quote.receivedAt);
  }
  return run;
}

function replay(change: (
  rows: { seq: number; at: number; input: ReturnType<typeof recorded>['inputs'][number]['input'] }[],
) => void = () => undefined, now = nosy()) {
  const run = recorded();
  const rows = run.inputs.map((row) => ({ ...row }));
  change(rows);
  const cursor = cursorOver(rows);
  let place = -1;
  const result = replayRun({
    state: stateWith({ strategies: [strategySetup('nosy')] }),
    strategies: [now],
    seed: 7,
    startAt: 0,
    started: { after_seq: 0, at: 0 },
    stopped: { after_seq: run.engine.seq, at: run.engine.clock.now() },
    cursor: {
      next: () => { place += 1; return cursor.next(); },
      get at() { return cursor.at; },
      get input() { return cursor.input; },
      get seq() { return rows[place]!.seq; },
    },
    recorded: run.logged.map(({ seq, at, h }) => ({ seq, at, h })),
  });
  return { run, result };
}

describe('the driver', () => {
  it('advances to each row and fires the timers of both clocks in order, the simulation’s first', () => {
    const order: string[] = [];
    const clock = new VirtualClock(0);
    const run = start([strategy('diver', ({ price }, context) => merge(
      interval(context, '10ms')
        .pipe(map(() => { order.push(`timer ${context.now()}`); return context.alert('info', 'tick'); })),
      price!.pipe(map(() => { order.push(`record ${context.now()}`); return context.alert('info', 'price'); })),
    ))]);
    for (const at of [5, 10, 25]) clock.schedule(() => { order.push(`simulation ${at}`); }, at);
    const count = drive(run.engine, clock, cursorOver([12, 30].map((at) => ({ at, input: buyingSol(125_000, at) }))));
    expect(count).toBe(2);
    expect(order)
      .toEqual([
        'simulation 5', 'simulation 10', 'timer 10', 'record 12', 'timer 20', 'simulation 25', 'timer 30', 'record 30',
      ]);
    expect([run.engine.clock.now(), clock.now()]).toEqual([30, 30]);
  });

  it('stops after a given number of rows, and continues as if it had not stopped', () => {
    const rows = pricePath(WAVE).map((input) => ({ at: input.receivedAt, input }));
    const inPieces = (most: number): readonly [counts: readonly number[], hash: string] => {
      const [run, clock, cursor] = [start([dips()]), new VirtualClock(0), cursorOver(rows)];
      const counts: number[] = [];
      do counts.push(drive(run.engine, clock, cursor, { most })); while (counts.at(-1) === most);
      return [counts, run.engine.decisionHash];
    };
    const [whole, hash] = inPieces(Infinity);
    expect([whole, hash === '0'.repeat(64)]).toStrictEqual([[rows.length], false]);
    for (const most of [1, 7, rows.length - 1, rows.length, rows.length + 1]) {
      const [counts, same] = inPieces(most);
      expect([counts.reduce((sum, count) => sum + count), counts.length, same], String(most))
        .toStrictEqual([rows.length, Math.floor(rows.length / most) + 1, hash]);
    }
  });

  it('completes the swaps under way after the last row, with the strategies stopped', () => {
    const clock = new VirtualClock(0);
    const run = start([strategy('diver', (_streams, context) =>
      interval(context, '10ms').pipe(map(() => context.alert('info', 'tick'))))]);
    const landed: number[] = [];
    drive(run.engine, clock, cursorOver([{ at: 15, input: buyingSol(125_000, 15) }]));
    clock.schedule(() => { landed.push(clock.now()); }, 2_000);
    settle(run.engine, clock);
    expect(landed).toEqual([2_015]);
    expect(alerts(run)).toEqual(['10 tick']);
    expect(run.engine.running).toEqual([]);
  });

  it('does nothing with an empty recording', () => {
    const { result } = backtest(dips(), []);
    expect(result).toMatchObject({ events: 0, decisions: 0, decisionHash: '0'.repeat(64) });
  });
});

describe('a backtest', () => {
  it.each([['mean reversion', dips], ['sma crossover', trend], ['a strategy that watches everything', nosy]])(
    'of %s trades, and ends with the same hash again', (_name, make) => {
      const first = backtest(make(), pricePath(WAVE));
      const second = backtest(make(), pricePath(WAVE));
      expect(first.result.intents['confirmed']).toBeGreaterThan(3);
      expect(second.result).toEqual(first.result);
      expect(second.result.decisionHash).toMatch(/^[0-9a-f]{64}$/);
      expect(second.decisions).toEqual(first.decisions);
    });

  it('ends with another hash where one price differs', () => {
    expect(hash(WAVE.with(60, WAVE[60]! * 1.01))).not.toBe(hash(WAVE));
  });

  it('never sees the future: perturbed quotes after a moment change no decision before it', () => {
    const whole = backtest(nosy(), pricePath(WAVE)).decisions;
    fc.assert(fc.property(fc.integer({ min: 1, max: WAVE.length - 1 }), fc.double({ min: 0.01, max: 100, noNaN: true }),
      (from, factor) => {
        const quotes = pricePath(WAVE);
        const firstPerturbed = quotes[from]!.receivedAt;
        const perturbed = quotes.map((quote): Quote => (quote.receivedAt < firstPerturbed ? quote
          : {
            ...buyingSol(Math.max(1, Math.round(WAVE[from]! * factor * 1_000)), quote.receivedAt), feed: quote.feed,
          }));
        const before = (decisions: typeof whole): typeof whole => decisions.filter(({ at }) => at < firstPerturbed);
        expect(before(backtest(nosy(), perturbed).decisions)).toEqual(before(whole));
      }), { numRuns: 40 });
  });

  it('never sees the future: a truncated recording has the same decisions until its end', () => {
    const whole = backtest(nosy(), pricePath(WAVE)).decisions;
    for (const length of [1, 7, 50, 133]) {
      const end = length * 5_000;
      const cut = backtest(nosy(), pricePath(WAVE.slice(0, length))).decisions;
      expect(cut.filter(({ at }) => at <= end))
        .toEqual(whole.filter(({ at, seq }) => at <= end && seq <= (cut.at(-1)?.seq ?? 0)));
    }
  });

  it('is worth less in each less optimistic setting, where every swap lands', () => {
    const rising = Array.from({ length: 40 }, (_, n) => 100 + n * 0.01);
    const bought = (['optimistic', 'base', 'pessimistic'] as const).map((setting) => {
      const { state, result } = backtest(nosy(), pricePath(rising), { setting });
      expect(result.intents).toEqual({ confirmed: result.fills.length });
      return state.portfolio.available('nosy', SOL_USDC.base.mint);
    });
    expect(bought[0]! >= bought[1]! && bought[1]! > bought[2]!).toBe(true);
  });

  it('conserves amounts: the balances equal the sum of the fills', () => {
    const { result, state } = backtest(dips(), pricePath(WAVE));
    const change = (mint: string): bigint => result.fills.reduce((sum, { fill }) =>
      sum + (fill.outputMint === mint ? fill.amountOut : 0n) - (fill.inputMint === mint ? fill.amountIn : 0n), 0n);
    const { balances } = state.portfolio.book('mean-reversion');
    expect(balances.get(USDC.mint) ?? 0n).toBe(500_000_000n + change(USDC.mint));
    expect(balances.get(SOL_USDC.base.mint) ?? 0n).toBe(change(SOL_USDC.base.mint));
    expect(state.intents.size).toBe(0);
  });
});

describe('a replay', () => {
  it('makes the same decisions from the inputs alone, outcomes included', () => {
    const { run, result } = replay();
    expect(result).toMatchObject({
      match: true, decisionHash: run.engine.decisionHash, decisions: run.logged.length, firstDivergence: undefined,
    });
  });

  it('reports the first different decision', () => {
    const { result } = replay((rows) => {
      const row = rows.find(({ input }) => input.kind === 'quote')!;
      row.input = { ...(row.input as Quote), rate: 1 };
    });
    expect(result.match).toBe(false);
    expect(result.firstDivergence!.seq).toBeGreaterThan(0);
  });

  it('reports a lost row whose swap has recorded outcomes, and does not throw', () => {
    const { run, result } = replay((rows) => { rows.splice(20, 1); });
    expect(result.match).toBe(false);
    expect(result.firstDivergence!.seq).toBeLessThan(run.engine.seq);
  });

  it('reports a swap that the strategy no longer proposes but has recorded outcomes, and does not throw', () => {
    const { result } = replay(undefined, strategy('nosy'));
    expect(result.match).toBe(false);
    expect(result.firstDivergence).toBeDefined();
  });
});
