import type { MessagePort } from 'node:worker_threads';
import type { Trial, TrialResult } from '../../backtest/trial.ts';
import type { SharedRows } from '../../recording/shared/shared-rows.ts';

/** A few trials for a thread. */
export interface TrialTask {
  /** The recording; null where the thread reads it from the disk. */
  readonly rows: Pick<SharedRows, 'layout' | 'memory'> | null;
  /** The last number that the threads read of one that may still grow; null where it is whole. */
  readonly lastSeq: number | null;
  readonly trials: readonly Trial[];
  /** Takes what a thread says. Closed when all of them are done. */
  readonly port: MessagePort;
}

/** What a thread says of a task. */
export type TrialMessage =
  /** It has loaded the strategies, and begins. */
  | { readonly kind: 'ready' }
  /** In the order of the trials. */
  | { readonly kind: 'result'; readonly result: TrialResult };
