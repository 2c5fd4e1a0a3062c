import type { Amount, Bps } from '../../core/amount.ts';
import type { Millis } from '../../core/time.ts';
import type { Quote } from '../../market/quote.ts';
import type { Mint } from '../../market/token.ts';
import { isSet } from './bitmap.ts';
import type { QuoteColumns } from './quote-columns.ts';
import { signedAt, unsignedAt } from './wide.ts';

/**
 * A quote that lives in a recording's columns: making one costs two fields, and each member is read when it is asked
 * for. The members are accessors: copy it with `toJSON`, not by spreading it.
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
   * The same double as from the bigints: a half is exact, and so is its shift; only their sum is rounded, as theirs is.
   */
  get rate(): number {
    return unsignedAt(this.#columns.outAmount.halves, this.#row) / unsignedAt(this.#columns.inAmount.halves, this.#row);
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
