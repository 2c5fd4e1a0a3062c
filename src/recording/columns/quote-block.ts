import type { Amount, Bps } from '../../core/amount.ts';
import type { Millis } from '../../core/time.ts';
import type { Quote, QuoteRows } from '../../market/quote.ts';
import type { Mint } from '../../market/token.ts';
import type { Bitmap, CodedTexts, Columns, WideValues } from './batch-columns.ts';
import { isSet, signedAt, unsignedAt } from './batch-columns.ts';
import type { Block, StampColumns } from './block.ts';
import { lengthUntil, readStamps, seqOf, timeOf } from './block.ts';

/**
 * A quote that reads its members from a recording's columns: creating one costs two fields. The members are accessors,
 * so copy it with `toJSON`, not by spreading it.
 */
export class RecordedQuote implements Quote {
  readonly #columns: QuoteColumns;
  readonly #row: number;

  constructor(columns: QuoteColumns, row: number) {
    this.#columns = columns;
    this.#row = row;
  }

  get kind(): 'quote' {
    return 'quote';
  }

  get feed(): string {
    const { codes, texts } = this.#columns.feed;
    return texts[codes[this.#row]!]!;
  }

  get receivedAt(): Millis {
    return signedAt(this.#columns.receivedAt.halves, this.#row);
  }

  get eventAt(): Millis | undefined {
    const { halves, valid } = this.#columns.eventAt;
    return isSet(valid, this.#row) ? signedAt(halves, this.#row) : undefined;
  }

  get inputMint(): Mint {
    const { codes, texts } = this.#columns.inputMint;
    return texts[codes[this.#row]!] as Mint;
  }

  get outputMint(): Mint {
    const { codes, texts } = this.#columns.outputMint;
    return texts[codes[this.#row]!] as Mint;
  }

  get inAmount(): Amount {
    return this.#columns.inAmount.values[this.#row] as Amount;
  }

  get outAmount(): Amount {
    return this.#columns.outAmount.values[this.#row] as Amount;
  }

  get threshold(): Amount {
    return this.#columns.threshold.values[this.#row] as Amount;
  }

  get priceImpact(): number | undefined {
    const { values, valid } = this.#columns.priceImpact;
    return isSet(valid, this.#row) ? values[this.#row] : undefined;
  }

  get contextSlot(): bigint | undefined {
    const { values, valid } = this.#columns.contextSlot;
    return isSet(valid, this.#row) ? values[this.#row] : undefined;
  }

  get router(): string {
    const { codes, texts } = this.#columns.router;
    return texts[codes[this.#row]!]!;
  }

  get feeBps(): Bps {
    return this.#columns.feeBps[this.#row] as Bps;
  }

  /**
   * Equal to the rate of the bigints: both halves and the shift are exact, and only their sum is rounded, as in the
   * conversion of a bigint.
   */
  get rate(): number {
    return rateOfRow(this.#columns, this.#row);
  }

  /** Returns the quote as plain data. */
  toJSON(): Quote {
    return {
      kind: 'quote', feed: this.feed, receivedAt: this.receivedAt, eventAt: this.eventAt,
      inputMint: this.inputMint, outputMint: this.outputMint,
      inAmount: this.inAmount, outAmount: this.outAmount, threshold: this.threshold,
      priceImpact: this.priceImpact, contextSlot: this.contextSlot,
      router: this.router, feeBps: this.feeBps, rate: this.rate,
    };
  }
}

/** Quotes, one row each. `columns` serves loops over the first `length` rows of arrays instead of quotes. */
export class QuoteBlock implements Block<'quote'>, QuoteRows {
  readonly kind = 'quote';
  length: number;
  readonly columns: QuoteColumns;
  /** Decoded at the first use: many backtests read the same rows, and decoding takes longer than reading a number. */
  #times: Float64Array | undefined;
  #rates: Float64Array | undefined;

  constructor(columns: QuoteColumns) {
    this.columns = columns;
    this.length = columns.stampLagMs.length;
  }

  seqAt(index: number): number {
    return seqOf(this.columns, index);
  }

  timeAt(index: number): Millis {
    return (this.#times ?? this.#decodeTimes())[index]!;
  }

  get feeds(): CodedTexts {
    return this.columns.feed;
  }

  receivedAt(index: number): Millis {
    return this.timeAt(index) - this.columns.stampLagMs[index]!;
  }

  rateAt(index: number): number {
    return (this.#rates ?? this.#decodeRates())[index]!;
  }

  inputAt(index: number): Quote {
    return new RecordedQuote(this.columns, index);
  }

  endAt(lastSeq: number): void {
    this.length = lengthUntil(this, lastSeq);
  }

  #decodeTimes(): Float64Array {
    this.#times = decoded(this.columns, timeOf);
    return this.#times;
  }

  #decodeRates(): Float64Array {
    this.#rates = decoded(this.columns, rateOfRow);
    return this.#rates;
  }
}

/** What the decoded times and rates of a row take. */
export const DECODED_BYTES = 2 * Float64Array.BYTES_PER_ELEMENT;

function decoded(columns: QuoteColumns, numberOf: (columns: QuoteColumns, row: number) => number): Float64Array {
  const numbers = new Float64Array(columns.stampLagMs.length);
  for (let row = 0; row < numbers.length; row++) numbers[row] = numberOf(columns, row);
  return numbers;
}

function rateOfRow({ inAmount, outAmount }: QuoteColumns, row: number): number {
  return unsignedAt(outAmount.halves, row) / unsignedAt(inAmount.halves, row);
}

/** Returns the quotes of the open batch. */
export function readQuotes(columns: Columns): QuoteBlock {
  return new QuoteBlock({
    ...readStamps(columns),
    inputMint: columns.coded('input_mint'),
    outputMint: columns.coded('output_mint'),
    inAmount: columns.wide('in_amount'),
    outAmount: columns.wide('out_amount'),
    threshold: columns.wide('threshold'),
    priceImpact: columns.numbers('price_impact', Float64Array),
    contextSlot: columns.wide('context_slot'),
    router: columns.coded('router'),
    feeBps: columns.numbers('fee_bps', Uint16Array).values,
  });
}

/** The columns of quotes. */
interface QuoteColumns extends StampColumns {
  readonly inputMint: CodedTexts;
  readonly outputMint: CodedTexts;
  readonly inAmount: WideValues;
  readonly outAmount: WideValues;
  readonly threshold: WideValues;
  readonly priceImpact: { readonly values: Float64Array; readonly valid: Bitmap };
  readonly contextSlot: WideValues;
  readonly router: CodedTexts;
  readonly feeBps: Uint16Array;
}
