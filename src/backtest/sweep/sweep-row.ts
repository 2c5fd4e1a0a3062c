import type { Objective } from '../objectives.ts';
import type { DoneTrial, TrialParams } from '../trial.ts';
import type { GridPoint } from './grid.ts';

/** A combination that ran to its end. */
export interface SweepRow {
  readonly point: GridPoint;
  readonly params: TrialParams;
  readonly result: DoneTrial;
  /** Its objective; null where it has none. */
  readonly value: number | null;
}

/** Returns a row with its objective. */
export function sweepRow(row: Omit<SweepRow, 'value'>, { valueOf }: Objective): SweepRow {
  return { ...row, value: valueOf(row.result) };
}
