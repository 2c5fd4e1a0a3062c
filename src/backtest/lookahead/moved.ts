import type { Millis } from '../../core/time.ts';
import type { Difference } from './difference.ts';
import { firstDifference } from './difference.ts';
import type { PassAnswer } from './pass.ts';

/** How two passes differ; without a difference where one of them did not come about. */
export interface Moved {
  readonly difference: Difference | undefined;
  /** For people, mostly empty. */
  readonly fault: string;
}

/** Returns how two passes differ in what was decided before an instant, undefined where they do not. */
export function compared(reference: PassAnswer, answer: PassAnswer, until?: Millis): Moved | undefined {
  if (answer.fault !== undefined && answer.fault !== reference.fault) return { difference: undefined, fault: ` (${answer.fault})` };
  const difference = firstDifference(reference.decisions, answer.decisions, { until });
  return difference === undefined ? undefined : { difference, fault: '' };
}
