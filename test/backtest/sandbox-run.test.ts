import { map, merge, mergeMap } from 'rxjs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { BacktestResult } from '../../src/backtest/backtest.ts';
import { runBacktest } from '../../src/backtest/backtest.ts';
import { createPricing, isRefusal } from '../../src/backtest/pricing.ts';
import { createOwnImpact } from '../../src/backtest/models/own-impact.ts';
import { backtestCursor, readRecordedChecks } from '../../src/backtest/recorded-checks.ts';
import type { Amount, Bps } from '../../src/core/amount.ts';
import type { StrategyInstance } from '../../src/engine/strategy-host.ts';
import { feedKey } from '../../src/market/feed.ts';
import type { Quote } from '../../src/market/quote.ts';
import { rateOf } from '../../src/market/quote.ts';
import type { Token } from '../../src/market/token.ts';
import type { Recording } from '../../src/recording/reader.ts';
import { openRecording } from '../../src/recording/reader.ts';
import { MarketCache } from '../../src/trading/market-cache.ts';
import type { SimulationModel } from '../../src/trading/simulation-model.ts';
import { BASE_MODEL } from '../../src/trading/simulation-model.ts';
import type { EngineState } from '../../src/trading/engine-state.ts';
import { valueIn } from '../../src/trading/valuation.ts';
import { strategy } from '../engine/runs.ts';
import { SOL, SOL_USDC, TOKENS, USDC } from '../market/tokens.ts';
import { openWriter, temporaryFolder } from '../recording/temporary.ts';
import type { TrapFixture } from '../traps/trap-fixture.ts';
import { openTrapFixture } from '../traps/trap-fixture.ts';
import { approve, buy, stateWith, strategySetup } from '../trading/states.ts';

const STEPS = 40;
const STEP_MS = 5_000;
const DOLLARS = [5n, 25n, 100n].map((dollars) => dollars * 1_000_000n);
const SOLS = [30n, 160n, 700n].map((thousandths) => thousandths * 1_000_000n);

let fixture: TrapFixture;
let quotes: Quote[];

/** Returns the quote of the service, as a feed has it. */
async function quoteOf(from: Token, to: Token, amount: bigint, at: number): Promise<Quote> {
  const request = { inputMint: from.mint, outputMint: to.mint, amount: amount as Amount };
  const order = await fixture.service.swap.order(request);
  return {
    kind: 'quote', feed: feedKey({ kind: 'quote', ...request, everyMs: STEP_MS }), receivedAt: at,
    inputMint: from.mint, outputMint: to.mint, inAmount: order.inAmount, outAmount: order.outAmount,
    threshold: order.threshold, priceImpact: order.priceImpact, contextSlot: order.contextSlot, router: order.router,
    feeBps: order.feeBps as Bps, rate: rateOf(order.inAmount, order.outAmount),
  };
}

/**
 * The sandbox's market, moved manually, at three sizes of both directions, with its own time, so that every run
 * of the test is the same.
 */
async function watch(): Promise<Quote[]> {
  const seen: Quote[] = [];
  for (let step = 1; step <= STEPS; step++) {
    await fixture.scalePrice(SOL.mint, 1 + 0.000_8 * Math.sin(step / 5) + 0.000_3);
    for (const amount of DOLLARS) seen.push(await quoteOf(USDC, SOL, amount, step * STEP_MS));
    for (const amount of SOLS) seen.push(await quoteOf(SOL, USDC, amount, step * STEP_MS));
  }
  return seen;
}

async function recordingOf(events: readonly Quote[]): Promise<Recording> {
  const writer = openWriter(temporaryFolder());
  events.forEach((event, index) => { writer.append(index + 1, event.receivedAt, event); });
  await writer.close();
  return openRecording(writer.directory);
}

/**
 * Buys for 60 dollars at every third price from the second on, and sells half a coin's worth of it at every seventh:
 * sizes without a quote.
 */
const trader = (): StrategyInstance => strategy('trader', ({ price }, context) => merge(
  price!.pipe(mergeMap((_, n) =>
    (n % 3 === 1 ? [context.buy(SOL_USDC, { token: USDC, amount: 60_000_000n }, 'third price')] : []))),
  price!.pipe(mergeMap((_, n) =>
    (n % 7 === 6 ? [context.sell(SOL_USDC, { token: SOL, amount: 400_000_000n }, 'seventh price')] : []))),
  context.outcomes$.pipe(map(({ state }) => context.alert('info', state))),
));

