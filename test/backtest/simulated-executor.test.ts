import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SimulationModel } from '../../src/trading/simulation-model.ts';
import type { SimulatedExecutor } from '../../src/backtest/simulated-executor.ts';
import { BASE_MODEL } from '../../src/trading/simulation-model.ts';
import { createSimulatedExecutor } from '../../src/backtest/simulated-executor.ts';
import type { FillNotes, SimulationNotes } from '../../src/backtest/simulation-notes.ts';
import type { Amount, Bps } from '../../src/core/amount.ts';
import { VirtualClock } from '../../src/engine/virtual-clock.ts';
import type { MarketEvent } from '../../src/market/event.ts';
import type { Intent, IntentState, Outcome } from '../../src/trading/intent.ts';
import { canTransition } from '../../src/trading/intent.ts';
import { MarketCache } from '../../src/trading/market-cache.ts';
import { buyingSol, PURCHASE, quote, sellingSol } from '../market/events.ts';
import { SOL, USDC } from '../market/tokens.ts';
import { approve, buy, stateWith } from '../trading/states.ts';

const SETTINGS = ['optimistic', 'base', 'pessimistic'] as const;
/** The base model without mishaps, where signing takes no time. */
const CERTAIN: SimulationModel = {
  ...BASE_MODEL,
  latency: { ...BASE_MODEL.latency, sign: [{ share: 0.5, latencyMs: 0 }] },
  landing: { ...BASE_MODEL.landing, dropProbability: 0, unknownProbability: 0 },
};

/** Executes one purchase of 25 USDC that begins at 0, with market events at their own times. */
function execute(events: readonly MarketEvent[], model: Partial<SimulationModel> = {}, change: Partial<Intent> = {}): {
  readonly outcomes: (Outcome & { readonly at: number })[]; readonly notes: SimulationNotes;
  readonly fill: FillNotes | undefined;
} {
  const clock = new VirtualClock(0);
  const market = new MarketCache();
  const create = (): SimulatedExecutor =>
    createSimulatedExecutor({ clock, market, model: { ...CERTAIN, ...model }, seed: 7, tokenAccounts: [USDC.mint] });
  const executor = create();
  const intent: Intent = { ...approve(stateWith(), buy()), ...change };
  const outcomes: (Outcome & { at: number })[] = [];
  for (const event of events.filter(({ receivedAt }) => receivedAt <= 0)) market.observe(event);
  for (const event of events.filter(({ receivedAt }) => receivedAt > 0))
    clock.schedule(() => { market.observe(event); }, event.receivedAt);
  let completed = false;
  executor.execute(intent).subscribe({
    next: (outcome) => { outcomes.push({ ...outcome, at: clock.now() }); },
    complete: () => { completed = true; },
  });
  const handedOver: { outcome: Outcome; notes: FillNotes | undefined }[] = [];
  create().carryOut(intent, (outcome, notes) => { handedOver.push({ outcome, notes }); });
  clock.advanceTo(200_000);
  expect(completed).toBe(true);
  expect(outcomes).toMatchObject(handedOver.map(({ outcome }) => outcome));
  expect(handedOver.map(({ notes }) => notes !== undefined)).toEqual(outcomes.map(({ fill }) => fill !== undefined));
  return { outcomes, notes: executor.notes(), fill: handedOver.at(-1)?.notes };
}

const last = (run: ReturnType<typeof execute>): Outcome & { readonly at: number } => run.outcomes.at(-1)!;

