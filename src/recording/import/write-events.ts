import { basename, dirname, resolve } from 'node:path';
import type { Millis } from '../../core/time.ts';
import type { MarketEvent } from '../../market/event.ts';
import type { Token } from '../../market/token.ts';
import { removeOnFailure } from '../files/new-folder.ts';
import type { RecordingSource } from '../format.ts';
import { createHistoryWriter } from '../history-writer.ts';
import { yieldToInterrupt } from '../interrupt.ts';
import type { RecordingManifest } from '../manifest.ts';

/** An interrupt is checked for, and progress reported, after this many events. */
const TURN_EVENTS = 16_384;

/** A written recording. */
export interface WrittenRecording {
  readonly directory: string;
  readonly manifest: RecordingManifest;
}

/**
 * Writes existing events, numbered from 1 and stamped with the time of their reception. The same events give the same
 * files. A failure leaves nothing, because a part would be taken for the whole. Rejects with INTERRUPTED,
 * RECORDING_WRITE_FAILED, and with errors of the events.
 */
export async function writeEvents(events: Iterable<MarketEvent> | AsyncIterable<MarketEvent>, options: {
  readonly directory: string;
  readonly tokens: readonly Token[];
  readonly source: RecordingSource;
  readonly startAt: Millis;
  readonly interrupt: AbortSignal;
  /** Called with the time of the latest event and the number of events. */
  readonly onProgress?: ((at: Millis, events: number) => void) | undefined;
}): Promise<WrittenRecording> {
  const { tokens, source, startAt, interrupt, onProgress } = options;
  const directory = resolve(options.directory);
  const writer =
    createHistoryWriter({ dir: dirname(directory), name: basename(directory), createdAt: startAt, tokens, source });
  // Also covers a writer that cannot stop, as on a full disk.
  return removeOnFailure(writer.directory, async () => {
    let whole = false;
    try {
      let seq = 0;
      for await (const event of events) {
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
