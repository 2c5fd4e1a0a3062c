import type { Millis } from '../../core/time.ts';
import type { TokenStatName, TokenStats } from '../../market/token-stats.ts';
import { TOKEN_STAT_NAMES } from '../../market/token-stats.ts';
import type { Mint } from '../../market/token.ts';
import type { Columns } from '../columns/batch-columns.ts';
import { isSet } from '../columns/batch-columns.ts';
import type { Block } from '../columns/block.ts';
import { eventBase, readStamps, textAt } from '../columns/block.ts';
import type { ColumnBuffer } from '../columns/column-buffers.ts';
import { DictionaryColumn, NumberColumn } from '../columns/column-buffers.ts';
import { RowBlock } from '../columns/row-block.ts';
import type { RowBuffer } from '../columns/row-buffers.ts';
import { StampColumns } from '../columns/row-buffers.ts';
import type { ParquetColumn } from '../export/parquet-file.ts';
import type { Stamped } from '../export/parquet-table.ts';
import { EVENT } from '../export/parquet-table.ts';
import type { RecordedKind } from './recorded-kind.ts';

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

const COLUMNS: readonly ParquetColumn<Stamped<TokenStats>>[] = [
  ...EVENT,
  { name: 'mint', as: 'text', of: ({ input }) => input.mint },
  ...TOKEN_STAT_NAMES.map((name): ParquetColumn<Stamped<TokenStats>> =>
    ({ name: statColumnName(name), as: 'double', optional: true, of: ({ input }) => input.values[name] })),
];

/**
 * Returns the column of a statistic: `usd_price` for usdPrice, `buy_volume_5m` for 5m.buyVolume. A dot would be a path
 * in Parquet.
 */
export function statColumnName(name: TokenStatName): string {
  const [window, field] = name.includes('.') ? name.split('.') as [string, string] : [undefined, name];
  const column = field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return window === undefined ? column : `${column}_${window}`;
}

function implausible({ feed, values }: TokenStats): readonly string[] {
  const odd = Object.entries(values).filter(([, value]) => !Number.isFinite(value));
  const { usdPrice } = values;
  if (usdPrice !== undefined && Number.isFinite(usdPrice) && usdPrice < 0) odd.push(['usdPrice', usdPrice]);
  return odd.map(([name, value]) => `${name} of ${value} in ${feed}`);
}

/** The statistics of tokens. */
export const TOKEN_STATS: RecordedKind<'token-stats', Stamped<TokenStats>> = {
  createRows: () => new TokenStatsRows(),
  read: readTokenStats,
  parquet: { columns: COLUMNS, rowsOf: (stamped) => [stamped] },
  check: {
    implausible,
    // The service gives 0 for a token without trades.
    price: ({ values: { usdPrice = 0 } }) => (usdPrice > 0 && usdPrice < Infinity ? usdPrice : undefined),
  },
};
