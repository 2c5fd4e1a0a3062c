import { formatDecimal } from '../core/amount.ts';
import { printable } from '../core/text.ts';
import type { Millis } from '../core/time.ts';
import { symbolOf } from '../market/market-text.ts';
import type { Mint, TokenTable } from '../market/token.ts';
import { SOL_MINT } from '../market/token.ts';
import type { WalletAdjustmentRecord } from '../store/journal-records.ts';
import { moneyOf } from './figures.ts';
import type { Booked } from './ledger.ts';
import { usdSourceOf } from './ledger.ts';

const USD_DECIMALS = 6;

/** The columns of the file for a tax return. */
const COLUMNS = [
  'time', 'type', 'strategy', 'token', 'mint', 'quantity', 'acquired_at', 'proceeds_usd', 'cost_usd', 'gain_usd',
  'fee_usd', 'fee_sol', 'usd_source', 'swap', 'signature', 'note',
] as const;
type TaxRow = Readonly<Partial<Record<(typeof COLUMNS)[number], string>>>;

/**
 * Returns every acquisition and disposal for a tax return, in the order of time: values in US dollars, costs by FIFO,
 * one row for each part of a lot that was disposed of. What is unknown is empty.
 */
export function taxCsv(
  booked: readonly Booked[], adjustments: readonly WalletAdjustmentRecord[], tokens: TokenTable,
): string {
  const rows = [
    ...booked.map((each) => ({ at: each.swap.at, rows: swapRows(each, tokens) })),
    ...adjustments.map((each) => ({ at: each.at, rows: [adjustmentRow(each, tokens)] })),
  ].toSorted((a, b) => a.at - b.at).flatMap((each) => each.rows);
  return csvText([COLUMNS, ...rows.map((row) => COLUMNS.map((column) => row[column] ?? ''))]);
}

function swapRows({ swap, book, disposals, acquisition }: Booked, tokens: TokenTable): TaxRow[] {
  const own = {
    time: timeOf(swap.at), strategy: book, usd_source: usdSourceOf(swap) ?? '', swap: swap.intentId,
    signature: swap.signature ?? '', note: swap.reason,
  };
  const rows: TaxRow[] = disposals.map(({ mint, piece, proceeds }) => ({
    ...own, ...tokenOf(mint, piece.quantity, tokens), type: 'disposal',
    acquired_at: piece.lot?.intentId === undefined ? '' : timeOf(piece.lot.at), proceeds_usd: usd(proceeds),
    cost_usd: usd(piece.cost.usd),
    gain_usd: usd(proceeds === undefined || piece.cost.usd === undefined ? undefined : proceeds - piece.cost.usd),
  }));
  if (acquisition !== undefined) rows.push({
    ...own, ...tokenOf(acquisition.mint, acquisition.quantity, tokens), type: 'acquisition',
    acquired_at: timeOf(swap.at), cost_usd: usd(acquisition.usd),
  });
  if (swap.feeLamports > 0n) rows.push({
    ...own, ...tokenOf(SOL_MINT, swap.feeLamports, tokens), type: 'fee', usd_source: '',
    fee_usd: usd(swap.values?.feeUsd), fee_sol: moneyOf(tokens, SOL_MINT, swap.feeLamports).text,
  });
  const rent = swap.fill?.rentLamports ?? 0n;
  if (rent !== 0n) rows.push({
    ...own, ...tokenOf(SOL_MINT, rent < 0n ? -rent : rent, tokens), usd_source: '',
    type: rent > 0n ? 'rent paid' : 'rent returned',
  });
  return rows;
}

function adjustmentRow({ at, mint, change, cause, reason }: WalletAdjustmentRecord, tokens: TokenTable): TaxRow {
  const size = BigInt(change);
  return {
    time: timeOf(at), type: cause === 'mismatch' ? `mismatch ${size < 0n ? 'out' : 'in'}` : cause,
    ...tokenOf(mint, size < 0n ? -size : size, tokens), note: reason,
  };
}

function tokenOf(mint: Mint, quantity: bigint, tokens: TokenTable): TaxRow {
  return { token: symbolOf(tokens, mint), mint, quantity: moneyOf(tokens, mint, quantity).text };
}

function usd(value: bigint | undefined): string {
  return value === undefined ? '' : formatDecimal(value, USD_DECIMALS);
}

/** Returns an instant in ISO 8601, UTC. */
export function timeOf(at: Millis): string {
  return new Date(at).toISOString();
}

/** Returns rows as CSV. A spreadsheet takes no cell for a formula, and control characters are escaped. */
export function csvText(rows: readonly (readonly string[])[]): string {
  return rows.map((row) => `${row.map(csvCell).join(',')}\r\n`).join('');
}

const CELL_MOST = 2_000;

function csvCell(text: string): string {
  const safe = printable(text, CELL_MOST);
  const isNumber = /^-?\d+(?:\.\d+)?$/.test(safe);
  const harmless = /^[=+\-@]/.test(safe) && !isNumber ? `'${safe}` : safe;
  return /[",]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
