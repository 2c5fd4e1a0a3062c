import type { Lamports } from '../core/amount.ts';
import type { Millis } from '../core/time.ts';
import type { Mint } from '../market/token.ts';
import type { Fill, IntentPurpose, Outcome } from '../trading/intent.ts';
import { readOutcome } from '../trading/intent.ts';
import type { UsdValue } from '../trading/valuation.ts';
import type { Prepare } from './database.ts';
import type { IntentRow } from './journal-rows.ts';
import type { PackedSwap, ValuesRow } from './packed-swaps.ts';
import { createPackedSwaps } from './packed-swaps.ts';

/** What a landed swap was worth when it landed; undefined where the run did not know it. */
export interface FillValues {
  /** Whether it was a manual swap, outside all strategies. */
  readonly isManual: boolean;
  /** The token of its strategy's budget. */
  readonly currency: Mint | undefined;
  /** The network's costs in that token. */
  readonly feeValue: bigint | undefined;
  readonly input: UsdValue | undefined;
  readonly output: UsdValue | undefined;
  /** The network's costs in 10^-6 US dollars. */
  readonly feeUsd: bigint | undefined;
}

/** An ended swap that moved or cost something. */
export interface SettledSwap {
  /** Its place among all of the journal. */
  readonly number: number;
  /** When its end was journalled. */
  readonly at: Millis;
  readonly intentId: string;
  readonly strategy: string;
  readonly purpose: IntentPurpose;
  readonly reason: string;
  readonly inputMint: Mint;
  readonly outputMint: Mint;
  /** Undefined where nothing was swapped: only fees were paid. */
  readonly fill: Fill | undefined;
  /** Of all attempts, tips included. */
  readonly feeLamports: Lamports;
  readonly signature: string | undefined;
  /** Undefined where it landed before such values were kept, or while no run was there. */
  readonly values: FillValues | undefined;
}

/** Where the books began again: swaps up to this number belong to the books before. */
export interface LedgerStart {
  readonly at: Millis;
  readonly afterNumber: number;
}

/** Ended swaps with their values; each function works within the transaction of the caller. */
interface FillRecords {
  putValues(intentId: string, values: FillValues): void;
  beginLedger(at: Millis): void;
  /** Oldest first; those with a higher number than `after`, at most `limit` of those that ended. */
  settled(options: { readonly after: number; readonly limit: number }): SettledSwaps;
  ledgerStarts(): LedgerStart[];
}

/** A part of the ended swaps, and where the next part begins. */
export interface SettledSwaps {
  readonly swaps: readonly SettledSwap[];
  /** The number to go on after; undefined where there are no more. */
  readonly next: number | undefined;
}

type SettledRow = IntentRow & ValuesRow & {
  readonly transition: number; readonly at: number; readonly outcome: string;
};

/**
 * Returns the part of the journal that holds what profit is computed from. `hasValues` is false before format 7,
 * `hasPacked` before format 8.
 */
export function createFillRecords(prepare: Prepare, { hasValues = true, hasPacked = true } = {}): FillRecords {
  const settledStatement = `
    SELECT ${hasValues ? 'fill_values.*, ' : ''}intents.*, transitions.number AS transition, transitions.at,
      transitions.outcome
    FROM transitions JOIN intents ON intents.intent_id = transitions.intent_id
    ${hasValues ? 'LEFT JOIN fill_values ON fill_values.intent_id = transitions.intent_id' : ''}
    WHERE transitions.number > ? AND transitions.number <= ?
      AND transitions.state IN ('confirmed', 'failed', 'expired', 'abandoned')
    ORDER BY transitions.number LIMIT ?`;
  return {
    putValues: (intentId, { isManual, currency, feeValue, input, output, feeUsd }) => {
      prepare('INSERT OR REPLACE INTO fill_values VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)').run(
        intentId, isManual ? 1 : 0, currency ?? null, textOf(feeValue), textOf(input?.microUsd),
        input?.source ?? null, textOf(output?.microUsd), output?.source ?? null, textOf(feeUsd),
      );
    },
    beginLedger: (at) => {
      prepare(`INSERT INTO ledger_starts (at, after_transition)
        VALUES (?, (SELECT coalesce(max(number), 0) FROM transitions))`).run(at);
    },
    settled: ({ after, limit }) => {
      const packed = hasPacked ? createPackedSwaps(prepare).after({ after, limit }) : { swaps: [], until: Infinity };
      const until = Math.min(packed.until, Number.MAX_SAFE_INTEGER);
      const live = prepare(settledStatement).all(after, until, limit) as unknown as SettledRow[];
      const rows = packed.swaps.length === 0 ? live : [...packed.swaps.map(rowOf), ...live]
        .sort((a, b) => a.transition - b.transition).slice(0, limit);
      return {
        swaps: rows.flatMap((row) => settledOf(row, readOutcome(row.outcome))),
        next: rows.length < limit ? undefined : rows.at(-1)!.transition,
      };
    },
    ledgerStarts: () => (!hasValues ? [] : prepare('SELECT at, after_transition FROM ledger_starts ORDER BY number')
      .all().map((row) => ({ at: Number(row['at']), afterNumber: Number(row['after_transition']) }))),
  };
}

function rowOf({ intent, transition, at, outcome, values }: PackedSwap): SettledRow {
  return { ...values, ...intent, transition, at, outcome } as SettledRow;
}

function settledOf(row: SettledRow, { fill, feeLamports, signature }: Outcome): SettledSwap[] {
  const fee = fill?.feeLamports ?? feeLamports ?? 0n as Lamports;
  if (fill === undefined && fee === 0n) return [];
  return [{
    number: row.transition, at: row.at, intentId: row.intent_id, strategy: row.strategy,
    purpose: row.purpose as IntentPurpose, reason: row.reason, inputMint: row.input_mint as Mint,
    outputMint: row.output_mint as Mint, fill, feeLamports: fee, signature, values: valuesOf(row),
  }];
}

function valuesOf(row: ValuesRow): FillValues | undefined {
  if (typeof row['is_manual'] !== 'number') return undefined;
  const usd = (side: 'input' | 'output'): UsdValue | undefined => {
    const microUsd = bigintOf(row[`${side}_usd`]);
    return microUsd === undefined ? undefined : { microUsd, source: row[`${side}_source`] as UsdValue['source'] };
  };
  return {
    isManual: row['is_manual'] === 1, currency: (row['currency'] ?? undefined) as Mint | undefined,
    feeValue: bigintOf(row['fee_value']), input: usd('input'), output: usd('output'), feeUsd: bigintOf(row['fee_usd']),
  };
}

function textOf(value: bigint | undefined): string | null {
  return value?.toString() ?? null;
}

function bigintOf(value: string | number | null | undefined): bigint | undefined {
  return typeof value === 'string' ? BigInt(value) : undefined;
}
