import { symbolOf } from '../../market/market-text.ts';
import type { TokenTable } from '../../market/token.ts';
import type { CommandSource, TradingState } from '../../trading/engine-command.ts';
import type { ProtectionAction } from '../../trading/limits.ts';
import type { AlertProposal } from '../../trading/proposal.ts';
import type { ProtectionChange } from '../../trading/protections/memory.ts';
import { kindText, releaseText } from '../../trading/protections/protection-text.ts';
import type { EngineState } from '../../trading/engine-state.ts';
import type { TradingChange } from '../control/trading-view.ts';

const ACTIONS: Readonly<Record<ProtectionAction, string>> = {
  deny: 'entries are refused', 'reduce-only': 'only exits are allowed', halt: 'nothing is traded',
  flatten: 'what is held is sold, and entries are refused',
};

/** Returns for people what a protection does after it was triggered or cleared. */
export function describeProtectionChange(tokens: TokenTable, {
  change, protection: { trigger: { kind }, scope, action, release }, subject, reason,
}: ProtectionChange): string {
  const whom = scope === 'global' ? 'everything' : scope === 'token' ? symbolOf(tokens, subject) : subject;
  if (change === 'released') return `${kindText(kind)} is cleared for ${whom}: ${reason}`;
  return `${kindText(kind)} is triggered for ${whom}, ${ACTIONS[action]} (${reason}) ${releaseText(release)}`;
}

/** Returns whether a change raises an alert. A pause between two swaps does not. */
export function raisesAlert({ change, protection: { action } }: ProtectionChange): boolean {
  return change === 'fired' && action !== 'deny';
}

/** Returns the alert for a triggered protection. */
export function protectionAlert(tokens: TokenTable, change: ProtectionChange): AlertProposal {
  const { protection: { action }, code, subject } = change;
  return {
    kind: 'alert',
    level: action === 'halt' || action === 'flatten' ? 'critical' : 'warning',
    message: describeProtectionChange(tokens, change),
    data: { code, action, subject },
  };
}

const STATES: Readonly<Record<TradingChange['state'], string>> = {
  active: 'may trade again',
  'reduce-only': 'makes no more entries, exits go on',
  halted: 'is halted: no entry, no exit',
  flattening: 'sells its holdings for the token of its budget, and makes no entries until it is resumed',
};
const SOURCES: Readonly<Record<CommandSource, string>> = {
  operator: 'the operator', 'stop-file': 'the file STOP', config: 'the configuration', signal: 'a signal',
  'safe-mode': 'the start after repeated crashes', 'disk-guard': 'the disk guard',
};

/** Returns the source of a change of what may be traded, for people. */
export function describeSource(source: CommandSource): string {
  return SOURCES[source];
}

/** Returns a change of what may be traded, for people. */
export function describeTradingChange({ strategy, state, by, reason }: TradingChange): string {
  const who = strategy ?? (state === 'flattening' ? 'every strategy'
    : state === 'active' ? 'everything except strategies stopped by name' : 'everything');
  return `${who} ${STATES[state]}; source: ${describeSource(by)}${reason === '' ? '' : ` (${reason})`}`;
}

/** Returns for people what the end of a run means for the next one, unless trading is active. */
export function endOfTrading(trading: TradingState): string {
  const state = trading === 'halted' ? 'halted' : 'reduced to exits';
  return `${state}, in the next run too: "gannet resume" during that run ends it`;
}

/** Returns the restrictions of trading that an earlier run left, for people. */
export function restoredRestrictions(
  { trading, tradingBy, strategyTrading, flattening }: EngineState,
): { readonly state: string; readonly message: string }[] {
  const by = tradingBy === 'safe-mode' ? 'safe mode in an earlier run' : undefined;
  return [
    ...(trading === 'active' ? [] : [restriction(undefined, trading, by)]),
    ...[...strategyTrading].map(([name, state]) => restriction(name, state)),
    ...[...flattening].map((name) => restriction(name, 'flattening')),
  ];
}

/** A restriction of one strategy ends only by its name. A flattening of one ends with that of all, too. */
function restriction(
  strategy: string | undefined, state: TradingChange['state'], by = 'an earlier run',
): { readonly state: string; readonly message: string } {
  const command = strategy === undefined || state === 'flattening' ? 'gannet resume'
    : `gannet resume --strategy ${strategy}`;
  return {
    state, message: `${strategy ?? 'everything'} ${STATES[state]}; ${by} left it so, "${command}" ends it`,
  };
}
