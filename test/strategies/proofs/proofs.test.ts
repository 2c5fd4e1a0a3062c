import { describe, expect, it } from 'vitest';
import type { Millis } from '../../../src/core/time.ts';
import type { StrategyInstance } from '../../../src/engine/strategy-host.ts';
import type { MarketEvent } from '../../../src/market/event.ts';
import { outputAt } from '../../../src/market/quote.ts';
import type { Token } from '../../../src/market/token.ts';
import type { StateSnapshot } from '../../../src/trading/engine-state.ts';
import { freshSnapshot, snapshotState } from '../../../src/trading/engine-state.ts';
import type { Intent } from '../../../src/trading/intent.ts';
import type { RestoredStates } from '../../../src/trading/strategy-state.ts';
import { book, buyingSol, quote, sellingSol } from '../../market/events.ts';
import { FISH, KELP, SOL, USDC } from '../../market/tokens.ts';
import { WALLET, fillOf, outcome } from '../../trading/states.ts';
import type { Run } from '../../engine/runs.ts';
import { alerts, apart, start } from '../../engine/runs.ts';
import grid from './grid.ts';
import { configured } from '../instances.ts';
import { listOf, marketOf, recordOf } from './market-events.ts';
import newTokenScreen from './new-token-screen.ts';
import pairs from './pairs.ts';
import probabilityCross from './probability-cross.ts';
import rebalance from './rebalance.ts';
import rsi from './rsi.ts';
import trailingBracket from './trailing-bracket.ts';
import twap from './twap.ts';

const SECOND = 1_000;

const GRID = (): StrategyInstance =>
  configured(grid, { pair: 'SOL/USDC', lot: '25 USDC', step: 0.01 }, 'diver');
const TWAP = (): StrategyInstance =>
  configured(twap, { buy: 'SOL', total: '100 USDC', slices: 3, every: '1m', watch: '25 USDC' }, 'diver');
const BRACKET = (): StrategyInstance => configured(trailingBracket, {
  pair: 'SOL/USDC', size: '100 USDC', sale: '1 SOL', gain: 0.08, loss: 0.05, distance: 0.02, after: 154.5,
}, 'diver');
const REBALANCE = (): StrategyInstance => configured(rebalance, {
  cash: 'USDC', minimum: '5 USDC', targets: [
    { token: 'SOL', size: '1 SOL', weight: 0.4 }, { token: 'FISH', size: '1 FISH', weight: 0.3 },
    { token: 'KELP', size: '1 KELP', weight: 0.2 },
  ],
}, 'diver');
const RSI = (): StrategyInstance =>
  configured(rsi, { pair: 'SOL/USDC', size: '25 USDC', bar: '10s', poll: '5s', window: 2 }, 'diver');
const CROSS = (): StrategyInstance => configured(probabilityCross, {
  event: 'E', market: 'M', pair: 'SOL/USDC', size: '25 USDC', enter: 0.6, leave: 0.4,
}, 'diver');
const SCREEN = (): StrategyInstance => configured(newTokenScreen, { trade: ['FISH'], size: '25 USDC' }, 'diver');
const PAIRS = (): StrategyInstance => configured(pairs, {
  cash: 'USDC', a: '1 SOL', b: '1 FISH', minimum: '5 USDC', window: 4, k: 1.4,
}, 'diver');

interface Past {
  readonly startAt?: Millis;
  readonly snapshot?: StateSnapshot;
  readonly restored?: RestoredStates;
}

/** A run with the swaps that are under way, what each of them will bring, and the state that was saved last. */
interface Trading extends Run {
  readonly under: Map<string, { readonly intent: Intent; readonly amountOut: bigint }>;
  readonly saved: { text?: string | undefined };
}

/**
 * A run whose swaps take two seconds to fill, at the price of their approval; 100 million units where none is known.
 */
function trading(instance: StrategyInstance, past: Past = {}, earlier: Trading['under'] = new Map()): Trading {
  const under: Trading['under'] = new Map(earlier);
  const saved: Trading['saved'] = { text: past.restored?.states['diver'] };
  const fill = (id: string): void => {
    const { intent, amountOut } = under.get(id)!;
    under.delete(id);
    run.engine.accept(
      outcome(intent, 'confirmed', { fill: fillOf(intent, amountOut) }), run.engine.clock.now());
  };
  const run: Run = start([instance], {
    snapshot: freshSnapshot(WALLET), ...past, open: [...earlier.values()].map(({ intent }) =>
      ({ intent, state: 'submitted' as const })),
    onEffect: (effect, engine) => {
      if (effect.kind !== 'execute') return;
      const { intent, strategyState } = effect;
      if (strategyState !== undefined) saved.text = strategyState.text;
      under.set(intent.id, { intent, amountOut: amountOutOf(run, intent) });
      engine.clock.schedule(() => {
        for (const state of ['building', 'signed', 'submitted'] as const)
          engine.accept(outcome(intent, state), engine.clock.now());
        fill(intent.id);
      }, 2 * SECOND);
    },
  });
  for (const id of earlier.keys()) run.engine.clock.schedule(() => { fill(id); }, SECOND);
  return Object.assign(run, { under, saved });
}