describe('a simulated swap', () => {
  it('takes the time of a quote and of a landing, with the states of a live swap', () => {
    const { outcomes } = execute([buyingSol(125_000, 0)]);
    expect(outcomes.map(({ state, at }) => [state, at]))
      .toEqual([['building', 0], ['signed', 300], ['submitted', 300], ['confirmed', 1_800]]);
    let state: IntentState = 'approved';
    for (const outcome of outcomes) {
      expect(canTransition(state, outcome.state)).toBe(true);
      state = outcome.state;
    }
    expect(outcomes.at(-1)!.fill)
      .toMatchObject({ amountIn: PURCHASE, amountOut: 200_000_000n, feeLamports: 9_000n, rentLamports: 0n });
  });

  it('is filled at the price known on arrival, not at earlier or later ones', () => {
    const run = execute([buyingSol(125_000, 0), buyingSol(125_100, 1_000), buyingSol(100_000, 1_801)]);
    expect(last(run).quotedOut).toBe(200_000_000n);
    expect(last(run).fill!.amountOut).toBe(buyingSol(125_100, 0).outAmount);
  });

  it('counts the fills without a newer quote during their landing', () => {
    expect(execute([buyingSol(125_000, 0), buyingSol(125_000, 1_801)]).notes.arrivals)
      .toEqual({ count: 1, unmoved: 1 });
    // The same price again is another quote.
    expect(execute([buyingSol(125_000, 0), buyingSol(125_000, 1_000)]).notes.arrivals)
      .toEqual({ count: 1, unmoved: 0 });
    expect(execute([buyingSol(125_000, 0), buyingSol(125_630, 1_000)]).notes.arrivals)
      .toEqual({ count: 0, unmoved: 0 });
  });

  it('fails with 6001 where the price moved beyond the slippage, and pays its fee', () => {
    // 50 bps of slippage from 125: one of 125.62 still lands, one of 125.63 no more.
    expect(last(execute([buyingSol(125_000, 0), buyingSol(125_620, 1_000)])).state).toBe('confirmed');
    const failed = last(execute([buyingSol(125_000, 0), buyingSol(125_630, 1_000)]));
    expect(failed).toMatchObject({ state: 'failed', code: '6001', feeLamports: 9_000n, at: 1_800 });
    expect(failed.fill).toBeUndefined();
  });

  it('quotes again before it signs, so that an earlier move is no slippage', () => {
    const run = execute([buyingSol(125_000, 0), buyingSol(250_000, 200)]);
    expect(last(run)).toMatchObject({ state: 'confirmed', quotedOut: 100_000_000n });
  });

  it('is abandoned where no quote of the pair exists in either direction', () => {
    for (const events of [
      [], [quote(USDC, SOL, { inAmount: 0n, outAmount: 5n })], [quote(SOL, USDC, { inAmount: 5n, outAmount: 0n })],
    ]) {
      expect(execute(events).outcomes.map(({ state, code }) => [state, code]))
        .toEqual([['building', undefined], ['abandoned', 'QUOTE_UNAVAILABLE']]);
    }
  });

  it('is abandoned without a fee where the terms violate a limit', () => {
    expect(last(execute([buyingSol(125_000, 0)], {}, { minimumOut: 200_000_001n as Amount })))
      .toMatchObject({ state: 'abandoned', code: 'LIMIT_NOT_MET' });
    expect(last(execute([{ ...buyingSol(125_000, 0), priceImpact: -0.02 }])))
      .toMatchObject({ state: 'abandoned', code: 'IMPACT_EXCEEDS_MAX' });
    expect(last(execute([{ ...buyingSol(125_000, 0), feeBps: 31 as Bps }])))
      .toMatchObject({ state: 'abandoned', code: 'FEE_EXCEEDS_MAX' });
    expect(last(execute([quote(USDC, SOL, { inAmount: PURCHASE, outAmount: 0n })])))
      .toMatchObject({ state: 'abandoned', code: 'LIMIT_NOT_MET' });
  });

  it('is priced from the other direction less the haircut where only that was recorded, and is marked', () => {
    const run = execute([sellingSol(125_000, 0)], { otherSideHaircutBps: 60 as Bps });
    expect(last(run).fill!.amountOut).toBe(198_800_000n);
    expect(run.notes.marks).toEqual({ 'other-side': 1 });
    const both = execute([sellingSol(125_000, 0), buyingSol(125_000, 0)]);
    expect(last(both).fill!.amountOut).toBe(200_000_000n);
    expect(both.notes.marks).toEqual({});
  });

  it('is refused above the largest recorded size, unless extrapolation is allowed, which marks it', () => {
    const small = [quote(USDC, SOL, { inAmount: 3n, outAmount: 7n })];
    const refused = execute(small);
    expect(last(refused)).toMatchObject({
      state: 'abandoned', code: 'SIZE_BEYOND_LADDER',
      reason: expect.stringContaining('25000000 smallest units, and the largest recorded size is 3'),
    });
    expect(refused.notes.refusals).toEqual({ SIZE_BEYOND_LADDER: 1 });
    const allowed = execute(small, { extrapolate: true });
    expect(last(allowed).fill!.amountOut).toBe((PURCHASE * 7n) / 3n);
    expect(allowed.notes.marks).toEqual({ extrapolated: 1 });
    // A single size without a stated price impact does not tell larger ones.
    expect(last(execute([{ ...small[0]!, priceImpact: undefined }], { extrapolate: true })))
      .toMatchObject({ code: 'SIZE_BEYOND_LADDER' });
  });

  it('is priced from the other direction at any size if it is an exit, but not if it is an entry', () => {
    const market = [{ ...sellingSol(12_500, 0), priceImpact: -0.001 }];
    expect(last(execute(market))).toMatchObject({ state: 'abandoned', code: 'SIZE_BEYOND_LADDER' });
    const exit = execute(market, {}, { purpose: 'exit' });
    expect(exit.notes.marks).toEqual({ 'other-side': 1, extrapolated: 1 });
    // 12.5 dollars lose 0.1 %, 25 lose 0.2 %: a(2x) = a(x) (1 + 0.001).
    expect(Number(last(exit).fill!.amountOut) / 1_988_000_000).toBeCloseTo(1 / 1.001, 9);
  });

  it('is refused where all quotes are too old', () => {
    expect(last(execute([buyingSol(125_000, -7_200_000)], { maxPriceAgeMs: 7_200_300 })).state).toBe('confirmed');
    expect(last(execute([buyingSol(125_000, -7_200_001)], { maxPriceAgeMs: 7_200_300 })))
      .toMatchObject({ state: 'abandoned', code: 'QUOTE_STALE' });
  });

  it('refuses to resolve open intents of a real run', () => {
    const executor = createSimulatedExecutor({
      clock: new VirtualClock(0), market: new MarketCache(), model: BASE_MODEL, seed: 7, tokenAccounts: [],
    });
    expect(() => executor.reconcile([{ intent: approve(stateWith(), buy()), state: 'unknown' }]))
      .toThrow('cannot resolve 1 open');
  });

  it('stops when the subscription ends', () => {
    const clock = new VirtualClock(0);
    const market = new MarketCache();
    market.observe(buyingSol(125_000, 0));
    const subscription = createSimulatedExecutor({ clock, market, model: BASE_MODEL, seed: 7, tokenAccounts: [] })
      .execute(approve(stateWith(), buy())).subscribe();
    subscription.unsubscribe();
    expect(clock.nextAt()).toBe(Infinity);
  });
});

