import { parseJson } from '../../src/core/json.ts';
import type { TokenStatName } from '../../src/market/token-stats.ts';
import { STATS_WINDOWS, TOKEN_STAT_NAMES } from '../../src/market/token-stats.ts';
import type { RecordingKind } from '../../src/recording/format.ts';
import type { PlainStamped } from './arbitrary-inputs.ts';
import type { ParquetRow } from './parquet-readers.ts';

type Members = Readonly<Record<string, unknown>>;

/**
 * Returns the inputs that rows of a kind's table stand for, as plain data: all that a Parquet file holds, turned back
 * by other code than wrote it.
 */
export function inputsIn(kind: RecordingKind, rows: readonly ParquetRow[]): PlainStamped[] {
  const groups = kind === 'order-book' ? [...Map.groupBy(rows, ({ seq }) => seq).values()] : rows.map((row) => [row]);
  return groups.map((own) => ({
    seq: Number(own[0]!['seq']), at: own[0]!['stamped_at'] as number,
    input: known({ kind, ...(READERS[kind] ?? documentOf)(own[0]!, own) }),
  }));
}

const READERS: { readonly [K in RecordingKind]?: (row: ParquetRow, all: readonly ParquetRow[]) => Members } = {
  'quote': (row) => ({
    ...event(row), inputMint: row['input_mint'], outputMint: row['output_mint'], inAmount: row['in_amount'],
    outAmount: row['out_amount'], threshold: row['threshold'], priceImpact: row['price_impact'],
    contextSlot: row['context_slot'], router: row['router'], feeBps: Number(row['fee_bps']),
    rate: Number(row['out_amount']) / Number(row['in_amount']),
  }),
  'order-book': (row, all) =>
    ({ ...event(row), marketId: row['market_id'], yes: levels(all, 'yes'), no: levels(all, 'no') }),
  'token-stats': (row) => ({
    ...event(row), mint: row['mint'],
    values: known(Object.fromEntries(TOKEN_STAT_NAMES.map((name) => [name, row[columnOf(name)]]))),
  }),
  'feed-health': (row) => ({
    ...event(row), status: row['status'], code: row['code'], message: row['message'],
    consecutiveFailures: Number(row['consecutive_failures']),
  }),
  'outcome': (row) => ({
    intentId: row['intent_id'], attempt: Number(row['attempt']), state: row['state'], router: row['router'],
    quotedOut: row['quoted_out'], signature: row['signature'], messageHash: row['message_hash'],
    lastValidBlockHeight: row['last_valid_block_height'], feePayer: row['fee_payer'], code: row['code'],
    reason: row['reason'], ended: row['ended'], feeLamports: row['fee_lamports'], slot: row['slot'],
    fill: row['fill_input_mint'] === null ? null : {
      inputMint: row['fill_input_mint'], outputMint: row['fill_output_mint'], amountIn: row['fill_amount_in'],
      amountOut: row['fill_amount_out'], feeLamports: row['fill_fee_lamports'], rentLamports: row['fill_rent_lamports'],
    },
  }),
  'command': (row) => {
    const command = parseJson(String(row['json'])) as Members;
    return { ...command, name: row['name'], reason: row['reason'] };
  },
};

/** Returns a value with bigints as decimal text, as in the JSON of a table. */
export function withDecimals<T>(value: T): T {
  return JSON.parse(JSON.stringify(value, (_key, member: unknown) =>
    (typeof member === 'bigint' ? member.toString() : member))) as T;
}

/** Every other kind. */
function documentOf(row: ParquetRow): Members {
  return { ...event(row), ...JSON.parse(String(row['json'])) as Members };
}

function event(row: ParquetRow): Members {
  return { feed: row['feed'], receivedAt: row['received_at'], eventAt: row['event_at'] };
}

function levels(rows: readonly ParquetRow[], side: string): Members[] {
  return rows.filter((row) => row['side'] === side)
    .map((row) => ({ priceMicroUsd: Number(row['price_micro_usd']), size: row['size'] }));
}

function columnOf(name: TokenStatName): string {
  const window = STATS_WINDOWS.find((prefix) => name.startsWith(`${prefix}.`));
  const words = (window === undefined ? name : name.slice(window.length + 1)).split(/(?=[A-Z])/)
    .map((word) => word.toLowerCase());
  return [...words, ...(window === undefined ? [] : [window])].join('_');
}

function known(members: Members): Members {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null && value !== undefined));
}
