import { stringifyJson } from '../../core/json.ts';
import type { Millis } from '../../core/time.ts';
import type { FeedHealth, MarketEventBase } from '../../market/event.ts';
import type { BookLevel, BookSide, OrderBook } from '../../market/order-book.ts';
import type { Quote } from '../../market/quote.ts';
import type { TokenStatName, TokenStats } from '../../market/token-stats.ts';
import { TOKEN_STAT_NAMES } from '../../market/token-stats.ts';
import type { Command } from '../../trading/engine-command.ts';
import type { Outcome } from '../../trading/intent.ts';
import type { InputByKind, RecordingKind } from '../format.ts';
import type { ParquetColumn } from './parquet-file.ts';

/** An input with its stamp. */
interface Stamped<T> {
  readonly seq: number;
  readonly at: Millis;
  readonly input: T;
}

/** The table of a kind. */
export interface ParquetTable<T = InputByKind[RecordingKind], Row = Stamped<T>> {
  readonly columns: readonly ParquetColumn<Row>[];
  /** Returns the rows of an input, one or more. */
  rowsOf(stamped: Stamped<T>): readonly Row[];
}

/** One level of a book; a book without levels is one row without a side. */
interface LevelRow extends Stamped<OrderBook> {
  readonly side?: BookSide | undefined;
  readonly level?: BookLevel | undefined;
}

const STAMP: readonly ParquetColumn<Stamped<unknown>>[] = [
  { name: 'seq', as: 'signed', of: ({ seq }) => BigInt(seq) },
  { name: 'stamped_at', as: 'time', of: ({ at }) => at },
];

const EVENT: readonly ParquetColumn<Stamped<MarketEventBase>>[] = [
  ...STAMP,
  { name: 'received_at', as: 'time', of: ({ input }) => input.receivedAt },
  { name: 'event_at', as: 'time', optional: true, of: ({ input }) => input.eventAt },
  { name: 'feed', as: 'text', of: ({ input }) => input.feed },
];

const QUOTE: readonly ParquetColumn<Stamped<Quote>>[] = [
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

const ORDER_BOOK: readonly ParquetColumn<LevelRow>[] = [
  ...EVENT,
  { name: 'market_id', as: 'text', of: ({ input }) => input.marketId },
  { name: 'side', as: 'text', optional: true, of: ({ side }) => side },
  { name: 'price_micro_usd', as: 'signed', optional: true, of: ({ level }) =>
    (level === undefined ? undefined : BigInt(level.priceMicroUsd)) },
  { name: 'size', as: 'double', optional: true, of: ({ level }) => level?.size },
];

const TOKEN_STATS: readonly ParquetColumn<Stamped<TokenStats>>[] = [
  ...EVENT,
  { name: 'mint', as: 'text', of: ({ input }) => input.mint },
  ...TOKEN_STAT_NAMES.map((name): ParquetColumn<Stamped<TokenStats>> =>
    ({ name: statColumnName(name), as: 'double', optional: true, of: ({ input }) => input.values[name] })),
];

const FEED_HEALTH: readonly ParquetColumn<Stamped<FeedHealth>>[] = [
  ...EVENT,
  { name: 'status', as: 'text', of: ({ input }) => input.status },
  { name: 'code', as: 'text', optional: true, of: ({ input }) => input.code },
  { name: 'message', as: 'text', optional: true, of: ({ input }) => input.message },
  { name: 'consecutive_failures', as: 'signed', of: ({ input }) => BigInt(input.consecutiveFailures) },
];

const OUTCOME: readonly ParquetColumn<Stamped<Outcome>>[] = [
  ...STAMP,
  { name: 'intent_id', as: 'text', of: ({ input }) => input.intentId },
  { name: 'attempt', as: 'signed', of: ({ input }) => BigInt(input.attempt) },
  { name: 'state', as: 'text', of: ({ input }) => input.state },
  { name: 'router', as: 'text', optional: true, of: ({ input }) => input.router },
  { name: 'quoted_out', as: 'unsigned', optional: true, of: ({ input }) => input.quotedOut },
  { name: 'signature', as: 'text', optional: true, of: ({ input }) => input.signature },
  { name: 'message_hash', as: 'text', optional: true, of: ({ input }) => input.messageHash },
  { name: 'last_valid_block_height', as: 'unsigned', optional: true, of: ({ input }) => input.lastValidBlockHeight },
  { name: 'fee_payer', as: 'text', optional: true, of: ({ input }) => input.feePayer },
  { name: 'code', as: 'text', optional: true, of: ({ input }) => input.code },
  { name: 'reason', as: 'text', optional: true, of: ({ input }) => input.reason },
  { name: 'ended', as: 'text', optional: true, of: ({ input }) => input.ended },
  { name: 'fee_lamports', as: 'unsigned', optional: true, of: ({ input }) => input.feeLamports },
  { name: 'slot', as: 'unsigned', optional: true, of: ({ input }) => input.slot },
  { name: 'fill_input_mint', as: 'text', optional: true, of: ({ input }) => input.fill?.inputMint },
  { name: 'fill_output_mint', as: 'text', optional: true, of: ({ input }) => input.fill?.outputMint },
  { name: 'fill_amount_in', as: 'unsigned', optional: true, of: ({ input }) => input.fill?.amountIn },
  { name: 'fill_amount_out', as: 'unsigned', optional: true, of: ({ input }) => input.fill?.amountOut },
  { name: 'fill_fee_lamports', as: 'unsigned', optional: true, of: ({ input }) => input.fill?.feeLamports },
  // Negative where deposits were returned.
  { name: 'fill_rent_lamports', as: 'signed', optional: true, of: ({ input }) => input.fill?.rentLamports },
];

/** Commands have different fields: all of them are in the JSON text. */
const COMMAND: readonly ParquetColumn<Stamped<Command>>[] = [
  ...STAMP,
  { name: 'name', as: 'text', of: ({ input }) => input.name },
  { name: 'reason', as: 'text', of: ({ input }) => input.reason },
  { name: 'json', as: 'text', of: ({ input }) => stringifyJson(input) },
];

/** The table of each kind. */
export const PARQUET_TABLES: { readonly [K in RecordingKind]: K extends 'order-book' ? ParquetTable<OrderBook, LevelRow>
    : ParquetTable<InputByKind[K]> } = {
  'quote': { columns: QUOTE, rowsOf: (stamped) => [stamped] },
  'order-book': { columns: ORDER_BOOK, rowsOf: levelRows },
  'token-stats': { columns: TOKEN_STATS, rowsOf: (stamped) => [stamped] },
  'feed-health': { columns: FEED_HEALTH, rowsOf: (stamped) => [stamped] },
  'outcome': { columns: OUTCOME, rowsOf: (stamped) => [stamped] },
  'command': { columns: COMMAND, rowsOf: (stamped) => [stamped] },
};

function levelRows({ seq, at, input }: Stamped<OrderBook>): readonly LevelRow[] {
  const rows = (['yes', 'no'] as const)
    .flatMap((side) => input[side].map((level): LevelRow => ({ seq, at, input, side, level })));
  return rows.length > 0 ? rows : [{ seq, at, input }];
}

/**
 * Returns the column of a statistic: `usd_price` for usdPrice, `buy_volume_5m` for 5m.buyVolume. A dot would be a path
 * in Parquet.
 */
function statColumnName(name: TokenStatName): string {
  const [window, field] = name.includes('.') ? name.split('.') as [string, string] : [undefined, name];
  const column = field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return window === undefined ? column : `${column}_${window}`;
}
