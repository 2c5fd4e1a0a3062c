import type { SimulationModel } from '../../src/trading/simulation-model.ts';
import { BASE_MODEL } from '../../src/trading/simulation-model.ts';
import { createSimulatedExecutor } from '../../src/backtest/simulated-executor.ts';
import type { Amount, Bps } from '../../src/core/amount.ts';
import { VirtualClock } from '../../src/engine/virtual-clock.ts';
import { MarketCache } from '../../src/trading/market-cache.ts';
import { quote } from '../market/events.ts';
import { KELP, SOL, USDC } from '../market/tokens.ts';
import { collect } from '../execution/execution-fixture.ts';
import type { ExecutorHarness } from './executor.ts';
import { executorContract } from './executor.ts';

const IN_AMOUNT = 20_000_000n;
const OUT_AMOUNT = 109_000_000n;
/** Nothing is lost on the way: the contract is of what every executor does with what arrives. */
const model: SimulationModel =
  { ...BASE_MODEL, landing: { ...BASE_MODEL.landing, dropProbability: 0, unknownProbability: 0 } };

executorContract({
  name: 'simulated',
  create: createSimulated,
  skips: { reconcile:
    'a backtest has no yesterday: it begins with nothing open, and to be handed something is a bug that must show' },
});

async function createSimulated(): Promise<ExecutorHarness> {
  const clock = new VirtualClock(1_790_000_000_000);
  const market = new MarketCache();
  const observe = (outAmount: bigint): void => {
    const event = quote(USDC, SOL, { inAmount: IN_AMOUNT, outAmount, at: clock.now(), priceImpact: -0.002 });
    market.observe({ ...event, feeBps: 2 as Bps });
  };
  observe(OUT_AMOUNT);
  let pair = { inputMint: USDC.mint, outputMint: SOL.mint };
  let intents = 0;
  const intent: ExecutorHarness['intent'] = (overrides = {}) => {
    intents += 1;
    return {
      id: `test-${intents}`, strategy: 'test', createdAt: clock.now(), ...pair, amountIn: IN_AMOUNT as Amount,
      purpose: 'entry', maxSlippageBps: 50 as Bps, maxPriceImpactBps: 100 as Bps, maxFeeBps: 30 as Bps, route: 'order',
      reason: 'a test', ...overrides,
    };
  };
  return {
    executor: createSimulatedExecutor({ clock, market, model, seed: 7, tokenAccounts: [] }),
    intent,
    largeIntent: intent,
    run: (outcomes$, onOutcome) => {
      const outcomes = collect(outcomes$, onOutcome);
      clock.advanceTo(clock.now() + 60_000);
      return outcomes;
    },
    worsenPrice: () => { observe((OUT_AMOUNT * 9n) / 10n); },
    // Nothing in the recording is forgotten again, so the pair without quotes is another one.
    breakQuotes: async () => { pair = { inputMint: USDC.mint, outputMint: KELP.mint }; },
    leaveOpen: (intent, state) => ({ intent, state }),
    signatures: () => 0,
    close: async () => undefined,
  };
}
