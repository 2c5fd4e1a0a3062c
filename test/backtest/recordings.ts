import type { InputCursor } from '../../src/backtest/driver.ts';
import type { BacktestResult } from '../../src/backtest/backtest.ts';
import { runBacktest } from '../../src/backtest/backtest.ts';
import type { SimulationModel } from '../../src/trading/simulation-model.ts';
import { BASE_MODEL } from '../../src/trading/simulation-model.ts';
import type { Millis } from '../../src/core/time.ts';
import type { LoggedDecision } from '../../src/engine/decision-log.ts';
import type { StrategyInstance } from '../../src/engine/strategy-host.ts';
import type { Quote } from '../../src/market/quote.ts';
import type { EngineState } from '../../src/trading/engine-state.ts';
import type { Input } from '../../src/trading/step.ts';
import { buyingSol } from '../market/events.ts';
import { stateWith, strategySetup } from '../trading/states.ts';

/** Returns a cursor over inputs, each at the time it was received. */
export function cursorOver(rows: readonly { readonly at: Millis; readonly input: Input }[]): InputCursor {
  let place = -1;
  return {
    next: () => ++place < rows.length,
    get at() { return rows[place]!.at; },
    get input() { return rows[place]!.input; },
  };
}

/** Returns quotes for buying SOL with 25 USDC at prices in dollars, `everyMs` apart. */
export function pricePath(prices: readonly number[], everyMs = 5_000): Quote[] {
  return prices.map((price, n) => buyingSol(Math.round(price * 1_000), (n + 1) * everyMs));
}

export interface Backtest {
  readonly result: BacktestResult;
  readonly decisions: readonly LoggedDecision[];
  readonly state: EngineState;
}

/** Runs a backtest of one strategy with 500 USDC over quotes. */
export function backtest(
  instance: StrategyInstance, quotes: readonly Quote[], model: Partial<SimulationModel> = {},
): Backtest {
  const state = stateWith({ strategies: [strategySetup(instance.name)] });
  const decisions: LoggedDecision[] = [];
  const result = runBacktest({
    state,
    strategies: [instance],
    seed: 7,
    startAt: 0,
    cursor: cursorOver(quotes.map((input) => ({ at: input.receivedAt, input }))),
    model: { ...BASE_MODEL, ...model },
    stopwatch: () => 0,
    onDecision: (decision) => { decisions.push(decision); },
  });
  return { result, decisions, state };
}
