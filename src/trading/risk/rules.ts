import type { Millis } from '../../core/time.ts';
import type { Denial } from '../limits.ts';
import type { Intent } from '../intent.ts';
import type { EngineState } from '../engine-state.ts';
import { BUDGET_RULES } from './budget-rules.ts';
import { COUNT_RULES } from './count-rules.ts';
import { EXPOSURE_RULES } from './exposure-rules.ts';
import { inputsFresh, keyUnused, pairPriceFresh, sensible, slippage, tokenSafety } from './proposal-rules.ts';
import type { Rule, SwapCandidate } from './swap-candidate.ts';
import { retryCandidateOf } from './swap-candidate.ts';
import { equityKnown, pauses, protections, serviceAccess, tradingState } from './trading-state-rules.ts';

/** The rules in the order of their application: the first refusal is the answer. */
const RULES: readonly Rule[] = [
  tradingState, pauses, serviceAccess, sensible, keyUnused, protections, inputsFresh, ...COUNT_RULES, slippage,
  ...BUDGET_RULES, tokenSafety, pairPriceFresh, ...EXPOSURE_RULES, equityKnown,
];

/** Returns the first refusal of the limits, or undefined where the swap may go ahead. */
export function firstDenial(state: EngineState, swap: SwapCandidate): Denial | undefined {
  for (const rule of RULES) {
    const denial = rule(state, swap);
    if (denial !== undefined) return denial;
  }
  return undefined;
}

/**
 * Returns why a further attempt of an approved intent may not be made, undefined where it may. All rules are applied
 * again. The reservation of the intent, its place among the open intents, its key and its share of the swap rate are in
 * the state already, and are not counted twice.
 */
export function retryDenial(state: EngineState, intent: Intent, at: Millis): Denial | undefined {
  const strategy = state.strategies.get(intent.strategy);
  if (strategy !== undefined) return firstDenial(state, retryCandidateOf(strategy, intent, at));
  // The strategy's limits are gone with its configuration; an exit is always allowed.
  if (intent.purpose === 'entry')
    return { code: 'STRATEGY_UNKNOWN', reason: `${intent.strategy} is no longer configured` };
  const unknown = { name: intent.strategy, limits: {}, inputs: [], watches: [], intentCount: 0 };
  return firstDenial(state, retryCandidateOf(unknown, intent, at));
}
