import type { Lamports } from '../core/amount.ts';
import type { Mint } from '../market/token.ts';
import { SOL_MINT } from '../market/token.ts';
import type { BalanceMove } from '../trading/attempt.ts';
import type { Outcome } from '../trading/intent.ts';
import { TERMINAL_STATES, readOutcome } from '../trading/intent.ts';

type Row = Readonly<Record<string, unknown>>;

/** The beginnings of an intent's attempts, in order; each says what the one before cost. */
export const BUILDINGS =
  "SELECT attempt, outcome FROM transitions WHERE intent_id = ? AND state = 'building' ORDER BY number";

/**
 * How other intents and their attempts ended since an attempt (intent, number) was begun. What was written down before
 * is in the balance of its signing: that is never older than what is booked.
 */
export const OUTCOMES_SINCE = `
  SELECT outcome FROM transitions
  WHERE number > (SELECT min(number) FROM transitions WHERE intent_id = ?1 AND attempt = ?2 AND state = 'building')
    AND intent_id <> ?1 AND (state IN (${TERMINAL_STATES.map((state) => `'${state}'`).join(', ')}) OR (state = 'building' AND attempt > 1))`;

/** Returns which attempt an intent is at, 1 where none was begun, and what those before it cost. */
export function progressOf(buildings: readonly Row[]): { readonly attempt: number; readonly spentLamports: Lamports } {
  return {
    attempt: Number(buildings.at(-1)?.['attempt'] ?? 1),
    spentLamports: buildings.reduce((sum, row) => sum + (outcomeIn(row).feeLamports ?? 0n), 0n) as Lamports,
  };
}

/**
 * Returns what outcomes did to a balance. Each attempt's fee is a move of its own, in the slot in which it was paid:
 * the wallet must be explained to the lamport, or what failed waits for every open swap that may hide its success.
 */
export function movesOf(mint: Mint, rows: readonly Row[], spentBefore: (intentId: string) => Lamports): BalanceMove[] {
  return rows.map((row) => moveOf(mint, outcomeIn(row), spentBefore))
    .filter(({ spent, received }) => spent > 0n || received > 0n);
}

function moveOf(mint: Mint, { intentId, attempt, state, fill, feeLamports, slot }: Outcome, spentBefore: (
  intentId: string,
) => Lamports): BalanceMove {
  const input = fill?.inputMint === mint ? fill.amountIn : 0n;
  const output = fill?.outputMint === mint ? fill.amountOut : 0n;
  if (mint !== SOL_MINT) return { spent: input, received: output, slot };
  const paid = fill?.feeLamports ?? feeLamports ?? 0n;
  // At the end stand the fees of all attempts; those of earlier ones stand where the next was begun, with their own
  // slots.
  const before = state === 'building' || attempt === 1 ? 0n : spentBefore(intentId);
  const fee = paid > before ? paid - before : 0n;
  const rent = fill?.rentLamports ?? 0n;
  return { spent: input + fee + (rent > 0n ? rent : 0n), received: output - (rent < 0n ? rent : 0n), slot };
}

function outcomeIn(row: Row): Outcome {
  return readOutcome(String(row['outcome']));
}
