import { isGannetError } from '../core/errors.ts';
import type { Intent, Outcome } from '../trading/intent.ts';
import type { Progress } from './journey.ts';

/**
 * Returns the end of an intent that the journal did not take; nothing of it was done. Rethrows what is no fault of the
 * disk.
 */
export function unwritten(intent: Intent, error: unknown): Outcome {
  return { kind: 'outcome', intentId: intent.id, attempt: 1, ...unwrittenProgress(error) };
}

/**
 * Returns the end of an attempt that the journal did not take; nothing of it was sent. Rethrows what is no fault of the
 * disk.
 */
export function unwrittenProgress(error: unknown): Progress & { readonly state: 'abandoned' } {
  if (!isGannetError(error) || error.code !== 'JOURNAL_FAILED') throw error;
  return { state: 'abandoned', code: 'JOURNAL_FAILED', reason: error.message.slice(0, 400) };
}
