import { assertNever } from '../core/assert.ts';
import type { Millis } from '../core/time.ts';
import type { Command, CommandSource, Flatten, SetTradingState, TradingState } from './command.ts';
import { advanceTime, lookAtProtections, releaseByOperator } from './protections/look.ts';
import { recordAdjustment } from './protections/record.ts';
import type { EngineState } from './state.ts';

/** Does what a command says, and lets protections see it. */
export function applyCommand(state: EngineState, at: Millis, command: Command): void {
  advanceTime(state.protections, at);
  switch (command.name) {
    case 'set-trading-state':
      if (isOperator(command)) state.protections.presenceAt = state.protections.now;
      setTrading(state, command);
      break;
    case 'flatten':
      if (isOperator(command)) state.protections.presenceAt = state.protections.now;
      flatten(state, command);
      break;
    case 'report-presence':
      state.protections.presenceAt = state.protections.now;
      break;
    case 'adjust-wallet':
      state.portfolio.adjustWallet(command.mint, BigInt(command.change));
      recordAdjustment(state.protections, command);
      break;
    case 'judge-token':
      state.tokenFindings.set(command.mint, { at, findings: command.findings });
      return;
    case 'set-service-access':
      state.serviceAccess = command.access;
      return;
    case 'leap-time':
      // Only the clock leaps.
      return;
    default:
      assertNever(command, 'command');
  }
  lookAtProtections(state, at);
}

function isOperator({ by }: SetTradingState | Flatten): boolean {
  return by === undefined || by === 'operator';
}

function setTrading(state: EngineState, command: SetTradingState): void {
  const { strategy, state: trading, by = 'operator', reason } = command;
  if (strategy === undefined) {
    if (!mayChange(state, trading, by)) return;
    state.trading = trading;
    state.tradingBy = by;
  } else if (by !== 'operator' && STRICTNESS[trading] < STRICTNESS[state.strategyTrading.get(strategy) ?? 'active']) {
    return;
  } else if (trading === 'active') {
    state.strategyTrading.delete(strategy);
  } else {
    state.strategyTrading.set(strategy, trading);
  }
  if (trading === 'active' && by === 'operator') resume(state, strategy, reason);
}

/** Anybody may make it stricter; what somebody else made strict, only an operator loosens. */
function mayChange(state: EngineState, trading: TradingState, by: CommandSource): boolean {
  return by === 'operator' || by === state.tradingBy || STRICTNESS[trading] > STRICTNESS[state.trading];
}

const STRICTNESS: Readonly<Record<TradingState, number>> = { active: 0, 'reduce-only': 1, halted: 2 };

/** An operator's word ends what waits for one: protections, and the sale of what is held. */
function resume(state: EngineState, strategy: string | undefined, reason: string): void {
  for (const name of strategy === undefined ? [...state.flattening] : [strategy]) {
    state.flattening.delete(name);
    state.flattenOrders.delete(name);
  }
  releaseByOperator(state, strategy, reason);
}

function flatten(state: EngineState, { strategy }: Flatten): void {
  for (const name of strategy === undefined ? state.strategies.keys() : [strategy]) {
    state.flattening.add(name);
    state.flattenOrders.add(name);
    // It sells everything, so that no exit in parts is left to go on.
    state.exits.end(name);
    // Nor does a swap under way begin one when it turns out to be too large.
    for (const { intent } of state.intents.values()) {
      if (intent.strategy === name) state.exitProposals.delete(intent.id);
    }
  }
}
