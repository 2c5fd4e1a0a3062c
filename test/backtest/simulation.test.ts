import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chanceOf } from '../../src/backtest/models/landing.ts';
import type { SimulationModel } from '../../src/trading/simulation-model.ts';
import { BASE_MODEL } from '../../src/trading/simulation-model.ts';
import { createSimulatedExecutor } from '../../src/backtest/simulated-executor.ts';
import type { FillNotes } from '../../src/backtest/simulation-notes.ts';
import { simulationWarnings } from '../../src/backtest/simulation-notes.ts';
import type { Amount, Bps, Lamports } from '../../src/core/amount.ts';
import type { Millis } from '../../src/core/time.ts';
import { VirtualClock } from '../../src/engine/virtual-clock.ts';
import type { MarketEvent } from '../../src/market/event.ts';
import type { Mint } from '../../src/market/token.ts';
import type { Intent, Outcome } from '../../src/trading/intent.ts';
import { canTransition, isTerminal } from '../../src/trading/intent.ts';
import { MarketCache } from '../../src/trading/market-cache.ts';
import { buyingSol, PURCHASE, quote } from '../market/events.ts';
import { FISH, SOL, USDC } from '../market/tokens.ts';
import { approve, buy, stateWith } from '../trading/states.ts';

const BUY: Intent = approve(stateWith(), buy());
const { landing, latency, costs } = BASE_MODEL;
const SURE: SimulationModel = { ...BASE_MODEL, landing: { ...landing, dropProbability: 0, unknownProbability: 0 } };
const of = (change: Partial<SimulationModel['landing']>): SimulationModel =>
  ({ ...SURE, landing: { ...SURE.landing, ...change } });
const intentOf = (id: string, change: Partial<Intent> = {}): Intent => ({ ...BUY, id, ...change });
/** An intent without a limit of the price impact. */
const tolerant = (id: string): Intent => intentOf(id, { maxPriceImpactBps: 1_000 as Bps });

/** A maker's quote. */
const firm = (milliUsd: number, at: number): MarketEvent => ({ ...buyingSol(milliUsd, at), router: 'rfqz' });

interface Step { readonly at: Millis; readonly outcome: Outcome; readonly notes: FillNotes | undefined }

/** Executes intents, each at its own time and in the given order, over market events at their times. */
function simulate(
  events: readonly MarketEvent[], intents: readonly { readonly at?: Millis; readonly intent: Intent }[],
  model: SimulationModel = SURE, tokenAccounts: readonly Mint[] = [USDC.mint],
) {
  const clock = new VirtualClock(0);
  const market = new MarketCache();
  const executor = createSimulatedExecutor({ clock, market, model, seed: 7, tokenAccounts });
  const courses = new Map<string, Step[]>();
  for (const event of events) {
    if (event.receivedAt <= 0) market.observe(event);
    else clock.schedule(() => { market.observe(event); }, event.receivedAt);
  }
  for (const { at = 0, intent } of intents) {
    const course: Step[] = [];
    courses.set(intent.id, course);
    clock.schedule(
      () => { executor.carryOut(intent, (outcome, notes) => { course.push({ at: clock.now(), outcome, notes }); }); },
      at,
    );
  }
  clock.advanceTo(10_000_000);
  for (const course of courses.values()) {
    for (const [index, { outcome }] of course.entries())
      expect(canTransition(course[index - 1]?.outcome.state ?? 'approved', outcome.state)).toBe(true);
    expect(isTerminal(course.at(-1)!.outcome.state)).toBe(true);
  }
  return { executor, courses, of: (id: string) => courses.get(id)!, last: (id: string) => courses.get(id)!.at(-1)! };
}

const states = (course: readonly Step[]): unknown[] => course.map(({ at, outcome }) => [outcome.state, at]);

