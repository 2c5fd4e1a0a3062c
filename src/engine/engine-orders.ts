import { parseRaw } from '../core/amount.ts';
import type { Millis } from '../core/time.ts';
import type { OrderSwap, ReloadStrategy, StopStrategy } from '../trading/engine-command.ts';
import type { Input, ProposalInput } from '../trading/step.ts';
import type { CallNumber } from './host/apart-run.ts';
import type { StrategyInstance } from './strategy-host.ts';
import type { RecordedRows } from './warm-up.ts';

type Jump = Extract<Input, { readonly name: 'leap-time' }>;

/** A command that is not of the market or of trading: it moves the engine's own parts. */
export type EngineOrder = Extract<Input, { readonly name: 'stop-strategy' | 'start-strategy' | 'reload-strategy' }>;

/** Another version of a strategy. */
export interface StrategyVersion {
  readonly instance: StrategyInstance;
  /** The recorded events up to the reload, where it has a warm-up. */
  readonly rows?: RecordedRows | undefined;
}

/** Returns the version that a reload with the stamp `seq` puts into its strategy's place. */
export type VersionOf = (order: ReloadStrategy, seq: number) => StrategyVersion;

/** Returns whether an input moves the engine's own parts. */
export function isEngineOrder(input: Input): input is EngineOrder {
  return input.kind === 'command'
    && (input.name === 'stop-strategy' || input.name === 'start-strategy' || input.name === 'reload-strategy');
}

/** Returns whether an input is a jump of the clock. */
export function isJump(input: Input): input is Jump {
  return input.kind === 'command' && input.name === 'leap-time';
}

/** Returns whether an input is a person's swap. */
export function isManualOrder(input: Input): input is OrderSwap {
  return input.kind === 'command' && input.name === 'order-swap';
}

/** Returns the proposal of a person's swap. */
export function manualProposal(
  { strategy, inputMint, outputMint, amount, limit, slippageBps, route, reason, key }: OrderSwap,
): ProposalInput {
  return {
    kind: 'proposal', strategy, byHand: true,
    proposal: {
      kind: 'swap', inputMint, outputMint, amount: amount === 'all' ? amount : parseRaw(amount), reason, key,
      ...(limit === undefined ? {} : { limit: parseRaw(limit) }),
      ...(slippageBps === undefined ? {} : { slippageBps }),
      ...(route === undefined ? {} : { route }),
    },
  };
}

/**
 * Returns the time up to which timers fire at their own instants before an input stamped `at`. A clock jump fires those
 * after `from` at its end.
 */
export function timersDueBefore(input: Input, at: Millis): Millis {
  return isJump(input) ? input.from : at;
}

/** Returns whether a call of a strategy is one that ended it. */
export function endingsOf(stops: readonly StopStrategy[] = []): (strategy: string, occasion: CallNumber) => boolean {
  const ids = new Set(stops.map((stop) => callId(stop.strategy, stop)));
  return (strategy, occasion) => ids.size > 0 && ids.has(callId(strategy, occasion));
}

function callId(strategy: string, { start, call }: CallNumber): string {
  return `${strategy} ${start} ${call}`;
}