describe('the three settings', () => {
  it('fill as quoted, on arrival, and at the minimum under the slippage', () => {
    const path = [buyingSol(125_000, 0), buyingSol(125_100, 250), buyingSol(125_200, 1_000)];
    const [optimistic, base, pessimistic] = SETTINGS.map((setting) => last(execute(path, { setting })));
    expect(optimistic)
      .toMatchObject({ state: 'confirmed', at: 300, fill: { amountOut: buyingSol(125_100, 0).outAmount } });
    expect(base).toMatchObject({
      at: 1_800, quotedOut: buyingSol(125_100, 0).outAmount, fill: { amountOut: buyingSol(125_200, 0).outAmount },
    });
    const accepted = buyingSol(125_100, 0).outAmount;
    expect(pessimistic!.fill!.amountOut).toBe((accepted * 9_950n) / 10_000n);
  });

  it('all quote after the prices of a round have arrived, since prices at the decision are old', () => {
    // The last quote is 10 s old; the one requested at the decision arrives 100 ms later.
    const path = [buyingSol(125_000, 0), buyingSol(124_000, 100)];
    for (const setting of SETTINGS) expect(execute(path, { setting }).outcomes.find(({ state }) => state === 'signed'))
      .toMatchObject({ quotedOut: buyingSol(124_000, 0).outAmount });
  });

  it('have a falling output where the price moves against the swap', () => {
    const moves = fc.array(
      fc.record({ at: fc.integer({ min: 1, max: 2_000 }), up: fc.integer({ min: 0, max: 100 }) }), { maxLength: 8 },
    );
    fc.assert(fc.property(moves, (steps) => {
      let price = 125_000;
      const path = [
        buyingSol(price, 0), ...steps.toSorted((a, b) => a.at - b.at).map(({ at, up }) => buyingSol((price += up), at)),
      ];
      const brought = SETTINGS.map((setting) => last(execute(path, { setting })).fill?.amountOut ?? 0n);
      expect(brought[0]! >= brought[1]! && brought[1]! >= brought[2]!).toBe(true);
    }));
  });
});
