import type { Millis } from '../core/time.ts';
import type { Intent } from './intent.ts';
import type { Denial } from './risk/denial.ts';
import { firstRetryDenial } from './risk/first-denial.ts';
import type { EngineState } from './state.ts';

/**
 * Returns why a further attempt of an approved intent may not be made, undefined where it may. Everything that may have
 * changed since the approval is looked at anew; the intent itself is counted once, as it already is in the state: its
 * reservation, its place among the open ones, its key and its share of the rate are its own.
 */
export function retryDenial(state: EngineState, intent: Intent, at: Millis): Denial | undefined {
  return firstRetryDenial(state, intent, at);
}
