import type { Millis } from '../../core/time.ts';
import type { Quote } from '../../market/quote.ts';
import type { ColumnBuffer } from '../columns/column-buffers.ts';
import { DictionaryColumn, NumberColumn, WideColumn } from '../columns/column-buffers.ts';
import { readQuotes } from '../columns/quote-block.ts';
import type { RowBuffer } from '../columns/row-buffers.ts';
import { StampColumns } from '../columns/row-buffers.ts';
import type { ParquetColumn } from '../export/parquet-file.ts';
import type { Stamped } from '../export/parquet-table.ts';
import { EVENT } from '../export/parquet-table.ts';
import type { RecordedKind } from './recorded-kind.ts';

class QuoteRows implements RowBuffer<Quote> {
  readonly #stamp = new StampColumns();
  readonly #inputMint = new DictionaryColumn('input_mint', 1);
  readonly #outputMint = new DictionaryColumn('output_mint', 2);
  readonly #inAmount = new WideColumn('in_amount');
  readonly #outAmount = new WideColumn('out_amount');
  readonly #threshold = new WideColumn('threshold');
  readonly #priceImpact = new NumberColumn('price_impact', 'f64', { nullable: true });
  readonly #contextSlot = new WideColumn('context_slot', { nullable: true });
  readonly #router = new DictionaryColumn('router', 3);
  readonly #feeBps = new NumberColumn('fee_bps', 'u16');
  readonly feed = this.#stamp.feed;
  readonly columns: readonly ColumnBuffer[] = [
    ...this.#stamp.all, this.#inputMint, this.#outputMint, this.#inAmount, this.#outAmount, this.#threshold,
    this.#priceImpact, this.#contextSlot, this.#router, this.#feeBps,
  ];

  rowsOf(): number {
    return 1;
  }

  put(row: number, seq: number, at: Millis, quote: Quote): void {
    this.#stamp.putStamp(row, seq, at, quote.receivedAt);
    this.#stamp.putEventAt(row, quote.eventAt);
    this.feed.set(row, quote.feed);
    this.#inputMint.set(row, quote.inputMint);
    this.#outputMint.set(row, quote.outputMint);
    this.#inAmount.setBigint(row, quote.inAmount);
    this.#outAmount.setBigint(row, quote.outAmount);
    this.#threshold.setBigint(row, quote.threshold);
    if (quote.priceImpact === undefined) this.#priceImpact.setNull(row);
    else this.#priceImpact.set(row, quote.priceImpact);
    if (quote.contextSlot === undefined) this.#contextSlot.setNull(row);
    else this.#contextSlot.setBigint(row, quote.contextSlot);
    this.#router.set(row, quote.router);
    this.#feeBps.set(row, quote.feeBps);
  }
}

const COLUMNS: readonly ParquetColumn<Stamped<Quote>>[] = [
  ...EVENT,
  { name: 'input_mint', as: 'text', of: ({ input }) => input.inputMint },
  { name: 'output_mint', as: 'text', of: ({ input }) => input.outputMint },
  { name: 'in_amount', as: 'unsigned', of: ({ input }) => input.inAmount },
  { name: 'out_amount', as: 'unsigned', of: ({ input }) => input.outAmount },
  { name: 'threshold', as: 'unsigned', of: ({ input }) => input.threshold },
  { name: 'price_impact', as: 'double', optional: true, of: ({ input }) => input.priceImpact },
  { name: 'context_slot', as: 'unsigned', optional: true, of: ({ input }) => input.contextSlot },
  { name: 'router', as: 'text', of: ({ input }) => input.router },
  { name: 'fee_bps', as: 'signed', of: ({ input }) => BigInt(input.feeBps) },
];

/** Quotes: millions of rows, read as columns, also by the checks of prices. */
export const QUOTE: RecordedKind<'quote', Stamped<Quote>> = {
  createRows: () => new QuoteRows(),
  read: readQuotes,
  parquet: { columns: COLUMNS, rowsOf: (stamped) => [stamped] },
};
