import type { Observable } from 'rxjs';
import type { Intent, IntentState, Outcome } from './intent.ts';
import type { StrategyState } from './strategy-state.ts';

/** An intent that was open when the process ended, with its last known state. */
export interface OpenIntent {
  readonly intent: Intent;
  readonly state: IntentState;
}

/**
 * Executes intents: live, on paper, or simulated. Both methods emit transitions in the order of the state machine and
 * complete after a terminal one. `unknown` is not terminal: the executor follows it until more is known or an operator
 * closes it. External faults are outcomes; an error is a bug. Unsubscribing ends the work; open intents stay open for
 * `reconcile`.
 */
export interface Executor {
  /** Executes an intent; the journal saves `strategyState` together with it. */
  execute(intent: Intent, strategyState?: StrategyState): Observable<Outcome>;
  /** Resolves what an earlier process left open, before any strategy runs. */
  reconcile(open: readonly OpenIntent[]): Observable<Outcome>;
}
