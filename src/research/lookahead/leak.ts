import type { Millis } from '../../core/time.ts';
import type { Decision } from '../../trading/step.ts';
import type { Difference } from './difference.ts';
import { firstDifference } from './difference.ts';
import type { MachineFactor, PassAnswer } from './pass.ts';
import type { PerturbationKind } from './perturbation.ts';

/**
 * The cause of a decision that should not have changed. A perturbation kind: the future itself. `repetition`: an
 * earlier run in the same process. A machine factor: the clock, randomness, locale, environment, disk or network.
 * `neighbours`: another strategy. `shared-state`: no decision changed, but the strategy changed something that all code
 * shares. `backtest`: the command that runs it. `warm-up`: a longer history.
 */
type LeakCause = PerturbationKind | MachineFactor
  | 'repetition' | 'neighbours' | 'shared-state' | 'backtest' | 'warm-up' | 'elsewhere';

/** The first decision of a strategy that differs, and the cause. */
export interface Leak {
  readonly cause: LeakCause;
  /** The first perturbed instant; null when the future was as recorded. */
  readonly from: Millis | null;
  /** `same`: after a run over the recorded future in one process. `fresh`: in a process that never saw it. */
  readonly process: 'same' | 'fresh';
  /** Null when no decision differs. */
  readonly seq: number | null;
  readonly at: Millis | null;
  readonly expected: Decision | null;
  readonly found: Decision | null;
  /** For people. */
  readonly detail: string;
}

/** Returns the leak that a difference shows. */
export function leakOf(
  difference: Difference | undefined, about: Pick<Leak, 'cause' | 'from' | 'process' | 'detail'>,
): Leak {
  const { seq = null, at = null, expected = null, found = null } = difference ?? {};
  return { ...about, seq, at, expected, found };
}

/** How two passes differ. It has no difference in decisions when one of them failed. */
export interface PassDifference {
  readonly difference: Difference | undefined;
  /** For people; empty for most differences. */
  readonly fault: string;
}

/** Returns how the decisions of two passes before an instant differ; undefined when they are the same. */
export function comparePasses(reference: PassAnswer, answer: PassAnswer, until?: Millis): PassDifference | undefined {
  if (answer.fault !== undefined && answer.fault !== reference.fault) {
    return { difference: undefined, fault: ` (${answer.fault})` };
  }
  const difference = firstDifference(reference.decisions, answer.decisions, { until });
  return difference === undefined ? undefined : { difference, fault: '' };
}
