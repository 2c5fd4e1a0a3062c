import type { ChunkedWork } from '../core/chunked-work.ts';
import { EVENTS_PER_CHUNK, runToEnd } from '../core/chunked-work.ts';
import type { Millis } from '../core/time.ts';
import type { FeedKey } from '../market/event.ts';
import type { TokenTable } from '../market/token.ts';
import { tokenTable } from '../market/token.ts';
import type { LostRows } from './check/verify.ts';
import { verifyRecording } from './check/verify.ts';
import type { Block } from './columns/block.ts';
import type { BlockSource } from './cursor.ts';
import { RecordingCursor } from './cursor.ts';
import type { RecordingKind } from './format.ts';
import { RECORDING_KINDS } from './format.ts';
import type { RecordingManifest } from './manifest.ts';
import { totalsOf } from './manifest.ts';
import type { SegmentDigest } from './segment/digest.ts';
import { readSegment } from './segment/segment-reader.ts';

/** Inputs that can be iterated in the order in which they came. */
export interface InputSource {
  readonly kinds: readonly RecordingKind[];
  readonly feeds: readonly FeedKey[];
  /** The number of inputs. */
  readonly events: number;
  /** Stamps of the first and the last input, milliseconds; undefined without inputs. */
  readonly firstAt: Millis | undefined;
  readonly lastAt: Millis | undefined;
  /** Returns a cursor before the first input, over the given kinds or all. */
  cursor(options?: KindChoice): RecordingCursor;
  /**
   * Yields blocks in the order of their first inputs. Blocks of different kinds may overlap, and the first of a part
   * may begin before it.
   */
  read(options?: KindChoice): Generator<Block>;
}

export interface KindChoice {
  readonly kinds?: readonly RecordingKind[] | undefined;
}

/** The numbers of the first and the last input of a part of a recording; null for its last input. */
export interface RecordingPart {
  readonly firstSeq: number;
  readonly lastSeq: number | null;
}

/** A time span, from `from` to before `to`; left out, from the beginning, or to the end. */
export interface TimeRange {
  readonly from?: Millis | undefined;
  readonly to?: Millis | undefined;
}

/** A recording of which every byte was verified. */
export interface Recording extends InputSource {
  readonly directory: string;
  readonly manifest: RecordingManifest;
  readonly tokens: TokenTable;
  /** Its verified segments. */
  readonly segments: readonly SegmentDigest[];
  /** Rows that were written and are lost; none of a closed recording. */
  readonly lost: readonly LostRows[];
  /** The last number, where the writer did not close the recording or it was cut; else undefined. */
  readonly truncatedAt: number | undefined;
  /** Which of the inputs in its files it holds. */
  readonly part: RecordingPart;
  /** Returns the last number N for which each of 1 to N is here or among `extraSeqs` (those of decisions). */
  lastGapFreeSeq(extraSeqs: Iterable<number>): ChunkedWork<number>;
  /** Returns its inputs without most of those received before an instant. */
  since(at: Millis): Pick<InputSource, 'kinds' | 'feeds' | 'cursor'>;
  /** Returns the same recording without the inputs after number `seq`. */
  cutAt(seq: number): Recording;
  cutInChunks(seq: number): ChunkedWork<Recording>;
  /** Returns the same recording with only some of its inputs. */
  partInChunks(part: RecordingPart): ChunkedWork<Recording>;
  /** Returns the same recording with only the inputs received in a time span; undefined where there are none. */
  withinInChunks(range: TimeRange): ChunkedWork<Recording | undefined>;
}

/**
 * Opens a recording after verifying every byte of it. Bytes of an unclosed one after its last digests are left out.
 * Throws RECORDING_NOT_FOUND, RECORDING_VERSION (naming the release that reads it) and RECORDING_CORRUPT (naming the
 * file).
 */
export function openRecording(directory: string): Recording {
  return runToEnd(openRecordingInChunks(directory));
}

/** Does the same in chunks of a MiB. */
export function* openRecordingInChunks(directory: string): ChunkedWork<Recording> {
  const { manifest, segments, feeds, lost } = yield* verifyRecording(directory);
  const whole = { directory, manifest, segments, feeds, lost };
  if (manifest.closed) return createRecording(whole, undefined, undefined);
  const totals = totalsOf(segments);
  const lastSeq = totals.lastSeq ?? 0;
  return createRecording(whole, { ...totals, firstSeq: 0, lastSeq }, lastSeq);
}

interface Whole {
  readonly directory: string;
  readonly manifest: RecordingManifest;
  readonly segments: readonly SegmentDigest[];
  readonly feeds: readonly FeedKey[];
  readonly lost: readonly LostRows[];
}

/** The end of a recording before that of its files, with the totals up to there. */
interface Cut {
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly events: number;
  readonly firstAt: Millis | undefined;
  readonly lastAt: Millis | undefined;
}

