import type { Millis } from '../../core/time.ts';
import type { Decision } from '../../trading/step.ts';
import type { Difference } from './difference.ts';
import type { World } from './pass.ts';
import type { PoisonKind } from './poison.ts';

/**
 * What moved a decision that it should not have. The kinds of poison: the future itself. `repetition`: the same again in
 * the process of an earlier run. `clock`, `chance`, `environment`, `disk`: that of the machine. `neighbours`: another
 * strategy's doings. `shared-state`: no decision, but what all code shares was changed. `warm-up`: a longer history.
 */
export type LeakCause = PoisonKind | World | 'repetition' | 'neighbours' | 'shared-state' | 'warm-up' | 'elsewhere';

/** The first thing that a strategy did otherwise. */
export interface Leak {
  readonly poison: LeakCause;
  /** From when on the future was spoiled; null where it was as recorded. */
  readonly from: Millis | null;
  /** `same`: after a run over the true future in one process. `fresh`: in one that never saw it. */
  readonly process: 'same' | 'fresh';
  /** Null where no decision differs. */
  readonly seq: number | null;
  readonly at: Millis | null;
  readonly expected: Decision | null;
  readonly found: Decision | null;
  /** For people. */
  readonly detail: string;
}

/** Returns the leak that a difference shows. */
export function leakOf(difference: Difference | undefined, about: Pick<Leak, 'poison' | 'from' | 'process' | 'detail'>): Leak {
  const { seq = null, at = null, expected = null, found = null } = difference ?? {};
  return { ...about, seq, at, expected, found };
}
