import { assert } from '../../core/assert.ts';
import type { Millis } from '../../core/time.ts';
import type { BookLevel, BookSide, OrderBook } from '../../market/order-book.ts';
import { ONE_USD } from '../../market/order-book.ts';
import type { Bitmap, CodedTexts, Columns } from '../columns/batch-columns.ts';
import { isSet } from '../columns/batch-columns.ts';
import type { Block, StampColumns as Stamps } from '../columns/block.ts';
import { eventBase, lengthUntil, numberAt, readStamps, seqOf, textAt, timeOf } from '../columns/block.ts';
import type { ColumnBuffer } from '../columns/column-buffers.ts';
import { DictionaryColumn, NumberColumn } from '../columns/column-buffers.ts';
import type { RowBuffer } from '../columns/row-buffers.ts';
import { StampColumns } from '../columns/row-buffers.ts';
import type { ParquetColumn } from '../export/parquet-file.ts';
import type { Stamped } from '../export/parquet-table.ts';
import { EVENT } from '../export/parquet-table.ts';
import type { RecordedKind } from './recorded-kind.ts';

/** One row per level; an empty book is one row without side, price and size. */
class OrderBookRows implements RowBuffer<OrderBook> {
  readonly #stamp = new StampColumns();
  readonly #marketId = new DictionaryColumn('market_id', 1);
  readonly #side = new DictionaryColumn('side', 2, { nullable: true });
  readonly #price = new NumberColumn('price_micro_usd', 'u32', { nullable: true });
  readonly #size = new NumberColumn('size', 'f64', { nullable: true });
  readonly feed = this.#stamp.feed;
  readonly columns: readonly ColumnBuffer[] = [...this.#stamp.all, this.#marketId, this.#side, this.#price, this.#size];

  rowsOf(book: OrderBook): number {
    return Math.max(1, book.yes.length + book.no.length);
  }

  put(row: number, seq: number, at: Millis, book: OrderBook): void {
    const stamp = { seq, at, receivedAt: book.receivedAt, eventAt: book.eventAt, feed: book.feed };
    let next = row;
    for (const side of ['yes', 'no'] as const) {
      for (const { priceMicroUsd, size } of book[side]) {
        assert(
          (priceMicroUsd >>> 0) === priceMicroUsd,
          `book ${book.marketId}: expected whole micro-dollars, got ${priceMicroUsd}`,
        );
        this.#stamp.put(next, stamp);
        this.#marketId.set(next, book.marketId);
        this.#side.set(next, side);
        this.#price.set(next, priceMicroUsd);
        this.#size.set(next, size);
        next += 1;
      }
    }
    if (next > row) return;
    this.#stamp.put(row, stamp);
    this.#marketId.set(row, book.marketId);
    this.#side.setNull(row);
    this.#price.setNull(row);
    this.#size.setNull(row);
  }
}

interface Numbers {
  readonly values: ArrayLike<number>;
  readonly valid: Bitmap;
}

/** Blocks of order books, with one row for each level. A batch holds complete books. */
class OrderBookBlock implements Block<'order-book'> {
  readonly kind = 'order-book';
  length: number;
  readonly #stamps: Stamps;
  readonly #marketId: CodedTexts;
  readonly #side: CodedTexts;
  readonly #price: Numbers;
  readonly #size: Numbers;
  /** The first row of each book, and the end of the last. */
  readonly #starts: number[] = [];

  constructor(columns: Columns) {
    this.#stamps = readStamps(columns);
    this.#marketId = columns.coded('market_id');
    this.#side = columns.coded('side');
    this.#price = columns.numbers('price_micro_usd', Uint32Array);
    this.#size = columns.numbers('size', Float64Array);
    const { values } = this.#stamps.seq;
    for (let row = 0; row < values.length; row++) {
      if (row === 0 || values[row] !== values[row - 1]) this.#starts.push(row);
    }
    this.length = this.#starts.length;
    this.#starts.push(values.length);
  }

  seqAt(index: number): number {
    return seqOf(this.#stamps, this.#starts[index]!);
  }

  timeAt(index: number): Millis {
    return timeOf(this.#stamps, this.#starts[index]!);
  }

  inputAt(index: number): OrderBook {
    const first = this.#starts[index]!;
    const end = this.#starts[index + 1]!;
    const levels: { yes: BookLevel[]; no: BookLevel[] } = { yes: [], no: [] };
    for (let row = first; row < end; row++) {
      const priceMicroUsd = numberAt(this.#price, row);
      const size = numberAt(this.#size, row);
      if (priceMicroUsd === undefined || size === undefined || !isSet(this.#side.valid, row)) continue;
      levels[textAt(this.#side, row) === 'yes' ? 'yes' : 'no'].push({ priceMicroUsd, size });
    }
    return {
      kind: 'order-book', ...eventBase(this.#stamps, first), marketId: textAt(this.#marketId, first), ...levels,
    };
  }

  endAt(lastSeq: number): void {
    this.length = lengthUntil(this, lastSeq);
  }
}

/** One level of a book; a book without levels is one row without a side. */
interface LevelRow extends Stamped<OrderBook> {
  readonly side?: BookSide | undefined;
  readonly level?: BookLevel | undefined;
}

const COLUMNS: readonly ParquetColumn<LevelRow>[] = [
  ...EVENT,
  { name: 'market_id', as: 'text', of: ({ input }) => input.marketId },
  { name: 'side', as: 'text', optional: true, of: ({ side }) => side },
  { name: 'price_micro_usd', as: 'signed', optional: true, of: ({ level }) =>
    (level === undefined ? undefined : BigInt(level.priceMicroUsd)) },
  { name: 'size', as: 'double', optional: true, of: ({ level }) => level?.size },
];

function levelRows({ seq, at, input }: Stamped<OrderBook>): readonly LevelRow[] {
  const rows = (['yes', 'no'] as const)
    .flatMap((side) => input[side].map((level): LevelRow => ({ seq, at, input, side, level })));
  return rows.length > 0 ? rows : [{ seq, at, input }];
}

/** Returns the levels that no market has. */
function implausible({ feed, yes, no }: OrderBook): readonly string[] {
  const odd = [...yes, ...no]
    .find(({ priceMicroUsd, size }) => !(priceMicroUsd <= ONE_USD && size >= 0 && size < Infinity));
  return odd === undefined ? [] : [`${odd.size} contracts at ${odd.priceMicroUsd} micro-dollars in ${feed}`];
}

/** Order books. */
export const ORDER_BOOK: RecordedKind<'order-book', LevelRow> = {
  createRows: () => new OrderBookRows(),
  read: (columns) => new OrderBookBlock(columns),
  parquet: { columns: COLUMNS, rowsOf: levelRows },
  check: { implausible },
};
