import type { Millis } from '../../core/time.ts';
import type { Intent } from '../intent.ts';
import type { EngineState } from '../state.ts';
import { balance, budget } from './budgets.ts';
import { exitUnderWay, intentsOpen, swapRate } from './counts.ts';
import type { Denial } from './denial.ts';
import { positionSize, strategyExposure, totalExposure, tradeSize } from './exposure.ts';
import { inputsFresh, pairPriceFresh } from './freshness.ts';
import { equityKnown, protections } from './protections.ts';
import { keyUnused, sensible, slippage } from './sense.ts';
import { serviceAccess, tradingState } from './states.ts';
import type { Rule, SwapWish } from './swap-wish.ts';
import { retryWishOf } from './swap-wish.ts';
import { tokenSafety } from './tokens.ts';

/** The rules in the order in which they speak: the first refusal is the answer. */
const RULES: readonly Rule[] = [
  tradingState, serviceAccess, sensible, keyUnused, protections, inputsFresh, intentsOpen, exitUnderWay, swapRate,
  slippage, budget, balance,
  tokenSafety, pairPriceFresh, tradeSize, positionSize, strategyExposure, totalExposure, equityKnown,
];

/** Returns the first refusal of the limits, or undefined when the swap may go ahead. */
export function firstDenial(state: EngineState, wish: SwapWish): Denial | undefined {
  for (const rule of RULES) {
    const denial = rule(state, wish);
    if (denial !== undefined) return denial;
  }
  return undefined;
}

/** Returns the first refusal of a further attempt of an intent that is open in the state. */
export function firstRetryDenial(state: EngineState, intent: Intent, at: Millis): Denial | undefined {
  const strategy = state.strategies.get(intent.strategy);
  if (strategy !== undefined) return firstDenial(state, retryWishOf(strategy, intent, at));
  // Its limits went with its configuration; out of a position one may always.
  if (intent.purpose === 'entry')
    return { code: 'STRATEGY_UNKNOWN', reason: `${intent.strategy} is no longer configured` };
  return firstDenial(state, retryWishOf({ name: intent.strategy, limits: {}, inputs: [], intentCount: 0 }, intent, at));
}
