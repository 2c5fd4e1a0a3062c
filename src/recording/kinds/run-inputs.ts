import { stringifyJson } from '../../core/json.ts';
import type { Millis } from '../../core/time.ts';
import type { Command } from '../../trading/engine-command.ts';
import type { Outcome } from '../../trading/intent.ts';
import { readOutcome } from '../../trading/intent.ts';
import type { Columns } from '../columns/batch-columns.ts';
import type { Block } from '../columns/block.ts';
import { readStamps } from '../columns/block.ts';
import type { ColumnBuffer } from '../columns/column-buffers.ts';
import { TextColumn } from '../columns/column-buffers.ts';
import { RowBlock } from '../columns/row-block.ts';
import type { RowBuffer } from '../columns/row-buffers.ts';
import { StampColumns } from '../columns/row-buffers.ts';
import type { ParquetColumn } from '../export/parquet-file.ts';
import type { Stamped } from '../export/parquet-table.ts';
import { STAMP } from '../export/parquet-table.ts';
import type { InputByKind } from '../format.ts';
import type { RecordedKind } from './recorded-kind.ts';

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

function readJsonRows<K extends 'outcome'
    | 'command'>(kind: K, columns: Columns, decode: (text: string) => InputByKind[K]): Block<K> {
  const texts = columns.texts('json');
  return new RowBlock<K>(kind, readStamps(columns), (row) => decode(texts[row]!));
}

/** Returns the command in a JSON text. */
function readCommand(text: string): Command {
  const command = JSON.parse(text) as Command;
  // The oldest recordings lack the start of a clock jump; it was then the time before.
  return command.name === 'leap-time' ? { ...command, from: command.from ?? 0 } : command;
}

const OUTCOME_COLUMNS: readonly ParquetColumn<Stamped<Outcome>>[] = [
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
const COMMAND_COLUMNS: readonly ParquetColumn<Stamped<Command>>[] = [
  ...STAMP,
  { name: 'name', as: 'text', of: ({ input }) => input.name },
  { name: 'reason', as: 'text', of: ({ input }) => input.reason },
  { name: 'json', as: 'text', of: ({ input }) => stringifyJson(input) },
];

/** The outcomes of swaps. */
export const OUTCOME: RecordedKind<'outcome', Stamped<Outcome>> = {
  createRows: () => new JsonRows(),
  read: (columns) => readJsonRows('outcome', columns, readOutcome),
  parquet: { columns: OUTCOME_COLUMNS, rowsOf: (stamped) => [stamped] },
};

/** The commands of operators and of the daemon. */
export const COMMAND: RecordedKind<'command', Stamped<Command>> = {
  createRows: () => new JsonRows(),
  read: (columns) => readJsonRows('command', columns, readCommand),
  parquet: { columns: COMMAND_COLUMNS, rowsOf: (stamped) => [stamped] },
};
