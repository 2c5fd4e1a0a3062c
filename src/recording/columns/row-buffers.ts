import type { Data } from 'apache-arrow';
import { Schema } from 'apache-arrow';
import { assert, assertNever } from '../../core/assert.ts';
import { stringifyJson } from '../../core/json.ts';
import type { Millis } from '../../core/time.ts';
import type { FeedHealth } from '../../market/event.ts';
import type { OrderBook } from '../../market/order-book.ts';
import type { Quote } from '../../market/quote.ts';
import type { TokenStats } from '../../market/token-stats.ts';
import { TOKEN_STAT_NAMES } from '../../market/token-stats.ts';
import type { Command } from '../../trading/engine-command.ts';
import type { Outcome } from '../../trading/intent.ts';
import type { InputByKind, RecordingKind } from '../format.ts';
import type { ColumnBuffer } from './column-buffers.ts';
import { DictionaryColumn, NumberColumn, TextColumn, WideColumn } from './column-buffers.ts';

/** The rows of one kind that wait to be written. */
export interface RowBuffer<T = InputByKind[RecordingKind]> {
  readonly columns: readonly ColumnBuffer[];
  readonly feed: DictionaryColumn;
  /** Returns the number of rows of an input. */
  rowsOf(input: T): number;
  /** Writes an input from row `row` on. The caller has made room. */
  put(row: number, seq: number, at: Millis, input: T): void;
}

/** The columns that every row starts with. */
class StampColumns {
  readonly seq = new WideColumn('seq');
  readonly receivedAt = new WideColumn('received_at', { signed: true });
  readonly eventAt = new WideColumn('event_at', { signed: true, nullable: true });
  readonly feed = new DictionaryColumn('feed', 0);
  /** The delay of the stamp after `received_at`, milliseconds: an input may have waited in the queue. */
  readonly stampLag = new NumberColumn('stamp_lag_ms', 'i32');
  readonly all: readonly ColumnBuffer[] = [this.seq, this.receivedAt, this.eventAt, this.feed, this.stampLag];

  put(
    row: number, stamp: { seq: number; at: Millis; receivedAt: Millis; eventAt: Millis | undefined; feed: string },
  ): void {
    this.putStamp(row, stamp.seq, stamp.at, stamp.receivedAt);
    this.putEventAt(row, stamp.eventAt);
    this.feed.set(row, stamp.feed);
  }

  putStamp(row: number, seq: number, at: Millis, receivedAt: Millis): void {
    this.seq.setNumber(row, seq);
    this.receivedAt.setNumber(row, receivedAt);
    const lag = at - receivedAt;
    if ((lag | 0) !== lag || !Number.isSafeInteger(receivedAt)) assert(false, `input ${seq} was received at `
      + `${receivedAt} and stamped ${at}: expected whole milliseconds less than 24 days apart`);
    this.stampLag.set(row, lag);
  }

  putEventAt(row: number, eventAt: Millis | undefined): void {
    if (eventAt === undefined) this.eventAt.setNull(row);
    else this.#putKnownEventAt(row, eventAt);
  }

  #putKnownEventAt(row: number, eventAt: Millis): void {
    if (!Number.isSafeInteger(eventAt)) assert(false, `expected eventAt in whole milliseconds, got ${eventAt}`);
    this.eventAt.setNumber(row, eventAt);
  }
}

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

class TokenStatsRows implements RowBuffer<TokenStats> {
  readonly #stamp = new StampColumns();
  readonly #mint = new DictionaryColumn('mint', 1);
  readonly #values = TOKEN_STAT_NAMES.map((name) => new NumberColumn(name, 'f64', { nullable: true }));
  readonly feed = this.#stamp.feed;
  readonly columns: readonly ColumnBuffer[] = [...this.#stamp.all, this.#mint, ...this.#values];

  rowsOf(): number {
    return 1;
  }

  put(row: number, seq: number, at: Millis, stats: TokenStats): void {
    this.#stamp.put(row, { seq, at, receivedAt: stats.receivedAt, eventAt: stats.eventAt, feed: stats.feed });
    this.#mint.set(row, stats.mint);
    for (const [index, name] of TOKEN_STAT_NAMES.entries()) {
      const value = stats.values[name];
      if (value === undefined) this.#values[index]!.setNull(row);
      else this.#values[index]!.set(row, value);
    }
  }
}

class FeedHealthRows implements RowBuffer<FeedHealth> {
  readonly #stamp = new StampColumns();
  readonly #json = new TextColumn('json');
  readonly feed = this.#stamp.feed;
  readonly columns: readonly ColumnBuffer[] = [...this.#stamp.all, this.#json];

  rowsOf(): number {
    return 1;
  }

  put(row: number, seq: number, at: Millis, health: FeedHealth): void {
    const { feed, receivedAt, eventAt, status, code, message, consecutiveFailures } = health;
    this.#stamp.put(row, { seq, at, receivedAt, eventAt, feed });
    this.#json.set(row, stringifyJson({ status, code, message, consecutiveFailures }));
  }
}

/** Outcomes and commands have no feed; the column holds their kind. */
class JsonRows implements RowBuffer<Outcome | Command> {
  readonly #stamp = new StampColumns();
  readonly #json = new TextColumn('json');
  readonly feed = this.#stamp.feed;
  readonly columns: readonly ColumnBuffer[] = [...this.#stamp.all, this.#json];

  rowsOf(): number {
    return 1;
  }

  put(row: number, seq: number, at: Millis, input: Outcome | Command): void {
    this.#stamp.put(row, { seq, at, receivedAt: at, eventAt: undefined, feed: input.kind });
    this.#json.set(row, stringifyJson(input));
  }
}

/** Returns an empty buffer for the rows of a kind. */
export function createRowBuffer(kind: RecordingKind): RowBuffer {
  switch (kind) {
    case 'quote': return new QuoteRows();
    case 'order-book': return new OrderBookRows();
    case 'token-stats': return new TokenStatsRows();
    case 'feed-health': return new FeedHealthRows();
    case 'outcome': return new JsonRows();
    case 'command': return new JsonRows();
    default: return assertNever(kind, 'recording kind');
  }
}

/** Returns the columns of a kind, in order. */
export function schemaOf(buffer: RowBuffer): Schema {
  return new Schema(buffer.columns.map(({ field }) => field));
}

/** Returns the columns' first `rows` rows. */
export function columnData(buffer: RowBuffer, rows: number): Data[] {
  return buffer.columns.map((column) => column.toData(rows));
}
