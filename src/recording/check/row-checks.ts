import type { Millis } from '../../core/time.ts';
import type { Block } from '../columns/block.ts';
import { hourName } from '../files/directory.ts';
import { QuoteBlock } from '../columns/quote-block.ts';
import type { RecordingIssue } from './recording-issue.ts';
import { iso } from './recording-issue.ts';
import type { SegmentDigest } from '../segment/digest.ts';
import { unsignedAt } from '../columns/wide.ts';

/** A quote's rate may be this many times another one's of the same feed before it is called absurd. */
const ABSURD_FACTOR = 100;

/** What is found in rows. */
export interface RowFindings {
  /** What no writer writes: numbers or times that go back, rows that the digests do not speak of. */
  readonly issues: RecordingIssue[];
  /** Prices of nothing, which no feed gives. */
  readonly noPrices: RecordingIssue[];
  /** Prices that are odd, and may be so. */
  readonly leaps: RecordingIssue[];
}

/** Holds the rows of one kind, segment after segment, against each other and against the digests. */
export class RowChecks {
  readonly #found: RowFindings;
  /** The last rate of each feed. */
  readonly #rates = new Map<string, number>();
  #digest: SegmentDigest | undefined;
  #row = 0;
  #seq = 0;
  #at: Millis = -Infinity;
  #last = 0;
  #before: string | undefined;
  #first: { readonly seq: number; readonly at: Millis } | undefined;

  constructor(found: RowFindings) {
    this.#found = found;
  }

  begin(digest: SegmentDigest): void {
    this.#before = this.#digest?.file;
    this.#digest = digest;
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
    if (block instanceof QuoteBlock) this.#prices(block, before);
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
    this.#issue(at, overlaps ? `overlaps ${this.#before}: number ${seq} (${iso(at)}) comes after ${this.#seq}` : `out of order: number ${seq} (${iso(at)}) comes after ${this.#seq}`);
  }

  /** On columns: recordings have millions of quotes, and nearly all are in order. */
  #prices(block: QuoteBlock, before: number): void {
    const { feed: { codes, texts }, inAmount, outAmount } = block.columns;
    const rates = texts.map((text) => this.#rates.get(text));
    for (let index = 0; index < block.length; index++) {
      const code = codes[index]!;
      const rate = unsignedAt(outAmount.halves, index) / unsignedAt(inAmount.halves, index);
      const last = rates[code];
      if (!(rate > 0 && rate < Infinity)) {
        this.#report(this.#found.noPrices, { row: before + index + 1, at: block.timeAt(index), what: `a price of ${outAmount.values[index]} for ${inAmount.values[index]} in ${texts[code]}` });
        continue;
      }
      if (last !== undefined && (rate > last * ABSURD_FACTOR || rate < last / ABSURD_FACTOR)) {
        this.#report(this.#found.leaps, { row: before + index + 1, at: block.timeAt(index), what: `the price in ${texts[code]} leaps from ${last} to ${rate}` });
      }
      rates[code] = rate;
    }
    for (const [code, rate] of rates.entries()) if (rate !== undefined) this.#rates.set(texts[code]!, rate);
  }

  #issue(at: Millis | undefined, problem: string): void {
    const { file } = this.#digest!;
    this.#found.issues.push({ code: 'RECORDING_CORRUPT', file, row: this.#row, at, message: `${file}:${this.#row}: ${problem}` });
  }

  #report(found: RecordingIssue[], { row, at, what }: { readonly row: number; readonly at: Millis; readonly what: string }): void {
    const { file } = this.#digest!;
    found.push({ code: 'RECORDING_CORRUPT', file, row, at, message: `${file}:${row} (${iso(at)}): ${what}` });
  }
}
