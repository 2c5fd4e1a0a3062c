import { map, mergeMap, take } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { MeasuredRun } from '../../../src/research/trials/measured-run.ts';
import { costBreakdown } from '../../../src/research/metrics/cost-breakdown.ts';
import { averagingPlan } from '../../../src/backtest/record/benchmark-wallets.ts';
import { benchmarksOf } from '../../../src/research/metrics/run-figures.ts';
import { packRecord, unpackRecord } from '../../../src/report/embedded-records.ts';
import type { SimulationModel } from '../../../src/trading/simulation-model.ts';
import { BASE_MODEL } from '../../../src/trading/simulation-model.ts';
import type { Amount, Bps, Lamports } from '../../../src/core/amount.ts';
import type { StrategyInstance } from '../../../src/engine/strategy-host.ts';
import type { MarketEvent } from '../../../src/market/event.ts';
import type { Quote } from '../../../src/market/quote.ts';
import type { Mint } from '../../../src/market/token.ts';
import type { SimulationSetting } from '../../../src/trading/simulation-model.ts';
import { strategy } from '../../engine/runs.ts';
import { quote } from '../../market/events.ts';
import { FISH, SOL, TOKENS, USDC } from '../../market/tokens.ts';
import { bothSides, measured } from '../measured.ts';

const STEP = 5_000;
const STEPS = 121;
/** Ten purchases of a benchmark, from the first price on. */
const EVERY = 12;
const END = STEP * STEPS;
/** No transaction is lost; everything has its cost. */
const DEAR: Partial<SimulationModel> = {
  landing: { ...BASE_MODEL.landing, adverseBps: 3 as Bps, dropProbability: 0, unknownProbability: 0 },
  costs: { ...BASE_MODEL.costs, platformFeeBps: 20 as Bps, tipLamports: 200_000n as Lamports },
};
/** No account of FISH: its first purchase pays a deposit. */
const WALLET: ReadonlyMap<Mint, Amount> =
  new Map([[SOL.mint, 10_000_000_000n as Amount], [USDC.mint, 10_000_000_000n as Amount]]);

/** FISH at two sizes each way, half a dollar and swinging; SOL, in which fees are paid, at 125 dollars. */
function market(): MarketEvent[] {
  const fish = Array.from({ length: STEPS }, (_, n) => {
    const [at, price] = [(n + 1) * STEP, 0.5 + 0.05 * Math.sin(n / 9)];
    const bought = (usd: number, worse: number): MarketEvent => quote(USDC, FISH, {
      inAmount: BigInt(usd * 1_000_000), outAmount: BigInt(Math.round((usd / (price * worse)) * 100_000)), at,
      priceImpact: undefined,
    });
    const sold = (whole: number, worse: number): MarketEvent => quote(FISH, USDC, {
      inAmount: BigInt(whole * 100_000), outAmount: BigInt(Math.round(whole * price * 1_000_000 * worse)), at,
      priceImpact: undefined,
    });
    return [bought(50, 1.001), bought(500, 1.004), sold(100, 0.999), sold(1_000, 0.996)];
  });
  return bothSides(Array.from({ length: STEPS }, () => [125, 124] as const), STEP)
    .flatMap((event, i) => (i % 2 === 0 ? [...fish[i / 2]!, event] : [event]));
}

/** The schedule of the benchmark: at the first price, and after each tenth of what is left. */
const averaging: StrategyInstance = strategy('averaging', ({ price }, context) => price!.pipe(mergeMap((_, n) => (
  n % EVERY === 0 && n < 10 * EVERY
    ? [context.swap(USDC, FISH, { token: USDC, amount: 50_000_000n }, 'its turn')] : []))));

function runOf(
  setting: SimulationSetting = 'base', model: Partial<SimulationModel> = DEAR, strategies = [averaging],
): MeasuredRun {
  return measured(market(), {
    strategies, model: { ...model, setting }, instruments: [FISH], wallet: WALLET, everyMs: 60_000,
    extremesEveryMs: 1_000, endAt: END,
  });
}

/** The results of DCA and of holding. */
function ends(model: Partial<SimulationModel>): number[] {
  const { dca, buy_and_hold: holding } = benchmarksOf(runOf('base', model).record);
  return [dca, holding].map((benchmark) => benchmark!.series.values.at(-1)!);
}