/** Buys for more than the largest quote. */
const whale = (): StrategyInstance => strategy('whale', ({ price }, context) => price!.pipe(
  mergeMap((_, n) => (n === 2 ? [context.buy(SOL_USDC, { token: USDC, amount: 300_000_000n }, 'all at once')] : [])),
));

function backtest(
  recording: Recording, model: Partial<SimulationModel>, instance = trader(),
): { readonly result: BacktestResult; readonly state: EngineState; readonly equity: number } {
  const state = stateWith({ strategies: [strategySetup(instance.name)], limits: { maxPriceImpactBps: 200 as Bps } });
  const result = runBacktest({
    state, strategies: [instance], seed: 7, startAt: recording.firstAt!,
    cursor: backtestCursor(recording, readRecordedChecks(recording)),
    model: { ...BASE_MODEL, ...model }, stopwatch: () => 0,
  });
  // The value of the whole wallet: fees and deposits have left its SOL.
  const coins = (state.portfolio.wallet.get(SOL.mint) ?? 0n) + result.deposits.lockedLamports;
  const dollars = (state.portfolio.wallet.get(USDC.mint) ?? 0n)
    + valueIn(state.market, TOKENS, { mint: SOL.mint, amount: coins, currency: USDC.mint })!;
  return { result, state, equity: Number(dollars) / 1e6 };
}

beforeAll(async () => {
  fixture = await openTrapFixture('reference');
  quotes = await watch();
}, 180_000);
afterAll(() => fixture.close());

describe('a run of the sandbox, recorded', () => {
  it('prices sizes without a quote as the service does, within 5 bps', async () => {
    const market = new MarketCache();
    const at = STEPS * STEP_MS;
    for (const quote of quotes.filter(({ receivedAt }) => receivedAt === at)) market.observe(quote);
    const pricing = createPricing({ market, model: BASE_MODEL, ownImpact: createOwnImpact(BASE_MODEL.ownImpact) });
    for (const [from, to, amount] of [
      [USDC, SOL, 9_000_000n], [USDC, SOL, 60_000_000n], [SOL, USDC, 100_000_000n], [SOL, USDC, 400_000_000n],
    ] as const) {
      const wanted = await quoteOf(from, to, amount, at);
      const found = pricing.price(
        { ...approve(stateWith(), buy()), inputMint: from.mint, outputMint: to.mint, amountIn: amount as Amount },
        { at, isUnderWay: false },
      );
      if (isRefusal(found)) throw new Error(found.reason);
      expect(Math.abs(Number(found.outAmount) / Number(wanted.outAmount) - 1)).toBeLessThan(0.000_5);
    }
  });

  it('has its highest equity in the optimistic setting and its lowest in the pessimistic one', async () => {
    const recording = await recordingOf(quotes);
    const [optimistic, base, pessimistic] = (['optimistic', 'base', 'pessimistic'] as const)
      .map((setting) => backtest(recording, { setting }));
    for (const { result } of [optimistic!, base!, pessimistic!]) {
      expect(result.fills.length).toBeGreaterThan(8);
      expect(result.simulation.refusals).toEqual({});
    }
    expect(optimistic!.equity).toBeGreaterThan(base!.equity);
    expect(base!.equity).toBeGreaterThan(pessimistic!.equity);
    // The fees in the strategy's book are the costs of all attempts, and nothing else.
    for (const { result, state } of [optimistic!, base!, pessimistic!])
      expect(state.portfolio.book('trader').feesLamports).toBe(result.simulation.costs.feeLamports);
  });

  it('has the same hash again, and another one under another model', async () => {
    const recording = await recordingOf(quotes);
    const hash = (model: Partial<SimulationModel>): string => backtest(recording, model).result.decisionHash;
    expect(hash({})).toBe(hash({}));
    expect(hash({ landing: { ...BASE_MODEL.landing, dropProbability: 0.5 } })).not.toBe(hash({}));
  });

  it('refuses a size above every quote with a code and a count, or extrapolates and marks it', async () => {
    const recording = await recordingOf(quotes);
    const refused = backtest(recording, {}, whale()).result;
    expect([refused.intents, refused.simulation.refusals]).toEqual([{ abandoned: 1 }, { SIZE_BEYOND_LADDER: 1 }]);
    const { fills, simulation } = backtest(recording, { extrapolate: true }, whale()).result;
    expect(fills.map(({ notes }) => notes.marks)).toEqual([['extrapolated']]);
    expect(simulation).toMatchObject({ refusals: {}, marks: { extrapolated: 1 } });
  });
});
