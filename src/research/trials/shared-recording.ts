import { totalmem } from 'node:os';
import type { RecordedChecks } from '../../backtest/recorded-checks.ts';
import { backtestKinds } from '../../backtest/recorded-checks.ts';
import type { Recording } from '../../recording/reader.ts';
import type { SharedRows } from '../../recording/shared/shared-rows.ts';
import { shareRows } from '../../recording/shared/shared-rows.ts';
import { interruption } from '../../recording/interrupt.ts';

/** The rest of the memory is for the threads, and for whoever else is on the machine. */
const MOST_OF_MEMORY = 0.25;

/** How a recording came to the threads. */
interface Sharing {
  /** Undefined where it is larger than `mostBytes`: each thread reads it from the disk then, for every trial anew. */
  readonly rows: SharedRows | undefined;
  readonly mostBytes: number;
}

/** Returns how much of a recording is taken into shared memory at most: a quarter of what the machine has. */
function mostSharedBytes(): number {
  return Math.floor(totalmem() * MOST_OF_MEMORY);
}

/**
 * Reads what backtests look into once, for all threads, and checks up now and then whether it is still wanted. Throws
 * RECORDING_CORRUPT and INTERRUPTED.
 */
export async function shareRecording(recording: Recording, { checks, interrupt, mostBytes = mostSharedBytes() }: {
  readonly checks: RecordedChecks;
  readonly interrupt?: AbortSignal | undefined;
  readonly mostBytes?: number | undefined;
}): Promise<Sharing> {
  const reading = shareRows(recording, { kinds: backtestKinds(checks), mostBytes });
  for (let step = reading.next(); ; step = reading.next()) {
    if (step.done === true) return { rows: step.value, mostBytes };
    await new Promise((resolve) => { setImmediate(resolve); });
    if (interrupt?.aborted === true) throw interruption();
  }
}