describe('issue 13.6: benchmarks pay the costs of a strategy', () => {
  it.each(
    ['optimistic', 'base', 'pessimistic'] as const,
  )('so that a strategy with the schedule of DCA comes within 5 bps of it: %s', (setting) => {
    const { record, series } = runOf(setting);
    expect(record.fills).toHaveLength(10);
    const { dca, buy_and_hold: holding } = benchmarksOf(record);
    expect(Math.abs(dca!.series.values.at(-1)! / series.values.at(-1)! - 1)).toBeLessThan(0.0005);
    expect(holding!.series.values[0]).toBe(500);
  });

  it('pay the platform’s fee, network and priority fees and the deposit of the account', () => {
    const costs = { ...BASE_MODEL.costs, signatures: 0, microLamportsPerUnit: 0n };
    const free = ends({ ...DEAR, costs });
    const lost = (change: Partial<SimulationModel['costs']>): number[] =>
      ends({ ...DEAR, costs: { ...costs, ...change } }).map((end, i) => free[i]! - end);
    // Ten purchases and one: of 500 dollars 20 bps when they are bought, and again where they count at what a sale
    // leaves.
    for (const fee of lost({ platformFeeBps: 20 as Bps })) expect(fee).toBeCloseTo(2 * 0.002 * 500, 0);
    expect(lost({ tipLamports: 1_000_000n as Lamports }))
      .toEqual([expect.closeTo(10 * 0.124, 6), expect.closeTo(0.124, 6)]);
    const deposit = 0.002_039_28 * 124;
    const held = benchmarksOf(measured(market(), {
      strategies: [averaging], model: { ...DEAR, costs }, instruments: [FISH], everyMs: 60_000, extremesEveryMs: 1_000,
      endAt: END,
    }).record);
    expect(held.buy_and_hold!.series.values.at(-1)! - free[1]!).toBeCloseTo(deposit, 5);
  });

  it('are equal in a report’s record and in the measured run', () => {
    const { record } = runOf();
    expect(unpackRecord(JSON.parse(JSON.stringify(packRecord(record))) as ReturnType<typeof packRecord>))
      .toEqual(JSON.parse(JSON.stringify(record)));
  });
});

describe('issue 13.7: deposits for token accounts', () => {
  const free: Partial<SimulationModel> =
    { ...DEAR, costs: { ...BASE_MODEL.costs, signatures: 0, microLamportsPerUnit: 0n } };
  const deposit = 2_039_280e-9 * 124;

  it('are missing in the equity while they are locked, and are no cost', () => {
    const { result, record, series, assessment } = runOf('base', free);
    expect(result.deposits).toEqual({ returnedLamports: 0n, lockedLamports: 2_039_280n });
    expect(record.strategies).toMatchObject([{ deposited: expect.closeTo(deposit, 5), returned: 0 }]);
    const sold = series.held.at(-1)!;
    expect(series.values.at(-1)).toBeCloseTo(sold - deposit, 5);
    expect(assessment.metrics.fees_paid).toBe(0);
    expect(costBreakdown({ ...runOf('base', free) }, TOKENS).find(({ what }) => what.includes('still there')))
      .toMatchObject({ paid: '0.00203928 SOL', value: expect.closeTo(deposit, 5) });
  });

  it('are back in the equity at the end where the token is sold', () => {
    const inAndOut = strategy('in-and-out', ({ price }, context) => price!.pipe(take(2), map((_, n) => (
      n === 0 ? context.swap(USDC, FISH, { token: USDC, amount: 50_000_000n }, 'in')
        : context.swap(FISH, USDC, 'all', 'out')))));
    const { result, record, series } = runOf('base', free, [inAndOut]);
    expect(record.fills).toHaveLength(2);
    expect(result.deposits).toEqual({ returnedLamports: 2_039_280n, lockedLamports: 0n });
    expect(record.strategies).toMatchObject([{ deposited: 0, returned: expect.closeTo(deposit, 5) }]);
    expect(series.values.at(-1)! - series.values.at(-2)!).toBeCloseTo(deposit, 5);
  });
});

describe('issue 13.6: the purchases of a benchmark', () => {
  it('wait in a gap for a price that is recent enough for a strategy', () => {
    // Half a dollar until 200 s, a quarter from 400 s on: four purchases are due before the gap, three within it, three
    // after it.
    const gap = market().filter(({ receivedAt }) => receivedAt <= 200_000 || receivedAt >= 400_000)
      .map((event) => (event.kind !== 'quote' || event.inputMint === SOL.mint || event.outputMint === SOL.mint
        ? event : flat(event)));
    const model: Partial<SimulationModel> = { ...DEAR, fillQuoteAge: { ...BASE_MODEL.fillQuoteAge, maxMs: 30_000 } };
    const run = measured(gap, {
      strategies: [averaging], model: { ...model, setting: 'base' }, instruments: [FISH], wallet: WALLET,
      everyMs: 60_000, extremesEveryMs: 1_000, endAt: END,
    });
    // 4 x 50 / 0.5 + 6 x 50 / 0.25 = 1600 FISH for 0.25 each; bought at the price before the gap, three would bring
    // half.
    const end = benchmarksOf(run.record).dca!.series.values.at(-1)!;
    expect(end).toBeGreaterThan(385);
    expect(end).toBeLessThan(401);
  });

  it.each([[2.99999, 3], [3, 3], [2.9, 3], [29.9999, 30], [1, 10]])('over %d days buys %d times', (days, orders) => {
    expect(averagingPlan(days * 86_400_000).orders).toBe(orders);
  });
});

/** The same quote at a price that does not swing: half a dollar before 300 s, then a quarter. */
function flat(event: Quote): Quote {
  const price = event.receivedAt < 300_000 ? 0.5 : 0.25;
  const outAmount = event.inputMint === USDC.mint ? BigInt(Math.round(Number(event.inAmount) / 10 / price))
    : BigInt(Math.round(Number(event.inAmount) * 10 * price));
  return { ...event, outAmount: outAmount as Amount };
}
