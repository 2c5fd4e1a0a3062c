import { parseJson } from '../../core/json.ts';
import type { Millis } from '../../core/time.ts';
import type { FeedHealth } from '../../market/event.ts';
import type { BookLevel, OrderBook } from '../../market/order-book.ts';
import type { TokenStatName, TokenStats } from '../../market/token-stats.ts';
import { TOKEN_STAT_NAMES } from '../../market/token-stats.ts';
import type { Mint } from '../../market/token.ts';
import type { Command } from '../../trading/engine-command.ts';
import { readOutcome } from '../../trading/intent.ts';
import type { InputByKind, RecordingKind } from '../format.ts';
import type { Bitmap, CodedTexts, Columns } from './batch-columns.ts';
import { isSet } from './batch-columns.ts';
import type { Block, StampColumns } from './block.ts';
import { eventBase, lengthUntil, numberAt, readStamps, seqOf, textAt, timeOf } from './block.ts';
import { readQuotes } from './quote-block.ts';

interface Numbers {
  readonly values: ArrayLike<number>;
  readonly valid: Bitmap;
}

/** Blocks of kinds with one row for each input. */
class RowBlock<K extends RecordingKind> implements Block<K> {
  readonly kind: K;
  length: number;
  readonly #stamps: StampColumns;
  readonly #decode: (row: number) => InputByKind[K];

  constructor(kind: K, stamps: StampColumns, decode: (row: number) => InputByKind[K]) {
    this.kind = kind;
    this.length = stamps.stampLagMs.length;
    this.#stamps = stamps;
    this.#decode = decode;
  }

  seqAt(index: number): number {
    return seqOf(this.#stamps, index);
  }

  timeAt(index: number): Millis {
    return timeOf(this.#stamps, index);
  }

  inputAt(index: number): InputByKind[K] {
    return this.#decode(index);
  }

  endAt(lastSeq: number): void {
    this.length = lengthUntil(this, lastSeq);
  }
}

/** Blocks of order books, with one row for each level. A batch holds complete books. */
class OrderBookBlock implements Block<'order-book'> {
  readonly kind = 'order-book';
  length: number;
  readonly #stamps: StampColumns;
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

function readTokenStats(columns: Columns): Block<'token-stats'> {
  const stamps = readStamps(columns);
  const mints = columns.coded('mint');
  const numbers = TOKEN_STAT_NAMES.map((name) => ({ name, ...columns.numbers(name, Float64Array) }));
  return new RowBlock('token-stats', stamps, (row): TokenStats => {
    const values: { [name in TokenStatName]?: number } = {};
    for (const { name, values: column, valid } of numbers) {
      if (isSet(valid, row)) values[name] = column[row]!;
    }
    return { kind: 'token-stats', ...eventBase(stamps, row), mint: textAt(mints, row) as Mint, values };
  });
}

function readFeedHealth(columns: Columns): Block<'feed-health'> {
  const stamps = readStamps(columns);
  const texts = columns.texts('json');
  return new RowBlock('feed-health', stamps, (row) => (
    {
      kind: 'feed-health', ...eventBase(stamps, row),
      ...(parseJson(texts[row]!) as unknown as Omit<FeedHealth, 'kind' | 'feed' | 'receivedAt'>),
    }
  ));
}

function readJsonRows<K extends 'outcome'
    | 'command'>(kind: K, columns: Columns, decode: (text: string) => InputByKind[K]): Block<K> {
  const texts = columns.texts('json');
  return new RowBlock<K>(kind, readStamps(columns), (row) => decode(texts[row]!));
}

/** The reader of each kind: returns the open batch as a block. */
export const BLOCK_READERS: { readonly [K in RecordingKind]: (columns: Columns) => Block<K> } = {
  'quote': readQuotes,
  'order-book': (columns) => new OrderBookBlock(columns),
  'token-stats': readTokenStats,
  'feed-health': readFeedHealth,
  'outcome': (columns) => readJsonRows('outcome', columns, readOutcome),
  'command': (columns) => readJsonRows('command', columns, readCommand),
};

/** Returns the command in a JSON text. */
function readCommand(text: string): Command {
  const command = JSON.parse(text) as Command;
  // The oldest recordings lack the start of a clock jump; it was then the time before.
  return command.name === 'leap-time' ? { ...command, from: command.from ?? 0 } : command;
}
