import { assert } from '../core/assert.ts';
import type { Lamports } from '../core/amount.ts';
import { stringifyJson } from '../core/json.ts';
import type { Millis } from '../core/time.ts';
import type { Mint } from '../market/token.ts';
import type { Attempt, BalanceMove, ProofProgress } from '../trading/attempt.ts';
import type { Intent, IntentState, Outcome } from '../trading/intent.ts';
import { OPEN_STATES, canTransition, isTerminal, readOutcome } from '../trading/intent.ts';
import { BUILDINGS, OUTCOMES_SINCE, movesOf, progressOf } from './attempt-costs.ts';
import type { AttemptRow, IntentRow } from './journal-rows.ts';
import { insertStatement, readAttempt, readIntent, writeAttempt, writeIntent } from './journal-rows.ts';
import type { Prepare } from './database.ts';

/** An open intent with its attempts, in order. */
export interface OpenIntentRecord {
  readonly intent: Intent;
  readonly state: IntentState;
  readonly attempts: readonly Attempt[];
  /** Which attempt the state is of, from 1. */
  readonly attempt: number;
  /** What the attempts before that one cost. */
  readonly spentLamports: Lamports;
}

/** A terminal outcome with the intent it ended. */
export interface EndedIntent {
  readonly intent: Intent;
  readonly outcome: Outcome;
  /** When it was written down. */
  readonly at: Millis;
}

/** Intents, their attempts and transitions, as rows; each function is a part of somebody's transaction. */
export interface Intents {
  approve(intent: Intent): void;
  sign(attempt: Attempt, at: Millis): void;
  move(outcome: Outcome, at: Millis): void;
  /** Notes that the saved snapshot holds the outcome of an intent. */
  settle(intentId: string): void;
  /** Oldest first. */
  open(): OpenIntentRecord[];
  /** In the order in which they ended. */
  unsettled(): EndedIntent[];
  /** Returns whether a signature of ours stands under an attempt, whoever's it is. */
  isSigned(signature: string): boolean;
  /** Returns how many attempts that a wallet pays for were signed after a time. */
  attemptsSince(feePayer: string, at: Millis): number;
  movesSince(attempt: Pick<Attempt, 'intentId' | 'number'>, mint: Mint): readonly BalanceMove[];
  proofOf(attempt: Pick<Attempt, 'intentId' | 'number'>): ProofProgress | undefined;
  keepProof(attempt: Pick<Attempt, 'intentId' | 'number'>, progress: ProofProgress): void;
}

const KEEP_PROOF = `
  INSERT OR REPLACE INTO proofs (intent_id, attempt, watched_ms, first_height, first_watched_ms, first_node)
  VALUES (?, ?, ?, ?, ?, ?)`;
const QUOTED_OPEN_STATES = OPEN_STATES.map((state) => `'${state}'`).join(', ');

/** Returns the part of the journal that holds intents. */
export function createIntents(prepare: Prepare): Intents {
  const stateOf = (intentId: string): IntentState => {
    const row = prepare('SELECT state FROM intents WHERE intent_id = ?').get(intentId);
    assert(row, `no intent ${intentId} was approved`);
    return row['state'] as IntentState;
  };
  const attemptsOf = (intentId: string): Attempt[] => {
    const rows =
      prepare('SELECT * FROM attempts WHERE intent_id = ? ORDER BY number').all(intentId) as unknown as AttemptRow[];
    return rows.map(readAttempt);
  };
  return {
    approve: (intent) => {
      const row = writeIntent(intent);
      prepare(insertStatement('intents', Object.keys(row))).run(row);
    },
    sign: (attempt, at) => {
      const state = stateOf(attempt.intentId);
      assert(!isTerminal(state), `attempt ${attempt.number} of ${attempt.intentId}, which is ${state} already`);
      const row = writeAttempt(attempt, at);
      prepare(insertStatement('attempts', Object.keys(row))).run(row);
    },
    move: (outcome, at) => {
      const { intentId, attempt, state } = outcome;
      const from = stateOf(intentId);
      assert(canTransition(from, state), `${intentId} cannot go from ${from} to ${state}`);
      prepare('INSERT INTO transitions (intent_id, attempt, at, state, outcome) VALUES (?, ?, ?, ?, ?)')
        .run(intentId, attempt, at, state, stringifyJson(outcome));
      prepare('UPDATE intents SET state = ? WHERE intent_id = ?').run(state, intentId);
    },
    settle: (intentId) => {
      const state = stateOf(intentId);
      assert(isTerminal(state), `a snapshot cannot hold the outcome of ${intentId}, which is ${state}`);
      prepare('UPDATE intents SET settled = 1 WHERE intent_id = ?').run(intentId);
    },
    open: () => {
      const rows = prepare(
        `SELECT * FROM intents WHERE state IN (${QUOTED_OPEN_STATES}) ORDER BY number`,
      ).all() as unknown as IntentRow[];
      return rows.map((row) => ({
        intent: readIntent(row), state: row.state as IntentState, attempts: attemptsOf(row.intent_id),
        ...progressOf(prepare(BUILDINGS).all(row.intent_id)),
      }));
    },
    unsettled: () => {
      const rows = prepare(`
        SELECT intents.*, transitions.outcome, transitions.at AS ended_at FROM intents
        JOIN transitions ON transitions.intent_id = intents.intent_id AND transitions.state = intents.state
        WHERE intents.settled = 0 AND intents.state NOT IN (${QUOTED_OPEN_STATES})
        ORDER BY transitions.number`).all() as unknown as (IntentRow
        & { readonly outcome: string; readonly ended_at: number })[];
      return rows.map((row) => ({ intent: readIntent(row), outcome: readOutcome(row.outcome), at: row.ended_at }));
    },
    isSigned: (signature) => prepare('SELECT 1 FROM attempts WHERE signature = ?').get(signature) !== undefined,
    attemptsSince: (feePayer, at) => {
      const count = prepare('SELECT count(*) AS number FROM attempts WHERE fee_payer = ? AND signed_at > ?');
      return Number(count.get(feePayer, at)?.['number']);
    },
    proofOf: ({ intentId, number }) => {
      const row = prepare('SELECT * FROM proofs WHERE intent_id = ? AND attempt = ?').get(intentId, number);
      if (row === undefined) return undefined;
      const { watched_ms: watchedMs, first_height: height, first_watched_ms: firstMs, first_node: node } = row;
      const first = height === null ? undefined : {
        height: BigInt(String(height)), watchedMs: Number(firstMs), ...(node === null ? {} : { node: String(node) }),
      };
      return { watchedMs: Number(watchedMs), first };
    },
    keepProof: ({ intentId, number }, { watchedMs, first }) => {
      prepare(KEEP_PROOF).run(
        intentId, number, Math.floor(watchedMs), first?.height.toString() ?? null,
        first === undefined ? null : Math.floor(first.watchedMs), first?.node ?? null,
      );
    },
    movesSince: ({ intentId, number }, mint) => movesOf(
      mint, prepare(OUTCOMES_SINCE).all(intentId, number),
      (other) => progressOf(prepare(BUILDINGS).all(other)).spentLamports,
    ),
  };
}
