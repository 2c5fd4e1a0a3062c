import { documentText, readDocument } from '../../core/document.ts';
import { GannetError, messageOf } from '../../core/errors.ts';
import { stringifyJson } from '../../core/json.ts';
import type { Millis } from '../../core/time.ts';
import type { FeedEvent, FeedKindName } from '../../market/feeds/registry.ts';
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
import type { InputByKind } from '../format.ts';
import { scalarColumns } from './document-columns.ts';
import type { RecordedKind } from './recorded-kind.ts';

/** One row each: the stamp and the feed in columns, all other members as one JSON text. */
class DocumentRows implements RowBuffer<FeedEvent> {
  readonly #stamp = new StampColumns();
  readonly #json = new TextColumn('json');
  readonly feed = this.#stamp.feed;
  readonly columns: readonly ColumnBuffer[] = [...this.#stamp.all, this.#json];

  rowsOf(): number {
    return 1;
  }

  put(row: number, seq: number, at: Millis, event: FeedEvent): void {
    const { feed, receivedAt, eventAt } = event;
    this.#stamp.put(row, { seq, at, receivedAt, eventAt, feed });
    this.#json.set(row, documentText(bodyOf(event)));
  }
}

/** Returns what is not in columns. */
function bodyOf(event: FeedEvent): object {
  const { kind: _kind, feed: _feed, receivedAt: _receivedAt, eventAt: _eventAt, ...body } = event;
  return body;
}

function readDocuments<K extends FeedKindName>(kind: K, columns: Columns): Block<K> {
  const stamps = readStamps(columns);
  const texts = columns.texts('json');
  return new RowBlock(kind, stamps, (row) =>
    ({ kind, ...eventBase(stamps, row), ...bodyIn(texts[row]!) }) as unknown as InputByKind[K]);
}

function bodyIn(text: string): object {
  try {
    return readDocument(text) as object;
  } catch (cause) {
    throw new GannetError('RECORDING_CORRUPT', `expected a JSON document, found none: ${messageOf(cause)}`, { cause });
  }
}

const JSON_COLUMN: ParquetColumn<Stamped<FeedEvent>> =
  { name: 'json', as: 'text', of: ({ input }) => stringifyJson(bodyOf(input)) };

/** Returns how a kind without columns of its own is recorded: as documents. */
export function documentKind<K extends FeedKindName>(kind: K): RecordedKind<K, Stamped<InputByKind[K]>> {
  return {
    createRows: () => new DocumentRows(),
    read: (columns) => readDocuments(kind, columns),
    parquet: { columns: [...EVENT, ...scalarColumns(kind), JSON_COLUMN], rowsOf: (stamped) => [stamped] },
    check: { implausible: () => [] },
  };
}
