import { readdirSync } from 'node:fs';
import type { ChunkedWork } from '../../core/chunked-work.ts';
import { isGannetError } from '../../core/errors.ts';
import type { Millis } from '../../core/time.ts';
import type { Block } from '../columns/block.ts';
import { uncompressedSegments } from '../compression/compact.ts';
import type { RecordingKind } from '../format.ts';
import { DIGESTS_FILE, MANIFEST_FILE, RECORDING_KINDS, WRITER_LOCK_FILE } from '../format.ts';
import { KEEP_FILE, PRUNED_FILE, prunedBefore } from '../pruning.ts';
import type { Recording } from '../reader.ts';
import type { SegmentDigest } from '../segment/digest.ts';
import { iso } from '../segment/digest.ts';
import { readSegment } from '../segment/segment-reader.ts';
import type { RecordingIssue, RowFindings } from './row-checks.ts';
import { RowChecks } from './row-checks.ts';
import type { LostRows, VerifiedRecording } from './verify.ts';
import { listSegments, verifyFile } from './verify.ts';

export interface Inspection {
  /** Whether the writer closed it; undefined where that cannot be read. */
  readonly closed: boolean | undefined;
  readonly files: number;
  readonly events: number;
  readonly issues: readonly RecordingIssue[];
  /**
   * Findings that need not be faults: implausible prices, an end lost in a crash, files that do not belong here or that
   * could be smaller.
   */
  readonly warnings: readonly RecordingIssue[];
}

interface Found {
  readonly issues: RecordingIssue[];
  readonly warnings: RecordingIssue[];
}

/** Reads every byte and every row of a recording and names all faults. Throws RECORDING_NOT_FOUND. */
export function* inspectRecording(directory: string): ChunkedWork<Inspection> {
  const found: Found = { issues: [], warnings: [] };
  const listed = yield* attempt(found, { file: MANIFEST_FILE }, () => listing(directory));
  if (listed === undefined) return { closed: undefined, files: 0, events: 0, ...found };
  let events = 0;
  for (const kind of RECORDING_KINDS) {
    const own = listed.segments.filter(({ file }) => file.startsWith(`${kind}/`));
    const rows = new RowChecks({ issues: found.issues, noPrices: found.warnings, leaps: found.warnings });
    for (const digest of own)
      events += (yield* attempt(found, { file: digest.file, at: digest.rows === 0 ? undefined : digest.firstAt }, () =>
        inspectSegment({ directory, kind, digest, listed, rows })))
        ?? 0;
  }
  for (const lost of listed.lost) (lost.isHole ? found.issues : found.warnings).push(lostIssue(lost));
  noteUncompressed(directory, listed, found);
  noteStrays(directory, listed, found);
  notePruned(directory, found);
  return { closed: listed.manifest.closed, files: listed.segments.length, events, ...found };
}

function* listing(directory: string): ChunkedWork<VerifiedRecording> {
  yield;
  return listSegments(directory);
}

function* inspectSegment({ directory, kind, digest, listed, rows }: {
  readonly directory: string;
  readonly kind: RecordingKind;
  readonly digest: SegmentDigest;
  readonly listed: VerifiedRecording;
  readonly rows: RowChecks;
}): ChunkedWork<number> {
  yield* verifyFile(directory, digest, listed.manifest);
  rows.begin(digest);
  for (const block of readSegment(directory, kind, digest)) {
    rows.block(block);
    yield;
  }
  return rows.end();
}

/**
 * Returns the findings in the rows of some kinds of an open recording, whose bytes are verified already. `onBlock` gets
 * each block on the way.
 */
export function* inspectRows(
  { directory, segments }: Pick<Recording, 'directory' | 'segments'>, kinds: readonly RecordingKind[],
  onBlock: (block: Block) => void,
): ChunkedWork<RowFindings> {
  const found: RowFindings = { issues: [], noPrices: [], leaps: [] };
  for (const kind of kinds) {
    const rows = new RowChecks(found);
    for (const digest of segments.filter(({ file }) => file.startsWith(`${kind}/`))) {
      rows.begin(digest);
      for (const block of readSegment(directory, kind, digest)) {
        rows.block(block);
        onBlock(block);
        yield;
      }
      rows.end();
    }
  }
  return found;
}

/** Returns the issue for lost rows. */
export function lostIssue({ file, rows, from, until, isHole }: LostRows): RecordingIssue {
  const what = isHole ? 'it is not there, and later ones are' : 'it ends there';
  return {
    code: 'RECORDING_CORRUPT', file, at: from,
    message: `${file}: ${rows} rows of ${iso(from)} to ${iso(until)} were written and are lost; ${what}`,
  };
}

function* attempt<T>(
  { issues }: Found, { file, at }: { readonly file: string; readonly at?: Millis | undefined },
  work: () => ChunkedWork<T>,
): ChunkedWork<T | undefined> {
  try {
    return yield* work();
  } catch (error) {
    if (!isGannetError(error) || error.code === 'RECORDING_NOT_FOUND') throw error;
    const named = error.details['file'];
    issues.push({ code: error.code, file: typeof named === 'string' ? named : file, at, message: error.message });
    return undefined;
  }
}

function noteUncompressed(directory: string, listed: VerifiedRecording, { warnings }: Found): void {
  for (const { file } of uncompressedSegments(directory, listed)) {
    warnings.push({ code: 'RECORDING_CORRUPT', file,
      message: `${file}: no process writes to it any more, and it is not `
        + `compressed${listed.manifest.closed ? '' : ': "gannet recording compact" does that'}` });
  }
}

function notePruned(directory: string, { warnings }: Found): void {
  const before = prunedBefore(directory);
  if (before === undefined) return;
  warnings.push({
    code: 'RECORDING_PRUNED', file: PRUNED_FILE,
    message: `${PRUNED_FILE}: the hours before ${before.replace('T', ' ')}:00 UTC were deleted by the retention`,
  });
}

function noteStrays(directory: string, { segments }: VerifiedRecording, { warnings }: Found): void {
  const known = new Set([
    MANIFEST_FILE, DIGESTS_FILE, WRITER_LOCK_FILE, PRUNED_FILE, KEEP_FILE, ...segments.map(({ file }) => file),
  ]);
  const files = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory());
  for (const entry of files) {
    const file = `${entry.parentPath}/${entry.name}`.slice(directory.replace(/\/+$/, '').length + 1)
      .replaceAll('\\', '/');
    if (!known.has(file)) warnings.push({
      code: 'RECORDING_CORRUPT', file, message: `${file}: no part of the recording; it was left behind, or put there`,
    });
  }
}
