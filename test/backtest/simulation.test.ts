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
/** It minds no price impact. */
const patient = (id: string): Intent => intentOf(id, { maxPriceImpactBps: 1_000 as Bps });

/** A maker's quote. */
const firm = (milliUsd: number, at: number): MarketEvent => ({ ...buyingSol(milliUsd, at), router: 'rfqz' });

interface Journey { readonly at: Millis; readonly outcome: Outcome; readonly notes: FillNotes | undefined }

/** Carries intents out, each begun at its own time and in the order given, over market events that come at theirs. */
function simulate(
  events: readonly MarketEvent[], intents: readonly { readonly at?: Millis; readonly intent: Intent }[],
  model: SimulationModel = SURE, tokenAccounts: readonly Mint[] = [USDC.mint],
) {
  const clock = new VirtualClock(0);
  const market = new MarketCache();
  const executor = createSimulatedExecutor({ clock, market, model, seed: 7, tokenAccounts });
  const journeys = new Map<string, Journey[]>();
  for (const event of events) {
    if (event.receivedAt <= 0) market.observe(event);
    else clock.schedule(() => { market.observe(event); }, event.receivedAt);
  }
  for (const { at = 0, intent } of intents) {
    const journey: Journey[] = [];
    journeys.set(intent.id, journey);
    clock.schedule(
      () => { executor.carryOut(intent, (outcome, notes) => { journey.push({ at: clock.now(), outcome, notes }); }); },
      at,
    );
  }
  clock.advanceTo(10_000_000);
  for (const journey of journeys.values()) {
    for (const [index, { outcome }] of journey.entries())
      expect(canTransition(journey[index - 1]?.outcome.state ?? 'approved', outcome.state)).toBe(true);
    expect(isTerminal(journey.at(-1)!.outcome.state)).toBe(true);
  }
  return { executor, journeys, of: (id: string) => journeys.get(id)!, last: (id: string) => journeys.get(id)!.at(-1)! };
}

const states = (journey: readonly Journey[]): unknown[] => journey.map(({ at, outcome }) => [outcome.state, at]);

describe('a simulated transaction', () => {
  it('that is lost costs nothing and locks its money until it has expired', () => {
    const run = simulate([buyingSol(125_000, 0)], [{ intent: BUY }], of({ dropProbability: 1 }));
    expect(states(run.of(BUY.id))).toEqual([['building', 0], ['signed', 305], ['submitted', 305], ['expired', 70_305]]);
    expect(run.last(BUY.id).outcome).toMatchObject({ code: 'EXPIRED', fill: undefined, feeLamports: undefined });
    expect(run.executor.notes().costs.feeLamports).toBe(0n);
  });

  it('that takes longer than its life expires too', () => {
    const slow = { ...SURE, latency: { ...latency, land: [{ share: 0.5, latencyMs: 70_001 }] } };
    expect(simulate([buyingSol(125_000, 0)], [{ intent: BUY }], slow).last(BUY.id))
      .toMatchObject({ at: 70_305, outcome: { state: 'expired' } });
  });

  it('that nobody sees land is unknown until it would have expired, and filled at the price it arrived at', () => {
    const run = simulate(
      [buyingSol(125_000, 0), buyingSol(125_100, 1_000), buyingSol(90_000, 3_000)], [{ intent: BUY }],
      of({ unknownProbability: 1 }),
    );
    expect(states(run.of(BUY.id)))
      .toEqual([['building', 0], ['signed', 305], ['submitted', 305], ['unknown', 1_805], ['confirmed', 70_305]]);
    expect(run.last(BUY.id).outcome.fill!.amountOut).toBe(buyingSol(125_100, 0).outAmount);
  });

  it('with a maker fills as quoted whatever happens, unless the price moves in our favour: then he does not sign', () => {
    const dearer = simulate([firm(125_000, 0), firm(200_000, 1_000)], [{ intent: BUY }]);
    expect(dearer.last(BUY.id))
      .toMatchObject({ at: 1_805, outcome: { state: 'confirmed', fill: { amountOut: 200_000_000n } } });
    // 10 bps of patience from 125: at 124.88 he still signs, at 124.87 no more.
    expect(simulate([firm(125_000, 0), firm(124_880, 1_000)], [{ intent: BUY }]).last(BUY.id).outcome.state)
      .toBe('confirmed');
    const refused = simulate([firm(125_000, 0), firm(124_870, 1_000)], [{ intent: BUY }]);
    expect(states(refused.of(BUY.id)))
      .toEqual([['building', 0], ['signed', 305], ['submitted', 305], ['submitted', 1_805], ['expired', 70_305]]);
    expect(refused.last(BUY.id).outcome).toMatchObject({ code: 'MAKER_REJECTED', feeLamports: undefined });
  });

  it('falls short of the price on arrival by what live ones did, and fails where that is too much', () => {
    const short = simulate([buyingSol(125_000, 0)], [{ intent: BUY }], of({ adverseBps: 50 as Bps }));
    expect(short.last(BUY.id).outcome.fill!.amountOut).toBe(199_000_000n);
    expect(simulate([buyingSol(125_000, 0)], [{ intent: BUY }], of({ adverseBps: 51 as Bps })).last(BUY.id).outcome)
      .toMatchObject({ state: 'failed', code: '6001' });
  });
});

