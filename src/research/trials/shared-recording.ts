import { totalmem } from 'node:os';
import type { RecordedChecks } from '../../backtest/recorded-checks.ts';
import { backtestKinds, readRecordedChecks } from '../../backtest/recorded-checks.ts';
import { runToEnd } from '../../core/chunked-work.ts';
import type { Recording, RecordingPart } from '../../recording/reader.ts';
import { openRecording } from '../../recording/reader.ts';
import type { SharedRows } from '../../recording/shared/shared-source.ts';
import { shareRows } from '../../recording/shared/shared-rows.ts';
import { runInterruptibly } from '../../recording/interrupt.ts';

/** The rest of the memory is for the threads and for other programs. */
const MOST_OF_MEMORY = 0.25;

/** The recording in shared memory. */
interface Sharing {
  /** Undefined when it is larger than `mostBytes`: each thread then reads it from disk for every trial. */
  readonly rows: SharedRows | undefined;
  readonly mostBytes: number;
}

/**
 * Opens a part of a recording, with the checks of tokens since the recording's beginning: a token that was checked
 * before the part stays checked. Throws as `openRecording` does.
 */
export function openPart(
  directory: string, part: RecordingPart,
): { readonly recording: Recording; readonly checks: RecordedChecks } {
  const whole = openRecording(directory);
  const until = part.lastSeq === null ? whole : whole.cutAt(part.lastSeq);
  return {
    recording: part.firstSeq === 0 ? until : runToEnd(until.partInChunks(part)), checks: readRecordedChecks(until),
  };
}

/** Returns the maximum size of a recording in shared memory: a quarter of the machine's memory. */
export function mostSharedBytes(): number {
  return Math.floor(totalmem() * MOST_OF_MEMORY);
}

/**
 * Reads the rows that backtests use into shared memory, once for all threads, and checks for an interrupt in between.
 * Throws RECORDING_CORRUPT and INTERRUPTED.
 */
export async function shareRecording(recording: Recording, { checks, interrupt, mostBytes = mostSharedBytes() }: {
  readonly checks: RecordedChecks;
  readonly interrupt?: AbortSignal | undefined;
  readonly mostBytes?: number | undefined;
}): Promise<Sharing> {
  const reading = shareRows(recording, { kinds: backtestKinds(checks), mostBytes });
  return { rows: await runInterruptibly(reading, interrupt), mostBytes };
}
