import { createHash } from 'node:crypto';
import { stringifyJson } from '../../core/json.ts';
import type { Block } from '../columns/block.ts';
import { BatchEncoder, KindRows } from '../columns/kind-rows.ts';
import type { RecordingKind } from '../format.ts';
import { yieldToInterrupt } from '../interrupt.ts';
import type { SegmentDigest } from '../segment/digest.ts';
import { MERGED_BYTES_MAX, segmentSize, verifySegmentInChunks } from '../segment/segment-file.ts';
import { readSegment, readStream } from '../segment/segment-reader.ts';

const BATCH_ROWS = 4_096;
/** Batches of at least this many rows on average are not merged. */
const WORTH_ROWS = 256;
/** The rows after which the event loop gets its turn. */
const ROWS_AT_ONCE = 256;

/**
 * Returns the rows of a complete segment as an Arrow stream of large batches, which slow feeds do not fill: each of
 * their batches repeats what describes it. Every row is read back and compared. Resolves with undefined where that
 * would gain little, and where the file is gone. Rejects with RECORDING_CORRUPT where the bytes contradict the digest,
 * and with the reason of `cut`.
 */
export async function mergedStream(
  directory: string, digest: SegmentDigest, cut: AbortSignal | undefined,
): Promise<Uint8Array | undefined> {
  if (digest.bytes > MERGED_BYTES_MAX || digest.rows === 0) return undefined;
  if (segmentSize(directory, digest.file) === undefined) return undefined;
  for (const _ of verifySegmentInChunks(directory, digest)) await yieldToInterrupt();
  const kind = digest.file.slice(0, digest.file.indexOf('/')) as RecordingKind;
  const pieces: Buffer[] = [];
  let streams = 0;
  let encoder: BatchEncoder | undefined;
  const keep = (bytes: readonly Uint8Array[]): void => { for (const piece of bytes) pieces.push(Buffer.from(piece)); };
  const merged = new KindRows({
    kind, batchRows: BATCH_ROWS,
    sink: {
      begin: (_, schema) => {
        streams += 1;
        encoder = new BatchEncoder(schema);
      },
      write: (columns, { rows }) => { keep(encoder!.encode(columns, rows)); },
      end: () => { keep(encoder!.end()); },
    },
  });
  const before = createHash('sha256');
  let batches = 0;
  for await (const { block, row } of rowsOf(readSegment(directory, kind, digest))) {
    cut?.throwIfAborted();
    if (row === 0) batches += 1;
    merged.append(block.seqAt(row), block.timeAt(row), block.inputAt(row));
    before.update(textOf(block, row));
  }
  if (digest.rows / batches >= WORTH_ROWS) return undefined;
  merged.end();
  const stream = Buffer.concat(pieces);
  const after = createHash('sha256');
  for await (const { block, row } of rowsOf(readStream(kind, digest, [stream]))) {
    cut?.throwIfAborted();
    after.update(textOf(block, row));
  }
  return streams === 1 && after.digest('hex') === before.digest('hex') ? stream : undefined;
}

async function* rowsOf(blocks: Iterable<Block>): AsyncGenerator<{ readonly block: Block; readonly row: number }> {
  let rows = 0;
  for (const block of blocks) {
    for (let row = 0; row < block.length; row++) {
      rows += 1;
      if (rows % ROWS_AT_ONCE === 0) await yieldToInterrupt();
      yield { block, row };
    }
  }
}

function textOf(block: Block, row: number): string {
  return `${block.seqAt(row)} ${block.timeAt(row)} ${stringifyJson(block.inputAt(row))}\n`;
}