describe('a simulated transaction', () => {
  it('costs nothing and locks its input until it expires if it is lost', () => {
    const run = simulate([buyingSol(125_000, 0)], [{ intent: BUY }], of({ dropProbability: 1 }));
    expect(states(run.of(BUY.id))).toEqual([['building', 0], ['signed', 305], ['submitted', 305], ['expired', 70_305]]);
    expect(run.last(BUY.id).outcome).toMatchObject({ code: 'EXPIRED', fill: undefined, feeLamports: undefined });
    expect(run.executor.notes().costs.feeLamports).toBe(0n);
  });

  it('expires if it takes longer than its lifetime', () => {
    const slow = { ...SURE, latency: { ...latency, land: [{ share: 0.5, latencyMs: 70_001 }] } };
    expect(simulate([buyingSol(125_000, 0)], [{ intent: BUY }], slow).last(BUY.id))
      .toMatchObject({ at: 70_305, outcome: { state: 'expired' } });
  });

  it('is unknown until its expiry if its landing is not seen, and then filled at the price on arrival', () => {
    const run = simulate(
      [buyingSol(125_000, 0), buyingSol(125_100, 1_000), buyingSol(90_000, 3_000)], [{ intent: BUY }],
      of({ unknownProbability: 1 }),
    );
    expect(states(run.of(BUY.id)))
      .toEqual([['building', 0], ['signed', 305], ['submitted', 305], ['unknown', 1_805], ['confirmed', 70_305]]);
    expect(run.last(BUY.id).outcome.fill!.amountOut).toBe(buyingSol(125_100, 0).outAmount);
  });

  it('with a firm quote fills as quoted, unless the price moves in the taker’s favour and the maker declines', () => {
    const dearer = simulate([firm(125_000, 0), firm(200_000, 1_000)], [{ intent: BUY }]);
    expect(dearer.last(BUY.id))
      .toMatchObject({ at: 1_805, outcome: { state: 'confirmed', fill: { amountOut: 200_000_000n } } });
    // A tolerance of 10 bps from 125: at 124.88 the maker still signs, at 124.87 not.
    expect(simulate([firm(125_000, 0), firm(124_880, 1_000)], [{ intent: BUY }]).last(BUY.id).outcome.state)
      .toBe('confirmed');
    const refused = simulate([firm(125_000, 0), firm(124_870, 1_000)], [{ intent: BUY }]);
    expect(states(refused.of(BUY.id)))
      .toEqual([['building', 0], ['signed', 305], ['submitted', 305], ['submitted', 1_805], ['expired', 70_305]]);
    expect(refused.last(BUY.id).outcome).toMatchObject({ code: 'MAKER_REJECTED', feeLamports: undefined });
  });

  it('falls short of the price on arrival by the adverse move, and fails where that is too much', () => {
    const short = simulate([buyingSol(125_000, 0)], [{ intent: BUY }], of({ adverseBps: 50 as Bps }));
    expect(short.last(BUY.id).outcome.fill!.amountOut).toBe(199_000_000n);
    expect(simulate([buyingSol(125_000, 0)], [{ intent: BUY }], of({ adverseBps: 51 as Bps })).last(BUY.id).outcome)
      .toMatchObject({ state: 'failed', code: '6001' });
  });
});

describe('simulated latency', () => {
  it('is drawn for each intent from the quantiles of all three latencies', () => {
    const spread = { ...SURE, latency: {
      quote: [{ share: 0, latencyMs: 100 }, { share: 1, latencyMs: 600 }],
      sign: [{ share: 0, latencyMs: 1 }, { share: 1, latencyMs: 9 }],
      land: [{ share: 0, latencyMs: 800 }, { share: 1, latencyMs: 2_500 }],
    } };
    for (const id of ['a-1', 'a-2', 'b-1']) {
      const chance = chanceOf(7, id);
      const signed = Math.round(100 + 500 * chance.quote) + Math.round(1 + 8 * chance.sign);
      const run = simulate([buyingSol(125_000, 0)], [{ intent: intentOf(id) }], spread);
      expect(states(run.of(id))).toEqual([
        ['building', 0], ['signed', signed], ['submitted', signed],
        ['confirmed', signed + Math.round(800 + 1_700 * chance.land)],
      ]);
    }
  });

  it('is that of the quote in the optimistic setting, and double in the pessimistic one', () => {
    const ends = (['optimistic', 'base', 'pessimistic'] as const)
      .map((setting) => simulate([buyingSol(125_000, 0)], [{ intent: BUY }], { ...SURE, setting }).last(BUY.id).at);
    expect(ends).toEqual([300, 1_805, 3_610]);
  });
});