describe('the price of time', () => {
  it('is drawn by each intent for itself from the quantiles, all three latencies', () => {
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

  it('is that of a quote alone for the optimist, and double for the pessimist', () => {
    const ends = (['optimistic', 'base', 'pessimistic'] as const)
      .map((setting) => simulate([buyingSol(125_000, 0)], [{ intent: BUY }], { ...SURE, setting }).last(BUY.id).at);
    expect(ends).toEqual([300, 1_805, 3_610]);
  });
});

/** Much is lost and much unseen, and each swap takes up to twice `spreadMs`. */
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
    const run = simulate(events, ids.map((id) => ({ intent: patient(id) })), { ...rough(spreadMs), setting });
    return ids.toSorted().map((id) => [id, run.of(id)]);
  };

  it('does not depend on the order in which swaps are carried out, in any setting', () => {
    const ids =
      fc.uniqueArray(fc.integer({ min: 1, max: 1_000 }).map((n) => `dip-${n}`), { minLength: 1, maxLength: 8 });
    // Within three milliseconds, many land at one instant.
    const spreads = fc.constantFrom(0, 3, 3_000);
    fc.assert(fc.property(ids, fc.constantFrom('optimistic' as const, 'base' as const, 'pessimistic' as const), spreads,
      (some, setting, spreadMs) => {
        expect(outcomesOf(some.toReversed(), setting, spreadMs)).toEqual(outcomesOf(some, setting, spreadMs));
      }), { numRuns: 60 });
  });

  it('comes to the same again, and to something else with another seed', () => {
    const ids = Array.from({ length: 20 }, (_, n) => `dip-${n}`);
    expect(outcomesOf(ids, 'base')).toEqual(outcomesOf(ids, 'base'));
    const ends = (seed: number): string => ids.map((id) => (chanceOf(seed, id).drop < 0.3 ? 'x' : '-')).join('');
    expect(ends(7)).not.toBe(ends(8));
  });
});

describe('own impact between swaps', () => {
  it('makes the second slice dearer than the first, less so the longer one waits; swaps of one instant do not see one another', () => {
    const deep = [{ ...buyingSol(125_000, 0), priceImpact: -0.01 }];
    const bought = (gapMs: Millis): bigint[] => {
      const run = simulate(deep, [{ intent: patient('a-1') }, { at: gapMs, intent: patient('a-2') }], {
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

  it('is booked with each: fees with every attempt that lands, a deposit with the first of a token', () => {
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

  it('of a failure is its fee alone, and no account is opened by it', () => {
    const moved = quote(USDC, FISH, { inAmount: PURCHASE, outAmount: 4_000n, at: 1_000 });
    const run =
      simulate([...market, moved], [{ intent: intentOf('a-1', { outputMint: FISH.mint, minimumOut: undefined }) }]);
    expect(run.last('a-1').outcome).toMatchObject({ state: 'failed', code: '6001', feeLamports: 9_000n });
    expect(run.executor.notes()).toMatchObject({ failedFeeLamports: 9_000n, costs: { feeLamports: 9_000n } });
    expect(run.executor.lockedLamports()).toBe(0n);
  });

  it('of a taxed token is known beforehand: less arrives, and that is no slippage', () => {
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

describe('what a report must say first', () => {
  it('is how many swaps could not be simulated, and how many fills are less sure, with why', () => {
    const run = simulate([buyingSol(125_000, 0)], [
      { intent: intentOf('a-1', { amountIn: (PURCHASE + 1n) as Amount }) },
      { intent: intentOf('a-2', { outputMint: FISH.mint }) }, { intent: intentOf('a-3') },
      { intent: intentOf(
        'a-4', { inputMint: SOL.mint, outputMint: USDC.mint, amountIn: 1_000n as Amount, minimumOut: undefined },
      ) },
    ]);
    expect(simulationWarnings(run.executor.notes(), BASE_MODEL)).toEqual([
      'what waiting costs cannot be seen here: 2 of 2 fills landed before the next price was recorded, at the one that '
        + 'they were accepted at; record more often',
      '1 swap could not be simulated and was given up (QUOTE_UNAVAILABLE): the recording holds no quote of its pair, '
        + 'either way',
      '1 swap could not be simulated and was given up (SIZE_BEYOND_LADDER): it is larger than the largest recorded '
        + 'quote (backtest.extrapolate would price it)',
      '1 fill is priced from quotes of the other direction, less 60 bps',
    ]);
  });

  it('is nothing where all was known', () => {
    expect(simulationWarnings(
      simulate([buyingSol(125_000, 0), buyingSol(125_000, 1_000)], [{ intent: BUY }]).executor.notes(), BASE_MODEL,
    )).toEqual([]);
  });
});
