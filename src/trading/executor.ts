import type { Observable } from 'rxjs';
import type { Intent, IntentState, Outcome } from './intent.ts';
import type { StrategyState } from './strategy-state.ts';

/** An intent that was open when the process ended, with the last state it is known to have reached. */
export interface OpenIntent {
  readonly intent: Intent;
  readonly state: IntentState;
}

/**
 * Carries intents out: live, on paper, or simulated. Both methods emit transitions in the order of the state machine
 * and complete after a terminal one; `unknown` is none, and is followed until more is known or an operator closes it.
 * What can go wrong outside is an outcome: an error is a bug. Whoever unsubscribes ends the work: what is open stays
 * open, for `reconcile`.
 */
export interface Executor {
  /** What the strategy keeps as of this intent is written down with it, where anything is. */
  execute(intent: Intent, strategyState?: StrategyState): Observable<Outcome>;
  /** Resolves what an earlier process left open, before any strategy runs. */
  reconcile(open: readonly OpenIntent[]): Observable<Outcome>;
}