/** Many transactions are lost or unseen, and each swap takes up to twice `spreadMs`. */
const rough = (spreadMs: Millis): SimulationModel => ({
  ...BASE_MODEL, landing: { ...landing, dropProbability: 0.3, unknownProbability: 0.3 },
  latency: {
    ...latency, quote: [{ share: 0, latencyMs: 0 }, { share: 1, latencyMs: spreadMs }],
    land: [{ share: 0, latencyMs: 0 }, { share: 1, latencyMs: spreadMs }],
  },
});

describe('chance', () => {
  const events = [0, 2_000, 4_000]
    .map((at, n): MarketEvent => ({ ...buyingSol(125_000 + 60 * n, at), priceImpact: -0.01 }));
  const outcomesOf = (ids: readonly string[], setting: SimulationModel['setting'], spreadMs = 3_000) => {
    const run = simulate(events, ids.map((id) => ({ intent: tolerant(id) })), { ...rough(spreadMs), setting });
    return ids.toSorted().map((id) => [id, run.of(id)]);
  };

  it('does not depend on the order of execution in any setting', () => {
    const ids =
      fc.uniqueArray(fc.integer({ min: 1, max: 1_000 }).map((n) => `dip-${n}`), { minLength: 1, maxLength: 8 });
    // Within three milliseconds, many land at one instant.
    const spreads = fc.constantFrom(0, 3, 3_000);
    fc.assert(fc.property(ids, fc.constantFrom('optimistic' as const, 'base' as const, 'pessimistic' as const), spreads,
      (some, setting, spreadMs) => {
        expect(outcomesOf(some.toReversed(), setting, spreadMs)).toEqual(outcomesOf(some, setting, spreadMs));
      }), { numRuns: 60 });
  });

  it('repeats with the same seed, and differs with another one', () => {
    const ids = Array.from({ length: 20 }, (_, n) => `dip-${n}`);
    expect(outcomesOf(ids, 'base')).toEqual(outcomesOf(ids, 'base'));
    const ends = (seed: number): string => ids.map((id) => (chanceOf(seed, id).drop < 0.3 ? 'x' : '-')).join('');
    expect(ends(7)).not.toBe(ends(8));
  });
});

describe('own impact between swaps', () => {
  it('makes the second slice dearer, and less so after a delay; swaps of one instant do not affect each other', () => {
    const deep = [{ ...buyingSol(125_000, 0), priceImpact: -0.01 }];
    const bought = (gapMs: Millis): bigint[] => {
      const run = simulate(deep, [{ intent: tolerant('a-1') }, { at: gapMs, intent: tolerant('a-2') }], {
        ...SURE, maxPriceAgeMs: 10_000_000,
      });
      return ['a-1', 'a-2'].map((id) => run.last(id).outcome.fill?.amountOut ?? 0n);
    };
    const [together, soon, later, longAfter] = [0, 5_000, 60_000, 3_600_000].map(bought);
    expect(together![0]).toBe(together![1]);
    expect(soon![1]).toBeLessThan(later![1]!);
    expect(later![1]).toBeLessThan(longAfter![1]!);
    expect(longAfter![1]).toBe(longAfter![0]);
  });
});

