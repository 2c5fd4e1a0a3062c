import { totalmem } from 'node:os';
import type { RecordedLooks } from '../../backtest/recorded-looks.ts';
import { backtestKinds } from '../../backtest/recorded-looks.ts';
import type { Recording } from '../../recording/reader.ts';
import type { SharedRows } from '../../recording/shared/shared-rows.ts';
import { shareRows } from '../../recording/shared/shared-rows.ts';
import { interruption } from '../interrupt.ts';

/** The rest of the memory is for the threads, and for whoever else is on the machine. */
const MOST_OF_MEMORY = 0.25;

/** How a recording came to the threads. */
export interface Sharing {
  /** Undefined where it is larger than `mostBytes`: each thread reads it from the disk then, for every trial anew. */
  readonly rows: SharedRows | undefined;
  readonly mostBytes: number;
}

/** Returns how much of a recording is taken into shared memory at most: a quarter of what the machine has. */
export function mostSharedBytes(): number {
  return Math.floor(totalmem() * MOST_OF_MEMORY);
}

/** Reads what backtests look into once, for all threads, and looks up now and then whether it is still wanted. Throws RECORDING_CORRUPT and INTERRUPTED. */
export async function shareRecording(recording: Recording, { looks, interrupt, mostBytes = mostSharedBytes() }: {
  readonly looks: RecordedLooks;
  readonly interrupt?: AbortSignal | undefined;
  readonly mostBytes?: number | undefined;
}): Promise<Sharing> {
  const reading = shareRows(recording, { kinds: backtestKinds(looks), mostBytes });
  for (let step = reading.next(); ; step = reading.next()) {
    if (step.done === true) return { rows: step.value, mostBytes };
    await new Promise((resolve) => { setImmediate(resolve); });
    if (interrupt?.aborted === true) throw interruption();
  }
}
