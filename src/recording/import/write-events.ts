import { basename, dirname, resolve } from 'node:path';
import type { Millis } from '../../core/time.ts';
import type { MarketEvent } from '../../market/event.ts';
import type { Token } from '../../market/token.ts';
import { createHistoryWriter } from '../history-writer.ts';
import type { RecordingManifest } from '../manifest.ts';
import type { RecordingSource } from '../format.ts';
import { yieldToInterrupt } from '../interrupt.ts';
import { removeOnFailure } from '../files/new-folder.ts';

/** An interrupt is heard, and progress told, once in so many events. */
const TURN_EVENTS = 16_384;

/** What a recording is made of. */
export interface WrittenRecording {
  readonly directory: string;
  readonly manifest: RecordingManifest;
}

/**
 * Writes events that are there already, numbered from 1, stamped with when they were received; the same ones give the
 * same files. What ends before all of them are written leaves nothing: they can be written again, and half of them
 * would be taken for all. Rejects with INTERRUPTED, RECORDING_WRITE_FAILED, and with whatever the events throw.
 */
export async function writeEvents(events: Iterable<MarketEvent>, options: {
  readonly directory: string;
  readonly tokens: readonly Token[];
  readonly source: RecordingSource;
  readonly startAt: Millis;
  readonly interrupt: AbortSignal;
  /** Hears how far it is: when the latest event was received, and how many there were. */
  readonly onProgress?: ((at: Millis, events: number) => void) | undefined;
}): Promise<WrittenRecording> {
  const { tokens, source, startAt, interrupt, onProgress } = options;
  const directory = resolve(options.directory);
  const writer =
    createHistoryWriter({ dir: dirname(directory), name: basename(directory), createdAt: startAt, tokens, source });
  // Also where the writer cannot even stop, as on a full disk.
  return removeOnFailure(writer.directory, async () => {
    let whole = false;
    try {
      let seq = 0;
      for (const event of events) {
        writer.append(++seq, event.receivedAt, event);
        if (writer.isBusy) await writer.room();
        if (seq % TURN_EVENTS !== 1) continue;
        onProgress?.(event.receivedAt, seq);
        await yieldToInterrupt(interrupt);
      }
      whole = true;
    } finally {
      if (!whole) await writer.stop();
    }
    return { directory: writer.directory, manifest: await writer.close() };
  });
}
