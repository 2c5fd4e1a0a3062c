import { parseJson, stringifyJson } from '../../core/json.ts';
import type { Millis } from '../../core/time.ts';
import type { FeedHealth } from '../../market/event.ts';
import type { Columns } from '../columns/batch-columns.ts';
import type { Block } from '../columns/block.ts';
import { eventBase, readStamps } from '../columns/block.ts';
import type { ColumnBuffer } from '../columns/column-buffers.ts';
import { TextColumn } from '../columns/column-buffers.ts';
import { RowBlock } from '../columns/row-block.ts';
import type { RowBuffer } from '../columns/row-buffers.ts';
import { StampColumns } from '../columns/row-buffers.ts';
import type { ParquetColumn } from '../export/parquet-file.ts';
import type { Stamped } from '../export/parquet-table.ts';
import { EVENT } from '../export/parquet-table.ts';
import type { RecordedKind } from './recorded-kind.ts';

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

const COLUMNS: readonly ParquetColumn<Stamped<FeedHealth>>[] = [
  ...EVENT,
  { name: 'status', as: 'text', of: ({ input }) => input.status },
  { name: 'code', as: 'text', optional: true, of: ({ input }) => input.code },
  { name: 'message', as: 'text', optional: true, of: ({ input }) => input.message },
  { name: 'consecutive_failures', as: 'signed', of: ({ input }) => BigInt(input.consecutiveFailures) },
];

/** The reports of feeds about their health. */
export const FEED_HEALTH: RecordedKind<'feed-health', Stamped<FeedHealth>> = {
  createRows: () => new FeedHealthRows(),
  read: readFeedHealth,
  parquet: { columns: COLUMNS, rowsOf: (stamped) => [stamped] },
};
