import { RecordBatchReader } from '../arrow.ts';
import { GannetError, isGannetError, messageOf } from '../../core/errors.ts';
import type { Columns } from '../columns/batch-columns.ts';
import { BatchColumns } from '../columns/batch-columns.ts';
import type { Block } from '../columns/block.ts';
import { recordedKind } from '../kinds/recorded-kinds.ts';
import type { RecordingKind } from '../format.ts';
import { prunedWhileRead } from '../pruning.ts';
import type { SegmentDigest } from './digest.ts';
import { streamChunks } from './segment-file.ts';

/** Yields the blocks in the digested part of a segment. Throws RECORDING_CORRUPT. */
export function readSegment(directory: string, kind: RecordingKind, digest: SegmentDigest): Generator<Block> {
  return readBatches(directory, digest, (columns): Block => recordedKind(kind).read(columns));
}

/** Yields the blocks of a segment's rows in another stream of them. Throws RECORDING_CORRUPT. */
export function readStream(
  kind: RecordingKind, digest: SegmentDigest, chunks: Iterable<Uint8Array>,
): Generator<Block> {
  return batchesOf(digest, chunks, (columns): Block => recordedKind(kind).read(columns));
}

/**
 * Yields the result of `read` for each batch in the digested part of a segment. Throws RECORDING_CORRUPT, and
 * RECORDING_PRUNED where the retention deleted the segment meanwhile.
 */
export function readBatches<T>(directory: string, digest: SegmentDigest, read: (columns: Columns) => T): Generator<T> {
  let rowsAtMost = Infinity;
  // The batches of the segment were merged meanwhile, with rows after this digest.
  const chunks = streamChunks(directory, digest, () => { rowsAtMost = digest.rows; });
  return batchesOf(digest, unlessPruned(directory, digest, chunks), read, () => rowsAtMost);
}

function* unlessPruned(
  directory: string, { file }: SegmentDigest, chunks: Iterable<Uint8Array>,
): Generator<Uint8Array> {
  try {
    yield* chunks;
  } catch (fault) {
    throw prunedWhileRead(directory, file, fault) ?? fault;
  }
}

function* batchesOf<T>(
  digest: SegmentDigest, chunks: Iterable<Uint8Array>, read: (columns: Columns) => T, rowsAtMost = () => Infinity,
): Generator<T> {
  if (digest.rows === 0) return;
  const columns = new BatchColumns(digest.file);
  let rows = 0;
  try {
    for (const batch of RecordBatchReader.from(chunks)) {
      const left = rowsAtMost() - rows;
      if (left <= 0) break;
      columns.open(left < batch.numRows ? batch.slice(0, left) : batch);
      rows += batch.numRows;
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
