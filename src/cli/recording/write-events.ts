import { existsSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { VirtualTimeScheduler } from 'rxjs';
import type { Clock, Millis } from '../../core/time.ts';
import { createRecordingWriter } from '../../recording/writer.ts';
import type { RecordingManifest } from '../../recording/manifest.ts';
import type { MarketEvent } from '../../market/event.ts';
import type { Token } from '../../market/token.ts';
import { interruption } from '../interrupt.ts';

/** Where time is of no account: a recording of a month is written in seconds, and says the same whenever it is written. */
const SETTLE_MS = 86_400_000;

/** What a recording is made of. */
export interface WrittenRecording {
  readonly directory: string;
  readonly manifest: RecordingManifest;
}

/** Writes events that are there already, numbered from 1, stamped with when they were received; the same ones give the same files. */
export async function writeEvents(events: Iterable<MarketEvent>, options: {
  readonly directory: string;
  readonly tokens: readonly Token[];
  readonly startAt: Millis;
  readonly interrupt: AbortSignal;
  readonly onDay?: ((at: Millis) => void) | undefined;
}): Promise<WrittenRecording> {
  const { directory, tokens, interrupt, onDay } = options;
  const clock = timeOf(options.startAt);
  const writer = createRecordingWriter({ dir: dirname(resolve(directory)), name: basename(resolve(directory)), clock, tokens, onError: (error) => { throw error; } });
  let whole = false;
  try {
    let seq = 0;
    let settleAt = options.startAt + SETTLE_MS;
    for (const event of events) {
      clock.frame = event.receivedAt;
      if (event.receivedAt >= settleAt) {
        await writer.settled();
        onDay?.(event.receivedAt);
        settleAt = event.receivedAt + SETTLE_MS;
        if (interrupt.aborted) throw interruption();
      }
      writer.append(++seq, event.receivedAt, event);
    }
    whole = true;
  } finally {
    if (!whole) {
      writer.stop();
      await writer.close();
    }
  }
  return { directory: writer.directory, manifest: await writer.close() };
}

function timeOf(startAt: Millis): Clock & { frame: Millis } {
  const clock = new VirtualTimeScheduler();
  clock.frame = startAt;
  return clock;
}

/** Returns a folder that is not there yet: the name, or the name with a number. */
export function freeName(parent: string, name: string): string {
  for (let attempt = 1; ; attempt++) {
    const directory = join(parent, attempt === 1 ? name : `${name}-${attempt}`);
    if (!existsSync(directory)) return directory;
  }
}