function createRecording(whole: Whole, cut: Cut | undefined, truncatedAt: number | undefined): Recording {
  const { directory, manifest, segments, feeds, lost } = whole;
  const totals = totalsOf(segments);
  const present = totals.kinds.map(({ kind }) => kind);
  const { events, firstAt, lastAt } = cut ?? totals;
  const { firstSeq, lastSeq } = cut ?? { firstSeq: 0, lastSeq: Infinity };
  const chosen = ({ kinds = RECORDING_KINDS }: KindChoice = {}, end = lastSeq): BlockSource[] =>
    present.filter((kind) => kinds.includes(kind)).map((kind) => kindBlocks(whole, kind, end));
  const lastGapFreeSeq: Recording['lastGapFreeSeq'] = (extraSeqs) =>
    gapFreeUntil(new RecordingCursor(chosen()), extraSeqs);
  const cutInChunks: Recording['cutInChunks'] = function* (seq) {
    const end = Math.min(seq, lastSeq);
    const cutting = cutOf(new RecordingCursor(chosen({}, end), firstSeq), firstSeq, end);
    return createRecording(whole, yield* cutting, end);
  };
  const partInChunks: Recording['partInChunks'] = function* (part) {
    const [first, end] = [Math.max(part.firstSeq, firstSeq), Math.min(part.lastSeq ?? Infinity, lastSeq)];
    const cutting = cutOf(new RecordingCursor(chosen({}, end), first), first, end);
    return createRecording(whole, yield* cutting, truncatedAt);
  };
  const withinInChunks: Recording['withinInChunks'] = function* ({ from = -Infinity, to = Infinity }) {
    const cursor = new RecordingCursor(chosen(), firstSeq);
    let part: RecordingPart | undefined;
    for (let rows = 1; cursor.next() && cursor.at < to; rows++) {
      if (rows % EVENTS_PER_CHUNK === 0) yield;
      if (cursor.at >= from) part = { firstSeq: part?.firstSeq ?? cursor.seq, lastSeq: cursor.seq };
    }
    if (part === undefined) return undefined;
    const near = segments.filter((digest) => digest.lastSeq >= part.firstSeq && digest.firstSeq <= part.lastSeq!);
    return yield* createRecording({ ...whole, segments: near }, cut, truncatedAt).partInChunks(part);
  };
  return {
    directory, manifest, segments, feeds, lost, events, firstAt, lastAt, lastGapFreeSeq, cutInChunks, partInChunks,
    withinInChunks,
    kinds: present,
    tokens: tokenTable(manifest.tokens),
    truncatedAt,
    part: { firstSeq, lastSeq: cut === undefined ? null : lastSeq },
    cursor: (options) => new RecordingCursor(chosen(options), firstSeq),
    since: (at) => {
      const later = segments.filter(({ lastAt: end }) => end >= at);
      return createRecording({ ...whole, segments: later }, cut, truncatedAt);
    },
    read: (options) => inOrder(chosen(options)),
    cutAt: (seq) => runToEnd(cutInChunks(seq)),
  };
}

function* cutOf(cursor: RecordingCursor, firstSeq: number, lastSeq: number): ChunkedWork<Cut> {
  let events = 0;
  let firstAt: Millis | undefined;
  let lastAt: Millis | undefined;
  while (cursor.next()) {
    events += 1;
    if (events % EVENTS_PER_CHUNK === 0) yield;
    firstAt ??= cursor.at;
    lastAt = cursor.at;
  }
  return { firstSeq, lastSeq, events, firstAt, lastAt };
}

/** Segments of a kind follow one another, because numbers only grow. */
function kindBlocks({ directory, segments }: Whole, kind: RecordingKind, lastSeq: number): BlockSource {
  const own = segments.filter(({ file, firstSeq }) => file.startsWith(`${kind}/`) && firstSeq <= lastSeq);
  return {
    *[Symbol.iterator]() {
      for (const digest of own) {
        for (const block of readSegment(directory, kind, digest)) {
          if (digest.lastSeq > lastSeq) block.endAt(lastSeq);
          yield block;
        }
      }
    },
  };
}

function* inOrder(sources: readonly BlockSource[]): Generator<Block> {
  const lanes = sources.map((source) => {
    const blocks = source[Symbol.iterator]();
    return { blocks, next: blocks.next() };
  });
  for (;;) {
    const waiting = lanes.filter(({ next }) => next.done !== true);
    if (waiting.length === 0) return;
    const lane = waiting.reduce((least, other) =>
      (firstSeqOf(other.next.value) < firstSeqOf(least.next.value) ? other : least));
    yield lane.next.value;
    lane.next = lane.blocks.next();
  }
}

function firstSeqOf(block: Block): number {
  return block.length === 0 ? -1 : block.seqAt(0);
}

/**
 * Returns the last number N for which each of 1 to N is in the cursor or among `extraSeqs`; 0 where 1 is missing. The
 * numbers of the cursor grow; the others may come in any order.
 */
function* gapFreeUntil(
  cursor: { next(): boolean; readonly seq: number }, extraSeqs: Iterable<number>,
): ChunkedWork<number> {
  const extra = Float64Array.from(extraSeqs).sort();
  let expected = 1;
  let nextExtra = 0;
  const takeExtra = (): void => {
    while (nextExtra < extra.length && extra[nextExtra]! <= expected) {
      if (extra[nextExtra] === expected) expected += 1;
      nextExtra += 1;
    }
  };
  takeExtra();
  for (let events = 1; cursor.next(); events++) {
    if (events % EVENTS_PER_CHUNK === 0) yield;
    if (cursor.seq > expected) break;
    if (cursor.seq === expected) expected += 1;
    takeExtra();
  }
  return expected - 1;
}
