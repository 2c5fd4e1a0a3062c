import type { Millis } from '../core/time.ts';
import type { StopStrategy } from '../trading/engine-command.ts';
import type { Input } from '../trading/step.ts';
import type { CallNumber } from './host/apart-run.ts';

type Jump = Extract<Input, { readonly name: 'leap-time' }>;

/** A command that is not of the market or of trading: it moves the engine's own parts. */
export type EngineOrder = Extract<Input, { readonly name: 'stop-strategy' | 'start-strategy' | 'reload-strategy' }>;

/** Returns whether an input moves the engine's own parts. */
export function isEngineOrder(input: Input): input is EngineOrder {
  return input.kind === 'command'
    && (input.name === 'stop-strategy' || input.name === 'start-strategy' || input.name === 'reload-strategy');
}

/** Returns whether an input is a jump of the clock. */
export function isJump(input: Input): input is Jump {
  return input.kind === 'command' && input.name === 'leap-time';
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
