import { readdirSync } from 'node:fs';
import type { ErrorCode } from '../core/errors.ts';
import { isGannetError } from '../core/errors.ts';
import type { Millis } from '../core/time.ts';
import type { Block } from './block.ts';
import { hourName } from './directory.ts';
import type { RecordingKind } from './format.ts';
import { DIGESTS_FILE, MANIFEST_FILE, RECORDING_KINDS } from './format.ts';
import type { SegmentDigest } from './segment-digest.ts';
import { readSegment } from './segment-reader.ts';
import type { VerifiedRecording } from './verify.ts';
import { listSegments, verifyFile } from './verify.ts';

/** Something wrong in a recording, with the place where there is one. */
export interface RecordingIssue {
  readonly code: ErrorCode;
  readonly file: string;
  /** The input in the file, from 1. */
  readonly row?: number | undefined;
  /** Of that input. */
  readonly at?: Millis | undefined;
  readonly message: string;
}

export interface Inspection {
  readonly files: number;
  readonly events: number;
  readonly issues: readonly RecordingIssue[];
  /** What is odd and may be so: prices that nobody would pay, files that do not belong here. */
  readonly warnings: readonly RecordingIssue[];
}

/** A quote's rate may be this many times another one's of the same feed before it is called absurd. */
const ABSURD_FACTOR = 100;

interface Found {
  readonly issues: RecordingIssue[];
  readonly warnings: RecordingIssue[];
}

/** Goes through every byte and every row of a recording and names all that is wrong. Throws RECORDING_NOT_FOUND alone. */
export function inspectRecording(directory: string): Inspection {
  const found: Found = { issues: [], warnings: [] };
  const listed = attempt(found, MANIFEST_FILE, () => listSegments(directory));
  if (listed === undefined) return { files: 0, events: 0, ...found };
  let events = 0;
  for (const kind of RECORDING_KINDS) {
    const own = listed.segments.filter(({ file }) => file.startsWith(`${kind}/`));
    const rows = new RowChecks(found);
    for (const digest of own) events += attempt(found, digest.file, () => inspectSegment({ directory, kind, digest, listed, rows })) ?? 0;
  }
  noteStrays(directory, listed, found);
  return { files: listed.segments.length, events, ...found };
}

function inspectSegment({ directory, kind, digest, listed, rows }: {
  readonly directory: string;
  readonly kind: RecordingKind;
  readonly digest: SegmentDigest;
  readonly listed: VerifiedRecording;
  readonly rows: RowChecks;
}): number {
  verifyFile(directory, digest, listed.manifest);
  rows.begin(digest);
  for (const block of readSegment(directory, kind, digest)) rows.block(block);
  return rows.end();
}

/** Holds the rows of one kind, segment after segment, against each other and against the digests. */
class RowChecks {
  readonly #found: Found;
  readonly #rates = new Map<string, number>();
  #digest: SegmentDigest | undefined;
  #row = 0;
  #seq = 0;
  #at: Millis = -Infinity;
  #last = 0;
  #before: string | undefined;
  #first: { readonly seq: number; readonly at: Millis } | undefined;

  constructor(found: Found) {
    this.#found = found;
  }

  begin(digest: SegmentDigest): void {
    this.#before = this.#digest?.file;
    this.#digest = digest;
    this.#row = 0;
    this.#first = undefined;
  }

  block(block: Block): void {
    for (let index = 0; index < block.length; index++) {
      const seq = block.seqAt(index);
      const at = block.timeAt(index);
      this.#row += 1;
      this.#first ??= { seq, at };
      this.#last = seq;
      if (seq <= this.#seq) this.#order(seq, at);
      if (at < this.#at) this.#issue(at, `time goes backwards: ${iso(at)} comes after ${iso(this.#at)}`);
      this.#seq = Math.max(this.#seq, seq);
      this.#at = Math.max(this.#at, at);
      if (block.kind === 'quote') this.#price(block, index, at);
    }
  }

  /** Returns the inputs of the segment. */
  end(): number {
    const digest = this.#digest!;
    const facts = [
      ['inputs', digest.events, this.#row], ['first number', digest.firstSeq, this.#first?.seq ?? 0], ['last number', digest.lastSeq, this.#last],
    ] as const;
    for (const [name, expected, actual] of digest.rows === 0 ? [] : facts) {
      if (expected !== actual) this.#issue(undefined, `its digest says ${name} ${expected}, its rows say ${actual}`);
    }
    const hour = digest.file.slice(digest.file.indexOf('/') + 1).split('.')[0]!;
    if (this.#first !== undefined && hourName(this.#first.at) !== hour) this.#issue(this.#first.at, `expected rows of the hour ${hour}, found ${iso(this.#first.at)} first`);
    return this.#row;
  }

  #order(seq: number, at: Millis): void {
    const overlaps = this.#row === 1 && this.#before !== undefined;
    this.#issue(at, overlaps ? `overlaps ${this.#before}: number ${seq} comes after ${this.#seq}` : `out of order: number ${seq} comes after ${this.#seq}`);
  }

  #price(block: Block, index: number, at: Millis): void {
    const input = block.inputAt(index);
    if (input.kind !== 'quote') return;
    const { feed, rate } = input;
    if (!(rate > 0 && rate < Infinity)) {
      this.#warn(at, `a price of ${input.outAmount} for ${input.inAmount} in ${feed}`);
      return;
    }
    const before = this.#rates.get(feed);
    if (before !== undefined && (rate > before * ABSURD_FACTOR || rate < before / ABSURD_FACTOR)) this.#warn(at, `the price in ${feed} leaps from ${before} to ${rate}`);
    this.#rates.set(feed, rate);
  }

  #issue(at: Millis | undefined, problem: string): void {
    const { file } = this.#digest!;
    this.#found.issues.push({ code: 'RECORDING_CORRUPT', file, row: this.#row, at, message: `${file}:${this.#row}: ${problem}` });
  }

  #warn(at: Millis, oddity: string): void {
    const { file } = this.#digest!;
    this.#found.warnings.push({ code: 'RECORDING_CORRUPT', file, row: this.#row, at, message: `${file}:${this.#row} (${iso(at)}): ${oddity}` });
  }
}

function attempt<T>({ issues }: Found, file: string, work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (!isGannetError(error) || error.code === 'RECORDING_NOT_FOUND') throw error;
    const named = error.details['file'];
    issues.push({ code: error.code, file: typeof named === 'string' ? named : file, message: error.message });
    return undefined;
  }
}

function noteStrays(directory: string, { segments }: VerifiedRecording, { warnings }: Found): void {
  const known = new Set([MANIFEST_FILE, DIGESTS_FILE, ...segments.map(({ file }) => file)]);
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => !entry.isDirectory());
  for (const entry of files) {
    const file = `${entry.parentPath}/${entry.name}`.slice(directory.replace(/\/+$/, '').length + 1).replaceAll('\\', '/');
    if (!known.has(file)) warnings.push({ code: 'RECORDING_CORRUPT', file, message: `${file}: no part of the recording; it was left behind, or put there` });
  }
}

function iso(at: Millis): string {
  return Number.isFinite(at) && Math.abs(at) <= 8.64e15 ? new Date(at).toISOString() : String(at);
}
