import { assert } from '../core/assert.ts';
import type { Millis } from '../core/time.ts';
import type { Prepare } from './transactor.ts';

/** One run of the daemon. */
export interface RunRecord {
  readonly runId: string;
  readonly startedAt: Millis;
  /** Undefined while it runs, and for good where it was killed. */
  readonly endedAt?: Millis | undefined;
}

/** Runs, as rows; each function is a part of somebody's transaction. */
export interface Runs {
  started(runId: string, at: Millis): void;
  ended(runId: string, at: Millis): void;
  /** Newest first. */
  list(options: { readonly limit: number }): RunRecord[];
}

/** Returns the part of the journal that holds runs. */
export function createRuns(prepare: Prepare): Runs {
  return {
    started: (runId, at) => { prepare('INSERT INTO runs (run_id, started_at) VALUES (?, ?)').run(runId, at); },
    ended: (runId, at) => {
      const { changes } = prepare('UPDATE runs SET ended_at = ? WHERE run_id = ?').run(at, runId);
      assert(changes === 1, `run ${runId} ended without having started`);
    },
    list: ({ limit }) =>
      prepare('SELECT run_id, started_at, ended_at FROM runs ORDER BY rowid DESC LIMIT ?').all(limit).map((row) => ({
        runId: String(row['run_id']),
        startedAt: Number(row['started_at']),
        ...(row['ended_at'] === null ? {} : { endedAt: Number(row['ended_at']) }),
      })),
  };
}
