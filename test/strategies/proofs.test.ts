import { describe, expect, it } from 'vitest';
import type { Millis } from '../../src/core/time.ts';
import type { StrategyInstance } from '../../src/engine/strategy-host.ts';
import type { MarketEvent } from '../../src/market/event.ts';
import type { StateSnapshot } from '../../src/trading/engine-state.ts';
import { freshSnapshot, snapshotState } from '../../src/trading/engine-state.ts';
import type { RestoredStates } from '../../src/trading/strategy-state.ts';
import { buyingSol, quote, sellingSol } from '../market/events.ts';
import { FISH, KELP, SOL, USDC } from '../market/tokens.ts';
import { WALLET, fillOf, outcome } from '../trading/states.ts';
import type { Run } from '../engine/runs.ts';
import { apart, start } from '../engine/runs.ts';
import grid from './grid.ts';
import { configured, fillAtOnce } from './instances.ts';
import rebalance from './rebalance.ts';
import slices from './slices.ts';
import trailingBracket from './trailing-bracket.ts';

const SECOND = 1_000;

const GRID = (): StrategyInstance =>
  configured(grid, { pair: 'SOL/USDC', lot: '25 USDC', step: 0.01 }, 'diver');
const TWAP = (): StrategyInstance =>
  configured(slices, { buy: 'SOL', total: '100 USDC', slices: 3, every: '1m', watch: '25 USDC' }, 'diver');
const BRACKET = (): StrategyInstance => configured(trailingBracket, {
  pair: 'SOL/USDC', size: '100 USDC', sale: '1 SOL', gain: 0.08, loss: 0.05, distance: 0.02, after: 154.5,
}, 'diver');
const REBALANCE = (): StrategyInstance => configured(rebalance, {
  cash: 'USDC', minimum: '5 USDC', targets: [
    { token: 'SOL', size: '1 SOL', weight: 0.4 }, { token: 'FISH', size: '1 FISH', weight: 0.3 },
    { token: 'KELP', size: '1 KELP', weight: 0.2 },
  ],
}, 'diver');

interface Past {
  readonly startAt?: Millis;
  readonly snapshot?: StateSnapshot;
  readonly restored?: RestoredStates;
}

/** A run whose swaps take two seconds to fill; before the first price, one brings 100 million smallest units. */
function trading(instance: StrategyInstance, past: Past = {}): Run {
  const run: Run = start([instance], { snapshot: freshSnapshot(WALLET), ...past, onEffect: (effect, engine) => {
    engine.clock.schedule(() => {
      if (effect.kind !== 'execute') return;
      const { intent } = effect;
      const { market } = run.state;
      const isPriced = market.latestQuote(intent.inputMint, intent.outputMint) !== undefined
        || market.latestQuote(intent.outputMint, intent.inputMint) !== undefined;
      if (isPriced) fillAtOnce(() => run.state)(effect, engine);
      else for (const state of ['building', 'signed', 'confirmed'] as const) {
        const fill = state === 'confirmed' ? { fill: fillOf(intent, 100_000_000n) } : {};
        engine.accept(outcome(intent, state, fill), engine.clock.now());
      }
    }, 2 * SECOND);
  } });
  return run;
}

/** Shows events, one every five seconds, each stamped by its function. */
function feed(run: Run, events: readonly ((at: Millis) => MarketEvent)[]): Run {
  for (const event of events) {
    const at = run.engine.clock.now() + 5 * SECOND;
    for (let now = run.engine.clock.now(); now < at; now += SECOND) run.engine.advanceTo(now);
    run.engine.accept(event(at), at);
  }
  run.engine.advanceTo(run.engine.clock.now() + 3 * SECOND);
  return run;
}

const buying = (...prices: readonly number[]) => prices.map((price) => (at: Millis) => buyingSol(price * 1_000, at));
const selling = (...prices: readonly number[]) => prices.map((price) => (at: Millis) => sellingSol(price * 1_000, at));
const token = (of: typeof SOL, usd: number) => (at: Millis) =>
  quote(of, USDC, { inAmount: 10n ** BigInt(of.decimals), outAmount: BigInt(usd * 1e6), at });

const at = (sol: number, fish: number, kelp: number) => [token(SOL, sol), token(FISH, fish), token(KELP, kelp)];

const both = (price: number) => (at: Millis): MarketEvent =>
  (at % 10_000 === 0 ? buyingSol(price * 1_000, at) : sellingSol(price * 1_000, at));

const path = (of: readonly number[]) => of.flatMap((price) => [both(price), both(price)]);

const intentsOf = (run: Run): string[] => run.effects.flatMap((effect) => (effect.kind === 'execute'
  ? [`${effect.intent.purpose} ${effect.intent.key ?? effect.intent.reason}`] : []));

/** Continues a run after a kill, from what was saved. */
function restarted(run: Run, instance: StrategyInstance): Run {
  const states = Object.fromEntries(run.engine.takeStrategyStates().map(({ strategy, text }) => [strategy, text]));
  const snapshot = JSON.parse(JSON.stringify(snapshotState(run.state))) as StateSnapshot;
  return trading(instance, { startAt: run.engine.clock.now() + SECOND, snapshot, restored: { states, unseen: [] } });
}

