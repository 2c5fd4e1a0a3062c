import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Millis } from '../../core/time.ts';
import type { Input } from '../../trading/step.ts';
import type { RecordingKind } from '../format.ts';
import { KindRows } from '../columns/kind-rows.ts';
import type { SegmentDigest } from './digest.ts';
import { SegmentWriter } from './segment-writer.ts';

/** Writes the rows of one kind, a file per hour. Faults of the disk are thrown as they come. */
export class KindWriter {
  readonly #rows: KindRows;
  readonly #finished: SegmentWriter[] = [];
  #segment: SegmentWriter | undefined;

  constructor({ kind, directory, batchRows, onWritten }: {
    readonly kind: RecordingKind;
    readonly directory: string;
    readonly batchRows: number;
    /** Called after the bytes are written. */
    readonly onWritten: (digest: SegmentDigest, newFeeds: readonly string[]) => void;
  }) {
    this.#rows = new KindRows({
      kind, batchRows,
      sink: {
        begin: (file, schema) => {
          mkdirSync(dirname(`${directory}/${file}`), { recursive: true, mode: 0o700 });
          this.#segment = new SegmentWriter(directory, file, schema);
        },
        write: (columns, facts, newFeeds) => {
          this.#segment!.write(columns, facts);
          onWritten(this.#segment!.digest(), newFeeds);
        },
        end: () => {
          const segment = this.#segment!;
          segment.end();
          onWritten(segment.digest(), []);
          this.#finished.push(segment);
          this.#segment = undefined;
        },
      },
    });
  }

  /** Inputs taken, written or not. */
  get events(): number {
    return this.#rows.events;
  }

  append(seq: number, at: Millis, input: Input): void {
    this.#rows.append(seq, at, input);
  }

  /** Writes what is kept as one batch. */
  flush(): void {
    this.#rows.flush();
  }

  /** Ends the file that is open, if any; the next row begins another. */
  end(): void {
    this.#rows.end();
  }

  /** Resolves when what was written is on the disk itself, with the files that ended: they are closed then. */
  async sync(): Promise<SegmentDigest[]> {
    const finished = this.#finished.splice(0);
    try {
      for (const segment of finished) await segment.sync();
    } finally {
      for (const segment of finished) segment.close();
    }
    await this.#segment?.sync();
    return finished.map((segment) => segment.digest());
  }

  /** Closes the files without a further word. */
  release(): void {
    for (const segment of this.#finished.splice(0)) segment.close();
    this.#segment?.close();
    this.#segment = undefined;
  }
}
