import type { StatementSync } from 'node:sqlite';

/**
 * Returns whether a transaction, by its id, was made for an intent. Where somebody else paid for it, its id is known
 * from what became of it alone.
 */
export function isOwn(prepare: (sql: string) => StatementSync, signature: string): boolean {
  return prepare('SELECT 1 FROM attempts WHERE transaction_id = ?1 OR signature = ?1').get(signature) !== undefined
    || prepare("SELECT 1 FROM transitions WHERE json_extract(outcome, '$.signature') = ?").get(signature) !== undefined;
}

/** Returns the id of the transaction that the last swap landed as, in success or in failure. */
export function lastLanded(prepare: (sql: string) => StatementSync): string | undefined {
  const row = prepare(`
    SELECT json_extract(outcome, '$.signature') AS signature FROM transitions
    WHERE state IN ('confirmed', 'failed') AND json_extract(outcome, '$.signature') IS NOT NULL ORDER BY number DESC LIMIT 1`).get();
  return row === undefined ? undefined : String(row['signature']);
}