describe('a grid with five levels', () => {
  it('keeps all pending that the price has passed, fills them one after the other, and sells each one step up', () => {
    // The price falls through five levels at once: all five wait for the one token that they spend.
    const run = feed(trading(GRID()), buying(150, 142, 142, 142, 142, 142, 142));
    expect(intentsOf(run)).toEqual(['entry 0-0', 'entry 1-0', 'entry 2-0', 'entry 3-0', 'entry 4-0']);
    feed(run, buying(144.2, 144.2, 144.2, 147, 147, 147, 147, 147));
    // Level 5 is at 142.65, so its lot is sold at 144.07; level 4 at 145.53, and level 3 not below 147.0004.
    expect(intentsOf(run).slice(5)).toEqual(['exit 4-1', 'exit 3-1']);
  });

  it('continues after a restart with its levels, and buys none twice', () => {
    const first = feed(trading(GRID()), buying(150, 142, 142, 142));
    const second = feed(restarted(first, GRID()), buying(142, 142, 142, 142, 142, 142, 142));
    const all = [...intentsOf(first), ...intentsOf(second)];
    expect(new Set(all).size).toBe(all.length);
    expect(all.toSorted()).toEqual(['entry 0-0', 'entry 1-0', 'entry 2-0', 'entry 3-0', 'entry 4-0']);
  });
});

describe('a rebalance of three tokens', () => {
  it('buys its weights, then sells what has grown before it buys what has shrunk', () => {
    const run = feed(trading(REBALANCE()), [...at(150, 2, 5), ...at(150, 2, 5), ...at(150, 2, 5), ...at(150, 2, 5)]);
    expect(intentsOf(run).map((text) => text.split(' ')[2])).toEqual(['SOL', 'FISH', 'KELP']);
    const { balances } = run.state.portfolio.book('diver');
    // 200, 150 and 100 of 500 USDC; floors cost up to a smallest unit of USDC each.
    for (const [of, units] of [[SOL, 1_333_333_333], [FISH, 7_500_000], [KELP, 2_000_000_000]] as const)
      expect(Number(balances.get(of.mint)) / units).toBeCloseTo(1, 6);
    const before = intentsOf(run).length;
    feed(run, [...at(300, 2, 5), ...at(300, 2, 5), ...at(300, 2, 5)]);
    expect(intentsOf(run).slice(before).map((text) => text.split(' ')[0])).toEqual(['exit', 'entry', 'entry']);
  });
});

describe('a TWAP', () => {
  it('buys equal slices at equal intervals to the last smallest unit, over a restart too', () => {
    const first = feed(trading(TWAP()), buying(150, 150, 150));
    const second = feed(restarted(first, TWAP()), buying(...Array.from({ length: 30 }, () => 150)));
    const spent = [first, second].flatMap(({ effects }) => effects.flatMap((effect) =>
      (effect.kind === 'execute' ? [[effect.intent.createdAt, effect.intent.amountIn]] : [])));
    expect(spent).toEqual([[0, 33_333_333n], [60 * SECOND, 33_333_333n], [120 * SECOND, 33_333_334n]]);
  });
});

describe('a trailing bracket', () => {
  it.each([
    ['the gain', [150, 155, 162.1], /^take profit at 8\.0/],
    ['the loss', [150, 149, 142], /^stop loss at -5\.3/],
    ['the trail', [150, 155, 158, 154.8], /^the trail$/],
  ])('leaves by %s', (_name, prices, reason) => {
    const run = feed(trading(BRACKET()), selling(...prices));
    const [entry, exit, ...more] = run.effects.flatMap((effect) => (effect.kind === 'execute' ? [effect.intent] : []));
    expect(more).toEqual([]);
    expect(entry!.reason).toBe('the entry');
    expect(exit!.reason).toMatch(reason);
  });

  it('enters once, and keeps the best price over a restart', () => {
    const first = feed(trading(BRACKET()), selling(150, 155, 158));
    const second = feed(restarted(first, BRACKET()), selling(156, 154.8, 150, 150));
    expect([...intentsOf(first), ...intentsOf(second)].map((text) => text.split(' ')[0])).toEqual(['entry', 'exit']);
  });
});

describe('each of them', () => {
  const prices = [150, 149, 147, 143, 142, 144, 147, 152, 158, 151, 140];

  it.each([['grid', GRID], ['rebalance', REBALANCE], ['twap', TWAP], ['bracket', BRACKET]])(
    'decides the same whatever comes later, and the same apart from the engine: %s', (_name, instance) => {
      const whole = feed(trading(instance()), path(prices));
      const other = feed(trading(instance()), path([...prices.slice(0, 6), 200, 100, 300, 1, 500]));
      const until = 60 * SECOND;
      const early = (run: Run) => run.logged.filter(({ at }) => at <= until).map(({ h }) => h);
      expect(early(other)).toEqual(early(whole));
      expect(feed(trading(apart(instance())), path(prices)).engine.decisionHash).toBe(whole.engine.decisionHash);
    });
});
