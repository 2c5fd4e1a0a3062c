import { RecordBatchReader } from '../arrow.ts';
import { GannetError, isGannetError, messageOf } from '../../core/errors.ts';
import type { Columns } from '../columns/batch-columns.ts';
import { BatchColumns } from '../columns/batch-columns.ts';
import type { Block } from '../columns/block.ts';
import { recordedKind } from '../kinds/recorded-kinds.ts';
import type { RecordingKind } from '../format.ts';
import type { SegmentDigest } from './digest.ts';
import { streamChunks } from './segment-file.ts';

/** Yields the blocks in the digested part of a segment. Throws RECORDING_CORRUPT. */
export function readSegment(directory: string, kind: RecordingKind, digest: SegmentDigest): Generator<Block> {
  return readBatches(directory, digest, (columns): Block => recordedKind(kind).read(columns));
}

/** Yields the result of `read` for each batch in the digested part of a segment. Throws RECORDING_CORRUPT. */
export function* readBatches<T>(directory: string, digest: SegmentDigest, read: (columns: Columns) => T): Generator<T> {
  if (digest.rows === 0) return;
  const columns = new BatchColumns(digest.file);
  try {
    for (const batch of RecordBatchReader.from(streamChunks(directory, digest))) {
      columns.open(batch);
      yield read(columns);
    }
  } catch (cause) {
    if (isGannetError(cause)) throw cause;
    throw new GannetError('RECORDING_CORRUPT',
      `${digest.file}: expected an Arrow stream, found none: ${messageOf(cause)}; restore the file from a copy`, {
        details: { file: digest.file }, cause,
      });
  }
}
