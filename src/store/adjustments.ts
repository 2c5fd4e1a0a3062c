import type { StatementSync } from 'node:sqlite';
import type { Millis } from '../core/time.ts';
import type { Mint } from '../market/token.ts';
import type { AdjustmentCause, AdjustWallet } from '../trading/command.ts';

/** By what the chain's balance of the wallet differed from the ledger's, and why as far as that is known. */
export type WalletAdjustment = Pick<AdjustWallet, 'mint' | 'change' | 'cause' | 'reason'>;

/** One that was booked. */
export interface WalletAdjustmentRecord extends WalletAdjustment {
  readonly at: Millis;
}

/** What others moved in the wallet, as rows; each function is a part of somebody's transaction. */
export interface Adjustments {
  put(adjustment: WalletAdjustment, at: Millis): void;
  /** Newest first. */
  list(options: { readonly limit: number }): WalletAdjustmentRecord[];
}

/** Returns the part of the journal that holds what others moved. */
export function createAdjustments(prepare: (sql: string) => StatementSync): Adjustments {
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
