import type { TradingState } from '../command.ts';
import type { EngineState } from '../state.ts';
import type { Watch } from './memory.ts';

/** Returns the protections that are on, in the order of the configuration. */
export function firedProtections(state: EngineState): Watch[] {
  return [...state.protections.watches.values()].filter(({ fired }) => fired !== undefined);
}

/** Returns what may be traded: by the commands and by the protections together, of everything or of one strategy. */
export function effectiveTrading(state: EngineState, strategy?: string): TradingState {
  const own = strategy === undefined ? 'active' : state.strategyTrading.get(strategy) ?? 'active';
  const actions = firedProtections(state)
    .filter(({ rule: { protection: { scope } }, subject }) =>
      scope === 'global' || (scope === 'strategy' && subject === strategy))
    .map(({ rule: { protection: { action } } }) => action);
  const isLetOut = strategy !== undefined && isOrderedOut(state, strategy);
  if (state.trading === 'halted' || own === 'halted' || (actions.includes('halt') && !isLetOut)) return 'halted';
  const isReducing = state.trading === 'reduce-only' || own === 'reduce-only'
    || actions.some((action) => action !== 'deny');
  return isReducing || (strategy !== undefined && state.flattening.has(strategy)) ? 'reduce-only' : 'active';
}

/**
 * Returns whether an operator has ordered what a strategy holds to be sold: he knows of the protections, and none keeps
 * him from it.
 */
export function isOrderedOut(state: EngineState, strategy: string): boolean {
  return state.flattenOrders.has(strategy);
}
