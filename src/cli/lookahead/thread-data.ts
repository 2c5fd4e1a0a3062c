import type { RecordingManifest } from '../../recording/manifest.ts';
import type { SharedRows } from '../../recording/shared/shared-rows.ts';
import type { ThreadSetup } from '../research/thread-setup.ts';

/** What a thread that strategies are looked at in is given; plain data. */
export interface ThreadData {
  readonly setup: ThreadSetup;
  /** The recording's rows; null where they are too large for memory, and the thread reads them from the disk. */
  readonly rows: Pick<SharedRows, 'layout' | 'memory'> | null;
  /** The last number that is read of one that may still grow; null where it is whole. */
  readonly lastSeq: number | null;
  /** When the recording was made, and of what, for copies of it. */
  readonly made: Pick<RecordingManifest, 'createdAt' | 'source'>;
  /** The folder in which copies are made. A thread that is ended removes nothing: whoever started it does. */
  readonly copiesDir: string;
}
