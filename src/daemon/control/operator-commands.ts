import type { Millis } from '../../core/time.ts';
import type { Command, SetTradingState, TradingState } from '../../trading/engine-command.ts';
import type { EngineState } from '../../trading/engine-state.ts';
import type { Input } from '../../trading/step.ts';
import { effectiveTrading, firedProtections } from '../../trading/risk/trading-state-rules.ts';

/** The actions of an operator that change what may be traded. */
export const OPERATOR_ACTIONS = ['halt', 'resume', 'reduce-only', 'flatten'] as const;
export type OperatorAction = (typeof OPERATOR_ACTIONS)[number];

export interface OperatorRequest {
  readonly action: OperatorAction;
  /** Absent for all strategies. */
  readonly strategy?: string | undefined;
  /** For people. */
  readonly reason?: string | undefined;
}

/** Why a request is refused, by stable code. */
export interface Refusal {
  readonly code: 'AUDIT_FAILED' | 'STOP_FILE' | 'STRATEGY_UNKNOWN' | 'TRADING_HALTED';
  readonly message: string;
}

const STATE_OF: Readonly<Record<Exclude<OperatorAction, 'flatten'>, TradingState>> =
  { halt: 'halted', resume: 'active', 'reduce-only': 'reduce-only' };

/** Returns the commands for a request, in order, or why it is refused. The file STOP allows nothing but a halt. */
export function operatorCommands(state: EngineState, request: OperatorRequest, stopFile: {
  readonly path: string; readonly content: string | undefined;
}): readonly Command[] | Refusal {
  const { action, strategy } = request;
  if (strategy !== undefined && !state.strategies.has(strategy)) {
    return {
      code: 'STRATEGY_UNKNOWN',
      message: `there is no strategy "${strategy}"; this run has ${[...state.strategies.keys()].join(', ') || 'none'}`,
    };
  }
  if (action !== 'halt' && stopFile.content !== undefined) {
    const says = stopFile.content === '' ? '' : ` (it says: ${stopFile.content})`;
    return {
      code: 'STOP_FILE', message: `${stopFile.path} halts everything as long as it is there${says}; remove it first`,
    };
  }
  const base = { kind: 'command', strategy, reason: request.reason ?? '', by: 'operator' } as const;
  if (action !== 'flatten') return [{ ...base, name: 'set-trading-state', state: STATE_OF[action] }];
  if (strategy !== undefined && state.trading === 'halted') {
    return {
      code: 'TRADING_HALTED',
      message: `trading is halted, so ${strategy} could sell nothing; "gannet reduce-only" allows exits, `
        + '"gannet flatten" sells everything',
    };
  }
  return [...liftHalts(state, base), { ...base, name: 'flatten' }];
}

/** Returns whether an input is an operator's, and lets a strategy, or all, trade again. */
export function isResume(input: Input): input is SetTradingState {
  return input.kind === 'command' && input.name === 'set-trading-state' && input.state === 'active'
    && input.by === 'operator';
}

/** A halted strategy cannot sell: flattening allows its exits, but no entries. */
function liftHalts(state: EngineState, base: Omit<Extract<Command, { name: 'flatten' }>, 'name'>): Command[] {
  const halted = [...state.strategyTrading]
    .filter(([name, own]) => own === 'halted' && (base.strategy === undefined || base.strategy === name))
    .map(([name]) => name);
  const scopes = base.strategy === undefined && state.trading === 'halted' ? [undefined, ...halted] : halted;
  return scopes.map((strategy) => ({ ...base, name: 'set-trading-state', state: 'reduce-only', strategy }));
}

const STRICTNESS: Readonly<Record<TradingState, number>> = { active: 0, 'reduce-only': 1, halted: 2 };

/**
 * Returns what commands of an operator allow that is not allowed now, for people; undefined where they only restrict.
 * A flatten allows sales that a halt or a protection refuses.
 */
export function wideningOf(state: EngineState, commands: readonly Command[]): string | undefined {
  const widened = commands.flatMap((command) => {
    if (command.name === 'flatten') {
      const halted = [...(command.strategy === undefined ? state.strategies.keys() : [command.strategy])]
        .filter((name) => effectiveTrading(state, name) === 'halted');
      return halted.length === 0 ? [] : [`${halted.join(', ')} may sell although trading is halted`];
    }
    if (command.name !== 'set-trading-state') return [];
    const { strategy, state: wanted } = command;
    const whom = strategy ?? 'every strategy';
    const own = strategy === undefined ? state.trading : state.strategyTrading.get(strategy) ?? 'active';
    if (wanted === 'active') return isRestricted(state, strategy) ? [`${whom} may trade again`] : [];
    return STRICTNESS[wanted] < STRICTNESS[own] ? [`${whom} may sell again: exits only, in place of a halt`] : [];
  });
  return widened.length === 0 ? undefined : [...new Set(widened)].join('; ');
}

/** Returns whether a resume of an operator ends anything: a command, a flatten, or a protection that waits for it. */
function isRestricted(state: EngineState, strategy: string | undefined): boolean {
  const isWaiting = firedProtections(state).some(({ rule: { protection: { scope, release } }, subject }) =>
    release.kind === 'operator' && (strategy === undefined || (scope === 'strategy' && subject === strategy)));
  if (isWaiting) return true;
  return strategy === undefined ? state.trading !== 'active' || state.flattening.size > 0
    : state.strategyTrading.has(strategy) || state.flattening.has(strategy);
}

/** Returns what the presence of an operator allows that a dead man's switch refuses now; undefined for nothing. */
export function wideningOfPresence(state: EngineState): string | undefined {
  const ends = firedProtections(state).some(({ rule: { protection: { trigger, release } } }) =>
    trigger.kind === 'dead-man' && release.kind === 'cleared');
  return ends ? 'the dead man’s switch no longer restricts trading' : undefined;
}

/** Returns the dead man's switch that stops trading first, with the time left; undefined without one. */
export function deadManSwitch(
  { protections }: EngineState, now: Millis,
): { readonly afterMs: Millis; readonly leftMs: Millis } | undefined {
  const { presenceAt = now } = protections;
  return [...protections.watches.values()].flatMap(({ rule: { protection: { trigger } }, reset }) => {
    if (trigger.kind !== 'dead-man') return [];
    const absentMs = Math.max(0, now - Math.max(presenceAt, reset?.at ?? -Infinity));
    return [{ afterMs: trigger.afterMs, leftMs: Math.max(0, trigger.afterMs - absentMs) }];
  }).toSorted((a, b) => a.leftMs - b.leftMs)[0];
}
