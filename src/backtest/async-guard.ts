import { animationFrameScheduler, asapScheduler, asyncScheduler } from 'rxjs';
import { GannetError } from '../core/errors.ts';
import type { Decision } from '../trading/step.ts';

const WAITS = 'it waits by the machine’s clock: take the time operators from src/strategy, bound to ctx';

/**
 * Does work of an engine in which nobody waits by the machine's clock, as operators of RxJS do that are given no other:
 * whoever tries is thrown at.
 */
export function withoutMachineClock<T>(work: () => T): T {
  const schedulers = [asyncScheduler, asapScheduler, animationFrameScheduler];
  for (const scheduler of schedulers) scheduler.schedule = () => { throw new TypeError(WAITS); };
  try {
    return work();
  } finally {
    // What is theirs by their class shows again.
    for (const scheduler of schedulers) Reflect.deleteProperty(scheduler, 'schedule');
  }
}

/** Returns whether a decision says that its strategy was thrown at. */
export function waitedByMachineClock({ strategy, proposal }: Pick<Decision, 'proposal' | 'strategy'>): boolean {
  return proposal.kind === 'alert' && proposal.message === `strategy ${strategy} stopped: ${WAITS}`;
}

/**
 * Throws STRATEGY_INVALID where there are strategies that decide outside the engine's time. In a backtest as many rows
 * as the machine manages have gone by before such a decision comes: whatever it says is not about the strategy.
 */
export function refuseAsyncDecisions(
  { late, waiting }: { readonly late: readonly string[]; readonly waiting: readonly string[] },
): void {
  const faults = [
    ...(waiting.length === 0 ? [] : [`${waiting.join(', ')} waits by the machine’s clock`]),
    ...(late.length === 0 ? [] : [`${late.join(', ')} decided in a promise or a timer`]),
  ];
  if (faults.length === 0) return;
  throw new GannetError('STRATEGY_INVALID', `${faults.join('; ')}, outside the engine’s time: no such decision can be `
    + 'repeated, so none is taken. Use the time operators of src/strategy, and no async, promises or timers');
}
