import type { Millis } from '../../core/time.ts';
import type { Command, TradingState } from '../../trading/engine-command.ts';
import type { EngineState } from '../../trading/engine-state.ts';

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
  readonly code: 'STOP_FILE' | 'STRATEGY_UNKNOWN' | 'TRADING_HALTED';
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

/** A halted strategy cannot sell: flattening allows its exits, but no entries. */
function liftHalts(state: EngineState, base: Omit<Extract<Command, { name: 'flatten' }>, 'name'>): Command[] {
  const halted = [...state.strategyTrading]
    .filter(([name, own]) => own === 'halted' && (base.strategy === undefined || base.strategy === name))
    .map(([name]) => name);
  const scopes = base.strategy === undefined && state.trading === 'halted' ? [undefined, ...halted] : halted;
  return scopes.map((strategy) => ({ ...base, name: 'set-trading-state', state: 'reduce-only', strategy }));
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
