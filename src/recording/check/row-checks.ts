import type { ErrorCode, GannetError } from '../../core/errors.ts';
import { isGannetError } from '../../core/errors.ts';
import type { Millis } from '../../core/time.ts';
import type { Input } from '../../trading/step.ts';
import { unsignedAt } from '../columns/batch-columns.ts';
import type { Block } from '../columns/block.ts';
import { QuoteBlock } from '../columns/quote-block.ts';
import type { SegmentDigest } from '../segment/digest.ts';
import { recordedKind } from '../kinds/recorded-kinds.ts';
import { hourName, iso } from '../segment/digest.ts';

/** Findings in rows. */
export interface RowFindings extends PriceFindings {
  /** Rows that no writer writes: numbers or times that go backwards, rows that contradict their digest. */
  readonly issues: RecordingIssue[];
}

/** Checks the rows of one kind, segment after segment, against each other and against the digests. */
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

  /** Returns the number of inputs in the segment. */
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

/** A price that changes by more than this factor is reported. */
const ABSURD_FACTOR = 100;
/** A price that changes by this factor and returns at once is reported. */
const SPIKE_FACTOR = 10;

/** Findings in prices. */
interface PriceFindings {
  /** Prices of zero or without a number, which no feed gives. */
  readonly noPrices: RecordingIssue[];
  /** Implausible prices. */
  readonly leaps: RecordingIssue[];
}

/** The place of a price. */
interface Place {
  readonly file: string;
  readonly row: number;
  readonly at: number;
}

/** A change of at least tenfold from one price of a feed to the next. */
interface Leap extends Place {
  readonly from: number;
  readonly to: number;
  readonly isTold: boolean;
}

/** Compares the prices of one kind, segment after segment, with the price before in the same feed. */
class PriceChecks {
  readonly #found: RowFindings;
  readonly #rates = new Map<string, number>();
  /** The leaps that led to the last price of their feed. */
  readonly #leaps = new Map<string, Leap>();
  #file = '';

  constructor(found: RowFindings) {
    this.#found = found;
  }

  begin(file: string): void {
    this.#file = file;
  }

  /** Checks the prices of a block that starts after `before` rows of the file. */
  block(block: Block, before: number): void {
    if (block instanceof QuoteBlock) this.#quotes(block, before);
    else this.#checked(block, before);
  }

  #checked(block: Block, before: number): void {
    const { check } = recordedKind(block.kind);
    if (check !== undefined) this.#events(block, check, before);
  }

  /** Reads columns: recordings have millions of quotes, and nearly all are in order. */
  #quotes(block: QuoteBlock, before: number): void {
    const { feed: { codes, texts }, inAmount, outAmount } = block.columns;
    const rates = texts.map((text) => this.#rates.get(text));
    const leaps = this.#leaps;
    for (let index = 0; index < block.length; index++) {
      const code = codes[index]!;
      const rate = unsignedAt(outAmount.halves, index) / unsignedAt(inAmount.halves, index);
      const last = rates[code];
      if (!(rate > 0 && rate < Infinity)) {
        this.#tell(
          this.#found.noPrices, this.#place(block, index, before),
          `a price of ${outAmount.values[index]} for ${inAmount.values[index]} in ${texts[code]}`,
        );
        continue;
      }
      if (last !== undefined && (rate >= last * SPIKE_FACTOR || last >= rate * SPIKE_FACTOR))
        this.#leap(texts[code]!, { ...this.#place(block, index, before), from: last, to: rate });
      else if (leaps.size > 0) leaps.delete(texts[code]!);
      rates[code] = rate;
    }
    for (const [code, rate] of rates.entries()) if (rate !== undefined) this.#rates.set(texts[code]!, rate);
  }

  #events(block: Block, check: NonNullable<ReturnType<typeof recordedKind>['check']>, before: number): void {
    for (let index = 0; index < block.length; index++) {
      const place = this.#place(block, index, before);
      const input = readInput(block, index);
      if (isGannetError(input)) {
        this.#tell(this.#found.issues, place, input.message);
        continue;
      }
      for (const what of check.implausible(input)) this.#tell(this.#found.leaps, place, what);
      const price = check.price?.(input);
      if (price !== undefined && 'feed' in input) this.#price(input.feed, price, place);
    }
  }

  #price(feed: string, price: number, place: Place): void {
    const last = this.#rates.get(feed);
    if (last !== undefined && (price >= last * SPIKE_FACTOR || last >= price * SPIKE_FACTOR))
      this.#leap(feed, { ...place, from: last, to: price });
    else this.#leaps.delete(feed);
    this.#rates.set(feed, price);
  }

  /** A lasting tenfold price may be real; a price that returns at once is reported as an error. */
  #leap(feed: string, leap: Omit<Leap, 'isTold'>): void {
    const { from, to } = leap;
    const before = this.#leaps.get(feed);
    const isAbsurd = to > from * ABSURD_FACTOR || from > to * ABSURD_FACTOR;
    if (isAbsurd) this.#tell(this.#found.leaps, leap, `the price in ${feed} leaps from ${from} to ${to}`);
    else if (before !== undefined && !before.isTold && before.to > before.from !== to > from) this.#tell(
      this.#found.leaps, before, `the price in ${feed} leaps from ${before.from} to ${before.to}, and back to ${to}`,
    );
    this.#leaps.set(feed, { ...leap, isTold: isAbsurd });
  }

  #place(block: Block, index: number, before: number): Place {
    return { file: this.#file, row: before + index + 1, at: block.timeAt(index) };
  }

  #tell(found: RecordingIssue[], { file, row, at }: Place, what: string): void {
    found.push({ code: 'RECORDING_CORRUPT', file, row, at, message: `${file}:${row} (${iso(at)}): ${what}` });
  }
}

/** Returns an input, or why its row holds none. */
function readInput(block: Block, index: number): Input | GannetError {
  try {
    return block.inputAt(index);
  } catch (error) {
    if (!isGannetError(error)) throw error;
    return error;
  }
}

/** A fault or a warning in a recording, with its place where there is one. */
export interface RecordingIssue {
  readonly code: ErrorCode;
  readonly file: string;
  /** The number of the input in the file, from 1. */
  readonly row?: number | undefined;
  /** The time of that input, else of the first input concerned. */
  readonly at?: Millis | undefined;
  readonly message: string;
}
