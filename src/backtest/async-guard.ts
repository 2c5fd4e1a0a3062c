import { animationFrameScheduler, asapScheduler, asyncScheduler } from 'rxjs';
import { GannetError } from '../core/errors.ts';
import type { Decision } from '../trading/step.ts';

// It is part of a decision, and so of the decision hash: it stays as it is.
const WAITS = 'it waits by the machine’s clock: take the time operators from "gannet", bound to ctx';

/**
 * Runs work of an engine while waiting by the machine's clock throws. RxJS operators without a scheduler wait that way.
 */
export function withoutMachineClock<T>(work: () => T): T {
  const schedulers = [asyncScheduler, asapScheduler, animationFrameScheduler];
  for (const scheduler of schedulers) {
    scheduler.schedule = () => { throw new GannetError('STRATEGY_ASYNC', WAITS); };
  }
  try {
    return work();
  } finally {
    // Deleting the own property makes the method of the class visible again.
    for (const scheduler of schedulers) Reflect.deleteProperty(scheduler, 'schedule');
  }
}

/** Returns whether a decision says that its strategy waited by the machine's clock. */
export function waitedByMachineClock({ strategy, proposal }: Pick<Decision, 'proposal' | 'strategy'>): boolean {
  return proposal.kind === 'alert' && proposal.message === `strategy ${strategy} stopped: ${WAITS}`;
}

/**
 * Throws STRATEGY_ASYNC where strategies decide outside the engine's time. The number of rows that a backtest
 * processes before such a decision depends on the machine, so its result says nothing about the strategy.
 */
export function refuseAsyncDecisions(
  { late, waiting }: { readonly late: readonly string[]; readonly waiting: readonly string[] },
): void {
  const faults = [
    ...(waiting.length === 0 ? [] : [`${waiting.join(', ')} waits by the machine’s clock`]),
    ...(late.length === 0 ? [] : [`${late.join(', ')} decided in a promise or a timer`]),
  ];
  if (faults.length === 0) return;
  throw new GannetError('STRATEGY_ASYNC', `${faults.join('; ')}, outside the engine’s time: such `
    + 'decisions cannot be repeated. Use the time operators of "gannet" instead of async, promises and timers');
}
