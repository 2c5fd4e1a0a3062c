import type { Millis } from '../../core/time.ts';
import type { Quote } from '../../market/quote.ts';
import type { Columns } from './batch-columns.ts';
import type { Block } from './block.ts';
import { lengthUntil, readStamps, seqOf, timeOf } from './block.ts';
import type { QuoteColumns } from './quote-columns.ts';
import { RecordedQuote } from './recorded-quote.ts';

/**
 * Quotes, one row each; `columns` is there for whoever loops over the first `length` rows of arrays instead of quotes.
 */
export class QuoteBlock implements Block<'quote'> {
  readonly kind = 'quote';
  length: number;
  readonly columns: QuoteColumns;

  constructor(columns: QuoteColumns) {
    this.columns = columns;
    this.length = columns.stampLagMs.length;
  }

  seqAt(index: number): number {
    return seqOf(this.columns, index);
  }

  timeAt(index: number): Millis {
    return timeOf(this.columns, index);
  }

  inputAt(index: number): Quote {
    return new RecordedQuote(this.columns, index);
  }

  endAt(lastSeq: number): void {
    this.length = lengthUntil(this, lastSeq);
  }
}

/** Returns the quotes of the batch that is open. */
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
