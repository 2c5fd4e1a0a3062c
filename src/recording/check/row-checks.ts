import type { Millis } from '../../core/time.ts';
import type { Block } from '../columns/block.ts';
import { hourName } from '../files/directory.ts';
import type { PriceFindings } from './price-checks.ts';
import { PriceChecks } from './price-checks.ts';
import type { RecordingIssue } from './recording-issue.ts';
import { iso } from './recording-issue.ts';
import type { SegmentDigest } from '../segment/digest.ts';

/** What is found in rows. */
export interface RowFindings extends PriceFindings {
  /** What no writer writes: numbers or times that go back, rows that the digests do not speak of. */
  readonly issues: RecordingIssue[];
}

/** Holds the rows of one kind, segment after segment, against each other and against the digests. */
export class RowChecks {
  readonly #found: RowFindings;
  readonly #prices: PriceChecks;
  #digest: SegmentDigest | undefined;
  #row = 0;
  #seq = 0;
  #at: Millis = -Infinity;
  #last = 0;
  #before: string | undefined;
  #first: { readonly seq: number; readonly at: Millis } | undefined;

  constructor(found: RowFindings) {
    this.#found = found;
    this.#prices = new PriceChecks(found);
  }

  begin(digest: SegmentDigest): void {
    this.#before = this.#digest?.file;
    this.#digest = digest;
    this.#prices.begin(digest.file);
    this.#row = 0;
    this.#first = undefined;
  }

  block(block: Block): void {
    const before = this.#row;
    for (let index = 0; index < block.length; index++) {
      const seq = block.seqAt(index);
      const at = block.timeAt(index);
      this.#row += 1;
      this.#first ??= { seq, at };
      if (seq <= this.#seq) this.#order(seq, at);
      else this.#seq = seq;
      if (at < this.#at) this.#issue(at, `time goes backwards: ${iso(at)} comes after ${iso(this.#at)}`);
      else this.#at = at;
      this.#last = seq;
    }
    this.#prices.block(block, before);
  }

  /** Returns the inputs of the segment. */
  end(): number {
    const digest = this.#digest!;
    const facts = [
      ['inputs', digest.events, this.#row], ['first number', digest.firstSeq, this.#first?.seq ?? 0],
      ['last number', digest.lastSeq, this.#last],
    ] as const;
    for (const [name, expected, actual] of digest.rows === 0 ? [] : facts) {
      if (expected !== actual) this.#issue(undefined, `its digest says ${name} ${expected}, its rows say ${actual}`);
    }
    const hour = digest.file.slice(digest.file.indexOf('/') + 1).split('.')[0]!;
    if (this.#first !== undefined && hourName(this.#first.at) !== hour)
      this.#issue(this.#first.at, `expected rows of the hour ${hour}, found ${iso(this.#first.at)} first`);
    return this.#row;
  }

  #order(seq: number, at: Millis): void {
    const overlaps = this.#row === 1 && this.#before !== undefined;
    this.#issue(at, overlaps ? `overlaps ${this.#before}: number ${seq} (${iso(at)}) comes after ${this.#seq}`
      : `out of order: number ${seq} (${iso(at)}) comes after ${this.#seq}`);
  }

  #issue(at: Millis | undefined, problem: string): void {
    const { file } = this.#digest!;
    this.#found.issues.push({
      code: 'RECORDING_CORRUPT', file, row: this.#row, at, message: `${file}:${this.#row}: ${problem}`,
    });
  }
}
