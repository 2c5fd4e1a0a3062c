import { merge, mergeMap } from 'rxjs';
import type { MeasuredRun } from '../../src/research/trials/measured-run.ts';
import { runToEnd } from '../../src/core/chunked-work.ts';
import { measureInChunks } from '../../src/research/trials/measured-run.ts';
import type { SimulationModel } from '../../src/trading/simulation-model.ts';
import { BASE_MODEL } from '../../src/trading/simulation-model.ts';
import type { StrategyInstance } from '../../src/engine/strategy-host.ts';
import type { MarketEvent } from '../../src/market/event.ts';
import type { Amount } from '../../src/core/amount.ts';
import type { Mint, Token } from '../../src/market/token.ts';
import { strategy } from '../engine/runs.ts';
import { buyingSol, sellingSol } from '../market/events.ts';
import { SOL, SOL_USDC, USDC } from '../market/tokens.ts';
import { stateWith, strategySetup } from '../trading/states.ts';
import { cursorOver } from './recordings.ts';

/** No swap is lost, and own impact fades at once, so that results can be computed manually. */
export const CALM: Partial<SimulationModel> = {
  landing: { ...BASE_MODEL.landing, dropProbability: 0, unknownProbability: 0 },
  ownImpact: { share: 0, decayMs: 60_000 },
};

/** Buys for 25 dollars at each odd price, and sells a fifth of a coin at each even one. */
export function inAndOut(name = 'in-and-out', reason = 'its turn'): StrategyInstance {
  return strategy(name, ({ price }, context) => merge(price!.pipe(mergeMap((_, n) => [n % 2 === 0
    ? context.buy(SOL_USDC, { token: USDC, amount: 25_000_000n }, reason)
    : context.sell(SOL_USDC, { token: SOL, amount: 200_000_000n }, reason)]))));
}

/** Returns quotes of both directions, five seconds apart: ask and bid of a coin in dollars. */
export function bothSides(prices: readonly (readonly [ask: number, bid: number])[], everyMs = 5_000): MarketEvent[] {
  return prices.flatMap(([ask, bid], n) => {
    const at = (n + 1) * everyMs;
    return [sellingSol(Math.round(bid * 1_000), at), buyingSol(Math.round(ask * 1_000), at)];
  });
}

/**
 * Runs strategies with 500 USDC each over events, sampled each `everyMs`, with extremes checked each `extremesEveryMs`.
 */
export function measured(events: readonly MarketEvent[], options: {
  readonly strategies?: readonly StrategyInstance[];
  readonly model?: Partial<SimulationModel>;
  readonly everyMs?: number;
  readonly extremesEveryMs?: number;
  readonly instruments?: readonly Token[];
  readonly endAt?: number;
  /** The balances of the wallet: 10 SOL, 10,000 USDC and some FISH by default. */
  readonly wallet?: ReadonlyMap<Mint, Amount>;
} = {}): MeasuredRun {
  const {
    strategies = [inAndOut()], model = CALM, everyMs = 5_000, extremesEveryMs, instruments = [SOL], endAt, wallet,
  } = options;
  return runToEnd(measureInChunks({
    state: stateWith({
      strategies: strategies.map(({ name }) => strategySetup(name)), ...(wallet === undefined ? {} : { wallet }),
    }), strategies, seed: 7, startAt: 0, cursor: cursorOver(events.map((input) => ({ at: input.receivedAt, input }))),
    model: { ...BASE_MODEL, ...model }, currency: USDC, stopwatch: () => 0,
    instruments, everyMs, extremesEveryMs, endAt,
  }));
}
