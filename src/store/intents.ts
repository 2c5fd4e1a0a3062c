import type { Lamports } from '../core/amount.ts';
import { assert } from '../core/assert.ts';
import { stringifyJson } from '../core/json.ts';
import type { Millis } from '../core/time.ts';
import type { Mint } from '../market/token.ts';
import { SOL_MINT } from '../market/token.ts';
import type { Attempt, BalanceMove, ProofProgress } from '../trading/attempt.ts';
import type { Intent, IntentState, Outcome } from '../trading/intent.ts';
import { OPEN_STATES, TERMINAL_STATES, canTransition, isTerminal, readOutcome } from '../trading/intent.ts';
import type { Prepare } from './database.ts';
import type { AttemptRow, IntentRow } from './journal-rows.ts';
import { insertStatement, readAttempt, readIntent, writeAttempt, writeIntent } from './journal-rows.ts';

/** An open intent with its attempts, in order. */
export interface OpenIntentRecord {
  readonly intent: Intent;
  readonly state: IntentState;
  readonly attempts: readonly Attempt[];
  /** The number of the attempt in this state, from 1. */
  readonly attempt: number;
  /** The cost of the attempts before that one. */
  readonly spentLamports: Lamports;
}

/** A terminal outcome with its intent. */
export interface EndedIntent {
  readonly intent: Intent;
  readonly outcome: Outcome;
  /** When it was journalled. */
  readonly at: Millis;
}

type AttemptKey = Pick<Attempt, 'intentId' | 'number'>;
type Row = Readonly<Record<string, unknown>>;

/** Writes of intents, their attempts and transitions; each function works within the transaction of the caller. */
interface IntentWrites {
  approve(intent: Intent): void;
  sign(attempt: Attempt, at: Millis): void;
  move(outcome: Outcome, at: Millis): void;
  /** Notes that the saved snapshot includes the outcome of an intent. */
  settle(intentId: string): void;
}

/** Reads of intents, their attempts and transitions. */
interface IntentReads {
  /** Returns open intents, oldest first. */
  open(): OpenIntentRecord[];
  /** Returns terminal outcomes that no snapshot includes, in their order. */
  unsettled(): EndedIntent[];
  /** Returns whether an attempt of any intent has this signature of ours. */
  isSigned(signature: string): boolean;
  /** Returns how many attempts with this fee payer were signed after a time. */
  attemptsSince(feePayer: string, at: Millis): number;
  movesSince(attempt: AttemptKey, mint: Mint): readonly BalanceMove[];
}

/** The progress of expiry proofs. */
interface ExpiryProofs {
  proofOf(attempt: AttemptKey): ProofProgress | undefined;
  keepProof(attempt: AttemptKey, progress: ProofProgress): void;
}

const quoted = (states: readonly IntentState[]): string => states.map((state) => `'${state}'`).join(', ');
const QUOTED_OPEN_STATES = quoted(OPEN_STATES);

/** The starts of an intent's attempts, in order; each has the cost of the attempt before. */
const BUILDINGS = "SELECT attempt, outcome FROM transitions WHERE intent_id = ? AND state = 'building' ORDER BY number";

/**
 * The outcomes of other intents and their attempts since the start of an attempt (intent, number). Earlier ones are in
 * the balance at its signing, which is never older than the booked one.
 */
const OUTCOMES_SINCE = `
  SELECT outcome FROM transitions
  WHERE number > (SELECT min(number) FROM transitions WHERE intent_id = ?1 AND attempt = ?2 AND state = 'building')
    AND intent_id <> ?1
    AND (state IN (${quoted(TERMINAL_STATES)}) OR (state = 'building' AND attempt > 1))`;

/** Returns the part of the journal that holds intents. */
export function createIntents(prepare: Prepare): IntentWrites & IntentReads & ExpiryProofs {
  return { ...intentWrites(prepare), ...intentReads(prepare), ...expiryProofs(prepare) };
}

function intentWrites(prepare: Prepare): IntentWrites {
  const stateOf = (intentId: string): IntentState => {
    const row = prepare('SELECT state FROM intents WHERE intent_id = ?').get(intentId);
    assert(row, `no intent ${intentId} was approved`);
    return row['state'] as IntentState;
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
  };
}

function intentReads(prepare: Prepare): IntentReads {
  const attemptsOf = (intentId: string): Attempt[] => {
    const rows =
      prepare('SELECT * FROM attempts WHERE intent_id = ? ORDER BY number').all(intentId) as unknown as AttemptRow[];
    return rows.map(readAttempt);
  };
  return {
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
    movesSince: ({ intentId, number }, mint) => movesOf(
      mint, prepare(OUTCOMES_SINCE).all(intentId, number),
      (other) => progressOf(prepare(BUILDINGS).all(other)).spentLamports,
    ),
  };
}

function expiryProofs(prepare: Prepare): ExpiryProofs {
  return {
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
      prepare(`
        INSERT OR REPLACE INTO proofs (intent_id, attempt, watched_ms, first_height, first_watched_ms, first_node)
        VALUES (?, ?, ?, ?, ?, ?)`).run(
        intentId, number, Math.floor(watchedMs), first?.height.toString() ?? null,
        first === undefined ? null : Math.floor(first.watchedMs), first?.node ?? null,
      );
    },
  };
}

/** Returns the number of an intent's present attempt, 1 before the first, and the cost of those before it. */
function progressOf(buildings: readonly Row[]): { readonly attempt: number; readonly spentLamports: Lamports } {
  return {
    attempt: Number(buildings.at(-1)?.['attempt'] ?? 1),
    spentLamports: buildings.reduce((sum, row) => sum + (outcomeIn(row).feeLamports ?? 0n), 0n) as Lamports,
  };
}

/**
 * Returns how outcomes changed a balance. The fee of each attempt is a move of its own, in the slot in which it was
 * paid: every lamport must be explained, or a failed swap waits for each open swap that may hide its success.
 */
function movesOf(mint: Mint, rows: readonly Row[], spentBefore: (intentId: string) => Lamports): BalanceMove[] {
  return rows.map((row) => moveOf(mint, outcomeIn(row), spentBefore))
    .filter(({ spent, received }) => spent > 0n || received > 0n);
}

function moveOf(
  mint: Mint, { intentId, attempt, state, fill, feeLamports, slot }: Outcome,
  spentBefore: (intentId: string) => Lamports,
): BalanceMove {
  const input = fill?.inputMint === mint ? fill.amountIn : 0n;
  const output = fill?.outputMint === mint && fill.receiver === undefined ? fill.amountOut : 0n;
  if (mint !== SOL_MINT) return { spent: input, received: output, slot };
  const paid = fill?.feeLamports ?? feeLamports ?? 0n;
  // The last outcome has the fees of all attempts. Those of earlier ones are in the starts of the next, with their
  // slots.
  const before = state === 'building' || attempt === 1 ? 0n : spentBefore(intentId);
  const fee = paid > before ? paid - before : 0n;
  const rent = fill?.rentLamports ?? 0n;
  return { spent: input + fee + (rent > 0n ? rent : 0n), received: output - (rent < 0n ? rent : 0n), slot };
}

function outcomeIn(row: Row): Outcome {
  return readOutcome(String(row['outcome']));
}
