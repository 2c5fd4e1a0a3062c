import { assert } from '../core/assert.ts';
import type { Millis } from '../core/time.ts';
import type { Mint } from '../market/token.ts';
import type { AdjustWallet, AdjustmentCause } from '../trading/engine-command.ts';
import type { Prepare } from './database.ts';

/** The difference between the chain's balance of the wallet and the ledger's, with its cause where that is known. */
export type WalletAdjustment = Pick<AdjustWallet, 'mint' | 'change' | 'cause' | 'reason'>;

/** A booked adjustment. */
export interface WalletAdjustmentRecord extends WalletAdjustment {
  readonly at: Millis;
}

/** Adjustments of the wallet as rows; each function works within the transaction of the caller. */
interface Adjustments {
  put(adjustment: WalletAdjustment, at: Millis): void;
  /** Newest first. */
  list(options: { readonly limit: number }): WalletAdjustmentRecord[];
}

/** Returns the part of the journal that holds adjustments. */
export function createAdjustments(prepare: Prepare): Adjustments {
  return {
    put: ({ mint, change, cause, reason }, at) => {
      prepare('INSERT INTO adjustments (at, mint, change, cause, reason) VALUES (?, ?, ?, ?, ?)')
        .run(at, mint, change, cause, reason);
    },
    list: ({ limit }) => prepare('SELECT at, mint, change, cause, reason FROM adjustments ORDER BY number DESC LIMIT ?')
      .all(limit).map((row) => ({
        at: Number(row['at']),
        mint: String(row['mint']) as Mint,
        change: String(row['change']),
        cause: String(row['cause']) as AdjustmentCause,
        reason: String(row['reason']),
      })),
  };
}

/** One run of the daemon. */
export interface RunRecord {
  readonly runId: string;
  readonly startedAt: Millis;
  /** Undefined while it runs, and for a killed run. */
  readonly endedAt?: Millis | undefined;
}

/** Runs as rows; each function works within the transaction of the caller. */
interface Runs {
  started(runId: string, at: Millis): void;
  ended(runId: string, at: Millis): void;
  /** Newest first. */
  list(options: { readonly limit: number }): RunRecord[];
}

/** Returns the part of the journal that holds runs. */
export function createRuns(prepare: Prepare): Runs {
  return {
    started: (runId, at) => { prepare('INSERT INTO runs (run_id, started_at) VALUES (?, ?)').run(runId, at); },
    ended: (runId, at) => {
      const { changes } = prepare('UPDATE runs SET ended_at = ? WHERE run_id = ?').run(at, runId);
      assert(changes === 1, `run ${runId} ended without having started`);
    },
    list: ({ limit }) =>
      prepare('SELECT run_id, started_at, ended_at FROM runs ORDER BY rowid DESC LIMIT ?').all(limit).map((row) => ({
        runId: String(row['run_id']),
        startedAt: Number(row['started_at']),
        ...(row['ended_at'] === null ? {} : { endedAt: Number(row['ended_at']) }),
      })),
  };
}

/**
 * Returns whether a transaction, by its id, was made for an intent. When another account paid the fee, only the outcome
 * holds the id.
 */
export function isOwnTransaction(prepare: Prepare, signature: string): boolean {
  return prepare('SELECT 1 FROM attempts WHERE transaction_id = ?1 OR signature = ?1').get(signature) !== undefined
    || prepare("SELECT 1 FROM transitions WHERE json_extract(outcome, '$.signature') = ?").get(signature) !== undefined;
}

/** Returns the transaction id of the last swap that landed, in success or in failure. */
export function lastLanded(prepare: Prepare): string | undefined {
  const row = prepare(`
    SELECT json_extract(outcome, '$.signature') AS signature FROM transitions
    WHERE state IN ('confirmed', 'failed') AND json_extract(outcome, '$.signature') IS NOT NULL
    ORDER BY number DESC LIMIT 1`).get();
  return row === undefined ? undefined : String(row['signature']);
}