function amountOutOf({ state: { market } }: Run, { inputMint, outputMint, amountIn }: Intent): bigint {
  const direct = market.latestQuote(inputMint, outputMint);
  if (direct !== undefined) return outputAt(direct, amountIn);
  const reverse = market.latestQuote(outputMint, inputMint);
  return reverse === undefined ? 100_000_000n
    : outputAt({ inAmount: reverse.outAmount, outAmount: reverse.inAmount }, amountIn);
}

type Moment = (at: Millis) => MarketEvent;

/** Shows events, one every five seconds, each stamped by its function. */
function show<R extends Run>(run: R, events: readonly Moment[]): R {
  for (const event of events) {
    const at = run.engine.clock.now() - run.engine.clock.now() % (5 * SECOND) + 5 * SECOND;
    for (let now = run.engine.clock.now(); now < at; now += SECOND) run.engine.advanceTo(now);
    run.engine.accept(event(at), at);
  }
  return run;
}

/** Shows events, and waits for the swaps that they lead to. */
function feed<R extends Run>(run: R, events: readonly Moment[]): R {
  show(run, events);
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

/** Continues a run after a kill, from what was saved, with the swaps that were under way. */
function restarted(run: Trading, instance: StrategyInstance): Trading {
  const text = run.engine.takeStrategyStates()[0]?.text ?? run.saved.text;
  const states = text === undefined ? {} : { diver: text };
  const snapshot = JSON.parse(JSON.stringify(snapshotState(run.state))) as StateSnapshot;
  return trading(
    instance, { startAt: run.engine.clock.now() + SECOND, snapshot, restored: { states, unseen: [] } }, run.under);
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

const sideOf = (run: Run): string[] => intentsOf(run).map((text) => text.split(' ')[0]!);
const likely = (...percents: readonly number[]): Moment[] => percents.flatMap((percent) => [
  (at: Millis) => book([[percent - 1, 100]], [[99 - percent, 100]], at), (at: Millis) => buyingSol(150_000, at),
]);
const EMPTY_BOOK: Moment = (at) => book([], [[39, 100]], at);
const WIDE_BOOK: Moment = (at) => book([[50, 100]], [[20, 100]], at);
const listing = (of: Token, change: Parameters<typeof recordOf>[2] = {}): Moment =>
  (at) => listOf([recordOf(of, at, change)], at);
const BOTH_LISTED: Moment = (at) => listOf([recordOf(FISH, at), recordOf(KELP, at)], at);
const resolved = (result: string | undefined): Moment => (at) => marketOf(result, at);

describe('a strategy of the relative strength index', () => {
  it('buys after falling bars and sells after rising ones, by the closes of bars that are over', () => {
    // Bars of 10 s close at 100, 98, 96, 97 and 99: an index of 0, then 33.3, then 77.8.
    const run = feed(trading(RSI()), buying(100, 100, 99, 98, 97, 96, 96, 97, 98, 99, 100, 101));
    expect(sideOf(run)).toEqual(['entry', 'exit']);
  });
});

describe('a strategy of a probability', () => {
  it('buys at a crossing, not at a start above it, and sells when it falls back', () => {
    const run = feed(trading(CROSS()), likely(70, 70, 50, 35, 50, 59, 61, 61, 45, 39));
    expect(alerts(run).map((text) => text.replace(/^\d+ /, ''))).toEqual(['M is above', 'M is below']);
    expect(sideOf(run)).toEqual(['entry', 'exit']);
  });

  it('sells when the market is resolved, says so once, and buys no more', () => {
    const run = feed(trading(CROSS()), [
      ...likely(30, 70), resolved(undefined), ...likely(70), resolved('yes'), resolved('yes'), ...likely(30, 70)]);
    expect(alerts(run).map((text) => text.replace(/^\d+ /, ''))).toEqual(['M is above', 'M is resolved yes']);
    expect(sideOf(run)).toEqual(['entry', 'exit']);
  });

  it('ignores a book without a usable price', () => {
    expect(alerts(feed(trading(CROSS()), [...likely(30), EMPTY_BOOK, WIDE_BOOK]))).toEqual([]);
  });
});

describe('a screen of new tokens', () => {
  it('alerts once at what passes, and buys once what the configuration names', () => {
    const run = feed(trading(SCREEN()), [token(FISH, 2), BOTH_LISTED, BOTH_LISTED, listing(FISH), token(FISH, 2),
      BOTH_LISTED]);
    expect(alerts(run)).toEqual([
      expect.stringContaining(`FISH (${FISH.mint}) passes`), expect.stringContaining(`KELP (${KELP.mint}) passes`)]);
    expect(intentsOf(run)).toEqual([`entry ${FISH.mint.toLowerCase()}/1`]);
  });

  it.each([
    ['the age', { firstPool: {} }], ['the first pool', { firstPool: undefined }], ['the liquidity', { values: {} }],
    ['the holders', { values: { liquidity: 1e6, holderCount: 199 } }], ['the audit', { audit: {} }],
    ['a suspicion', { audit: { ...recordOf(FISH, 0).audit, isSus: true } }],
    ['the largest holders', { audit: { ...recordOf(FISH, 0).audit, topHoldersPercentage: 31 } }],
  ])('refuses a token by %s', (_name, change) => {
    expect(alerts(feed(trading(SCREEN()), [listing(FISH, change), listing(FISH, change)]))).toEqual([]);
  });
});

const ratios = (...sols: readonly number[]) => sols.flatMap((sol) => [token(SOL, sol), token(FISH, 2)]);

describe('a pair', () => {
  it('holds the cheap token, and changes into the other when the relation turns', () => {
    const run = feed(trading(PAIRS()), ratios(150, 150, 150, 150, 140, 140, 140, 165, 165, 165));
    expect(intentsOf(run).map((text) => text.replace(/ is .*/, '')))
      .toEqual(['entry pairs: SOL', 'exit pairs: SOL', 'entry pairs: FISH']);
  });
});

const PRICES = [150, 149, 147, 143, 142, 144, 147, 152, 158, 151, 140];

/** Each strategy with a market in which it swaps. */
const EACH: readonly (readonly [string, () => StrategyInstance, readonly Moment[]])[] = [
  ['grid', GRID, buying(150, 142, 142, 142, 142, 142, 142, 144.2, 144.2, 147, 147, 147)],
  ['rebalance', REBALANCE, [1, 1, 1, 1, 2, 2, 2, 2].flatMap((times) => at(150 * times, 2, 5))],
  ['twap', TWAP, buying(...Array.from({ length: 30 }, () => 150))],
  ['trailing bracket', BRACKET, selling(150, 155, 158, 156, 154.8, 150, 150)],
  // A restart in the middle of a bar loses that bar, where nothing was recorded to warm up with.
  ['RSI', RSI, buying(...Array.from({ length: 28 }, (_, n) => 100 + Math.abs(n - 14)))],
  ['probability cross', CROSS, [...likely(30, 70, 70, 30, 70), resolved('no'), ...likely(70, 70)]],
  ['new-token screen', SCREEN, [token(FISH, 2), listing(FISH), listing(FISH), token(FISH, 2), listing(FISH)]],
  ['pairs', PAIRS, ratios(150, 150, 150, 150, 140, 140, 140, 165, 165, 165, 165)],
];

/** The swaps of runs in order, without the figures in their reasons. */
const swapsOf = (...runs: readonly Run[]): string[] =>
  runs.flatMap(intentsOf).map((text) => text.replace(/ is [\d.]+$/, ''));

describe('each of them', () => {
  it.each(EACH)('killed after any event, it goes on and repeats no swap: %s', (_name, instance, events) => {
    const expected = swapsOf(feed(trading(instance()), events));
    expect(expected.length).toBeGreaterThan(0);
    for (let until = 1; until < events.length; until++) {
      const first = show(trading(instance()), events.slice(0, until));
      const second = feed(restarted(first, instance()), events.slice(until));
      expect(swapsOf(first, second), `killed after event ${until}`).toEqual(expected);
    }
  });

  it.each(EACH)(
    'decides the same whatever comes later, and the same apart from the engine: %s', (_name, instance, own) => {
      const events = [...own, ...path(PRICES)];
      const whole = feed(trading(instance()), events);
      const other = feed(trading(instance()), [...events.slice(0, own.length), ...path([200, 100, 300, 1, 500])]);
      const until = own.length * 5 * SECOND;
      const early = (run: Run) => run.logged.filter((decision) => decision.at <= until).map(({ h }) => h);
      expect(early(other)).toEqual(early(whole));
      expect(early(whole).length).toBeGreaterThan(0);
      expect(feed(trading(apart(instance())), events).engine.decisionHash).toBe(whole.engine.decisionHash);
    });
});
