import type { Lamports } from '../core/amount.ts';
import type { Mint } from '../market/token.ts';
import { SOL_MINT } from '../market/token.ts';
import { TERMINAL_STATES } from '../trading/intent.ts';
import { readOutcome } from '../trading/outcome-json.ts';

type Row = Readonly<Record<string, unknown>>;

/** The beginnings of an intent's attempts, in order; each says what the one before cost. */
export const BUILDINGS = "SELECT attempt, outcome FROM transitions WHERE intent_id = ? AND state = 'building' ORDER BY number";

/** What became of other intents since an attempt (intent, number, intent) was begun. */
export const OUTCOMES_SINCE = `
  SELECT outcome FROM transitions
  WHERE number > (SELECT min(number) FROM transitions WHERE intent_id = ? AND attempt = ? AND state = 'building')
    AND intent_id <> ? AND state IN (${TERMINAL_STATES.map((state) => `'${state}'`).join(', ')})`;

/** Returns which attempt an intent is at, 1 where none was begun, and what those before it cost. */
export function progressOf(buildings: readonly Row[]): { readonly attempt: number; readonly spentLamports: Lamports } {
  return {
    attempt: Number(buildings.at(-1)?.['attempt'] ?? 1),
    spentLamports: buildings.reduce((sum, row) => sum + (outcomeIn(row).feeLamports ?? 0n), 0n) as Lamports,
  };
}

/** Returns by how much terminal outcomes lowered a balance; what they brought is not set against it. */
export function costsTo(mint: Mint, rows: readonly Row[]): bigint {
  return rows.reduce((sum, row) => {
    const { fill, feeLamports = 0n } = outcomeIn(row);
    const input = fill?.inputMint === mint ? fill.amountIn : 0n;
    if (mint !== SOL_MINT) return sum + input;
    const rent = fill === undefined || fill.rentLamports < 0n ? 0n : fill.rentLamports;
    return sum + input + (fill?.feeLamports ?? feeLamports) + rent;
  }, 0n);
}

function outcomeIn(row: Row): ReturnType<typeof readOutcome> {
  return readOutcome(String(row['outcome']));
}