describe('what swaps cost', () => {
  const market = [buyingSol(125_000, 0), quote(USDC, FISH, { inAmount: PURCHASE, outAmount: 5_000n })];

  it('is booked with each swap: fees with every landed attempt, a deposit with the first swap of a token', () => {
    const dear: SimulationModel = { ...SURE, costs: {
      ...costs, signatures: 2, computeUnitLimit: 1_400_000, microLamportsPerUnit: 1_001n,
      tipLamports: 3_000n as Lamports,
    } };
    const fish = { outputMint: FISH.mint, minimumOut: undefined };
    const run = simulate(market, [
      { intent: intentOf('a-1', fish) }, { at: 5_000, intent: intentOf('a-2', fish) },
      { at: 9_000, intent: intentOf('a-3') },
    ], dear);
    const fee = 10_000n + 1_402n + 3_000n;
    expect(['a-1', 'a-2', 'a-3'].map((id) => run.last(id).outcome.fill)).toMatchObject([
      { feeLamports: fee, rentLamports: 2_039_280n }, { feeLamports: fee, rentLamports: 0n },
      { feeLamports: fee, rentLamports: 0n },
    ]);
    expect(run.executor.notes().costs)
      .toEqual({ baseLamports: 30_000n, priorityLamports: 4_206n, tipLamports: 9_000n, feeLamports: 3n * fee });
    expect(run.executor.lockedLamports()).toBe(2_039_280n);
    expect(run.executor.closeAccounts([FISH.mint])).toBe(2_039_280n);
    expect(run.executor.lockedLamports()).toBe(0n);
  });

  it('is the fee alone for a failed swap, which opens no account', () => {
    const moved = quote(USDC, FISH, { inAmount: PURCHASE, outAmount: 4_000n, at: 1_000 });
    const run =
      simulate([...market, moved], [{ intent: intentOf('a-1', { outputMint: FISH.mint, minimumOut: undefined }) }]);
    expect(run.last('a-1').outcome).toMatchObject({ state: 'failed', code: '6001', feeLamports: 9_000n });
    expect(run.executor.notes()).toMatchObject({ failedFeeLamports: 9_000n, costs: { feeLamports: 9_000n } });
    expect(run.executor.lockedLamports()).toBe(0n);
  });

  it('includes the transfer fee of a token in the quote, so that it is no slippage', () => {
    const taxed: SimulationModel = { ...SURE, transferFees: new Map([[FISH.mint, { bps: 100, maximum: 10n ** 9n }]]) };
    const run =
      simulate(market, [{ intent: intentOf('a-1', { outputMint: FISH.mint, minimumOut: undefined }) }], taxed);
    expect(run.of('a-1').find(({ outcome }) => outcome.state === 'signed')!.outcome.quotedOut).toBe(4_950n);
    expect(run.last('a-1').outcome.fill).toMatchObject({ amountOut: 4_950n, rentLamports: 2_074_080n });
    expect(run.executor.notes().transferFees).toEqual(new Map([[FISH.mint, 50n]]));
    expect(run.last('a-1').notes)
      .toMatchObject({ transferFees: [{ mint: FISH.mint, amount: 50n }], rentLamports: 2_074_080n });
  });
});

describe('the warnings about a simulation', () => {
  it('count the swaps that could not be simulated, and the less reliable fills, with reasons', () => {
    const run = simulate([buyingSol(125_000, 0)], [
      { intent: intentOf('a-1', { amountIn: (PURCHASE + 1n) as Amount }) },
      { intent: intentOf('a-2', { outputMint: FISH.mint }) }, { intent: intentOf('a-3') },
      { intent: intentOf(
        'a-4', { inputMint: SOL.mint, outputMint: USDC.mint, amountIn: 1_000n as Amount, minimumOut: undefined },
      ) },
    ]);
    expect(simulationWarnings(run.executor.notes(), BASE_MODEL)).toEqual([
      'the cost of delay is not visible here: 2 of 2 fills landed before the next price was recorded, at the accepted '
        + 'price; record more often',
      '1 swap could not be simulated and was abandoned (QUOTE_UNAVAILABLE): the recording holds no quote of the pair '
        + 'in either direction',
      '1 swap could not be simulated and was abandoned (SIZE_BEYOND_LADDER): the size is above the largest recorded '
        + 'quote (backtest.extrapolate would price it)',
      '1 fill is priced from quotes of the other direction, less 60 bps',
    ]);
  });

  it('are absent where every price was known', () => {
    expect(simulationWarnings(
      simulate([buyingSol(125_000, 0), buyingSol(125_000, 1_000)], [{ intent: BUY }]).executor.notes(), BASE_MODEL,
    )).toEqual([]);
  });
});
