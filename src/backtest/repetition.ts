import type { DoneTrial, TrialResult } from './trial.ts';

/** What came of running a trial once more, where nothing that could have left something behind was run before. */
export interface Repetition {
  /** Whether every decision was the same. */
  readonly isSame: boolean;
  /** Why it came to nothing; undefined where it came to something. */
  readonly fault: string | undefined;
}

/** Returns how a trial's repetition compares with it. */
export function repetitionOf({ decisionHash }: Pick<DoneTrial, 'decisionHash'>, again: TrialResult): Repetition {
  return again.kind === 'done' ? { isSame: again.decisionHash === decisionHash, fault: undefined } : { isSame: false, fault: again.reason };
}

/** Returns the warning of what did not come to the same again; `what` was run. */
export function notRepeatable(what: string, { fault }: Repetition): string {
  if (fault !== undefined) return `NOT repeatable: where nothing else was run before, ${what} came to nothing: ${fault}`;
  return `NOT repeatable: where nothing else was run before, ${what} came to other decisions. A strategy keeps something from one run to the next, so none of these figures can be relied on; "gannet lookahead" says more`;
}
