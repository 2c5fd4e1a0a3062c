import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { GannetError, isGannetError } from '../../core/errors.ts';
import { parseJson, stringifyJson } from '../../core/json.ts';
import { replaceFile } from '../../recording/files/durable-write.ts';
import { PRUNED_FILE } from '../../recording/pruning.ts';

/** What the retention deleted of a run, in the run's folder. */
interface PrunedRun {
  /** Whether decisions and copies of code are gone, all of them or the oldest. */
  readonly decisions: boolean;
  /** Whether the whole recording is gone; a part of one says so itself. */
  readonly recording: boolean;
}

/** Returns what the retention deleted of a run. */
export function prunedRun(runDir: string): PrunedRun {
  try {
    const json = parseJson(readFileSync(join(runDir, PRUNED_FILE), 'utf8')) as unknown as Partial<PrunedRun>;
    return { decisions: json.decisions === true, recording: json.recording === true };
  } catch (cause) {
    if (isGannetError(cause) || (cause instanceof Error && 'code' in cause))
      return { decisions: false, recording: false };
    throw cause;
  }
}

/** Notes what is deleted of a run, before it is. Throws the fault of the disk. */
export function notePruned(runDir: string, what: Partial<PrunedRun>): void {
  replaceFile(runDir, PRUNED_FILE, `${stringifyJson({ ...prunedRun(runDir), ...what })}\n`);
}

/** Throws RECORDING_PRUNED where the decisions or the recording of a run were deleted. */
export function refusePrunedRun(runDir: string): void {
  const { decisions, recording } = prunedRun(runDir);
  if (!decisions && !recording) return;
  const what = recording ? 'recording of the run was' : 'decisions of the run were';
  throw new GannetError('RECORDING_PRUNED', `${runDir}: the ${what} deleted by the retention, so no replay is `
    + 'possible. To keep runs longer, raise "retention.runs" and "retention.recordings" in the configuration, or pin '
    + 'one with "gannet recording keep"', { details: { runDir } });
}
