import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { assert, AssertionError } from '../core/assert.ts';
import { GannetError, messageOf } from '../core/errors.ts';
import type { Lamports } from '../core/amount.ts';
import { stringifyJson } from '../core/json.ts';
import type { Mint } from '../market/token.ts';
import type { Clock, Millis } from '../core/time.ts';
import type { Attempt } from '../trading/attempt.ts';
import type { Intent, IntentState, Outcome } from '../trading/intent.ts';
import { canTransition, isTerminal, OPEN_STATES } from '../trading/intent.ts';
import type { StateSnapshot } from '../trading/state.ts';
import type { StrategyLegacy, StrategyState } from '../trading/strategy-state.ts';
import { openJournalDatabase } from './database.ts';
import type { IntentListing, IntentStory } from './listing.ts';
import { createListings } from './listing.ts';
import { readOutcome } from '../trading/outcome-json.ts';
import type { WalletAdjustment, WalletAdjustmentRecord } from './adjustments.ts';
import { createAdjustments } from './adjustments.ts';
import { BUILDINGS, OUTCOMES_SINCE, costsTo, progressOf } from './attempt-costs.ts';
import { isOwn, lastLanded } from './own-transactions.ts';
import type { AttemptRow, IntentRow } from './rows.ts';
import { insertStatement, readAttempt, readIntent, writeAttempt, writeIntent } from './rows.ts';
import { completeSnapshot } from './snapshot.ts';
import { createStrategyStates } from './strategy-states.ts';

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

/** One run of the daemon. */
export interface RunRecord {
  readonly runId: string;
  readonly startedAt: Millis;
  /** Undefined while it runs, and for good where it was killed. */
  readonly endedAt?: Millis | undefined;
}

/** Durable memory of intents. Each method that writes does so in one transaction, which is on disk when it returns. */
export interface JournalStore {
  /** With what its strategy keeps as of it: both are written, or neither is. */
  intentApproved(intent: Intent, strategyState?: StrategyState): void;
  /** Must return before the first byte of the transaction leaves. */
  attemptSigned(attempt: Attempt): void;
  /** Moves an intent on; with a terminal outcome the state that already holds it can be saved in the same transaction. */
  transition(outcome: Outcome, snapshot?: StateSnapshot): void;
  /** Oldest first. */
  openIntents(): readonly OpenIntentRecord[];
  /** By how much other intents that ended since an attempt was signed lowered the wallet's balance of a mint. */
  spentSince(attempt: { readonly intentId: string; readonly number: number }, mint: Mint): bigint;
  /** Terminal outcomes that no saved snapshot holds yet, in the order in which they came: to be applied after a restart. */
  unsettledOutcomes(): readonly { readonly intent: Intent; readonly outcome: Outcome }[];
  /** Keeps the state from which a restart goes on, and notes whose outcomes it holds. */
  saveSnapshot(snapshot: StateSnapshot, settledIntentIds?: Iterable<string>, strategyStates?: Iterable<StrategyState>): void;
  /** Keeps what strategies want to find again after a restart, and notes which outcomes it holds. */
  saveStrategyStates(states: Iterable<StrategyState>): void;
  /** Returns what strategies kept, and the last outcomes of their intents that it does not hold. */
  loadStrategyStates(): StrategyLegacy;
  /** Lets all strategies begin anew. */
  clearStrategyStates(): void;
  /** Returns the saved state with the keys, counters and approvals of every intent journalled since; undefined before the first save. */
  loadSnapshot(): StateSnapshot | undefined;
  /** Newest first, as `gannet journal list` prints them. */
  listIntents(options: { readonly state?: IntentState | undefined; readonly limit: number }): readonly IntentListing[];
  /** Returns an intent with its transitions, undefined where there is none of this name. */
  showIntent(intentId: string): IntentStory | undefined;
  /** Notes by what the chain's balances differed from the ledger's, with the state that holds it. */
  walletAdjusted(adjustment: WalletAdjustment, snapshot: StateSnapshot): void;
  /** Newest first. */
  listAdjustments(options: { readonly limit: number }): readonly WalletAdjustmentRecord[];
  /** Returns whether a transaction, by its id, is one that was made for an intent, whoever paid for it. */
  isOwnTransaction(signature: string): boolean;
  /** Returns the id of the transaction that the last swap landed as; undefined before the first one. */
  lastLanded(): string | undefined;
  runStarted(runId: string): void;
  /** The end of a run that somebody ordered; said again, the later time counts. */
  runEnded(runId: string): void;
  /** Newest first. */
  listRuns(options: { readonly limit: number }): readonly RunRecord[];
  close(): void;
}

/**
 * Opens the journal at a path, made where it is missing. Its methods throw JOURNAL_FAILED where the disk does not take
 * the row, and assert what only a bug can break: order of states, names given twice.
 * Throws JOURNAL_INVALID on a foreign, broken or newer file.
 */
export function openJournal(options: { readonly path: string; readonly clock: Clock }): JournalStore {
  return new SqliteJournal(openJournalDatabase(options.path), options);
}

const QUOTED_OPEN_STATES = OPEN_STATES.map((state) => `'${state}'`).join(', ');

class SqliteJournal implements JournalStore {
  readonly #database: DatabaseSync;
  readonly #path: string;
  readonly #clock: Clock;
  readonly #statements = new Map<string, StatementSync>();
  readonly #strategyStates = createStrategyStates((sql) => this.#prepare(sql));
  readonly #adjustments = createAdjustments((sql) => this.#prepare(sql));

  constructor(database: DatabaseSync, options: { readonly path: string; readonly clock: Clock }) {
    this.#database = database;
    this.#path = options.path;
    this.#clock = options.clock;
  }

  intentApproved(intent: Intent, strategyState?: StrategyState): void {
    const row = writeIntent(intent);
    this.#commit(() => {
      this.#prepare(insertStatement('intents', Object.keys(row))).run(row);
      if (strategyState !== undefined) this.#strategyStates.put(strategyState, this.#clock.now());
    });
  }

  attemptSigned(attempt: Attempt): void {
    const row = writeAttempt(attempt, this.#clock.now());
    this.#commit(() => {
      const state = this.#stateOf(attempt.intentId);
      assert(!isTerminal(state), `attempt ${attempt.number} of ${attempt.intentId}, which is ${state} already`);
      this.#prepare(insertStatement('attempts', Object.keys(row))).run(row);
    });
  }

  transition(outcome: Outcome, snapshot?: StateSnapshot): void {
    const { intentId, attempt, state } = outcome;
    assert(snapshot === undefined || isTerminal(state), `a snapshot comes with a terminal outcome, not with "${state}"`);
    const at = this.#clock.now();
    this.#commit(() => {
      const from = this.#stateOf(intentId);
      assert(canTransition(from, state), `${intentId} cannot go from ${from} to ${state}`);
      this.#prepare('INSERT INTO transitions (intent_id, attempt, at, state, outcome) VALUES (?, ?, ?, ?, ?)').run(intentId, attempt, at, state, stringifyJson(outcome));
      this.#prepare('UPDATE intents SET state = ? WHERE intent_id = ?').run(state, intentId);
      if (snapshot !== undefined) this.#putSnapshot(snapshot, [intentId]);
    });
  }

  openIntents(): readonly OpenIntentRecord[] {
    return this.#read(() => {
      const rows = this.#prepare(`SELECT * FROM intents WHERE state IN (${QUOTED_OPEN_STATES}) ORDER BY number`).all() as unknown as IntentRow[];
      return rows.map((row) => ({ intent: readIntent(row), state: row.state as IntentState, attempts: this.#attemptsOf(row.intent_id), ...progressOf(this.#prepare(BUILDINGS).all(row.intent_id)) }));
    });
  }

  spentSince({ intentId, number }: { readonly intentId: string; readonly number: number }, mint: Mint): bigint {
    return this.#read(() => costsTo(mint, this.#prepare(OUTCOMES_SINCE).all(intentId, number, intentId)));
  }

  unsettledOutcomes(): readonly { readonly intent: Intent; readonly outcome: Outcome }[] {
    return this.#read(() => {
      const rows = this.#prepare(`
        SELECT intents.*, transitions.outcome FROM intents
        JOIN transitions ON transitions.intent_id = intents.intent_id AND transitions.state = intents.state
        WHERE intents.settled = 0 AND intents.state NOT IN (${QUOTED_OPEN_STATES})
        ORDER BY transitions.number`).all() as unknown as (IntentRow & { readonly outcome: string })[];
      return rows.map((row) => ({ intent: readIntent(row), outcome: readOutcome(row.outcome) }));
    });
  }

  saveSnapshot(snapshot: StateSnapshot, settledIntentIds: Iterable<string> = [], strategyStates: Iterable<StrategyState> = []): void {
    this.#commit(() => {
      this.#putSnapshot(snapshot, settledIntentIds);
      this.#putStrategyStates(strategyStates);
    });
  }

  saveStrategyStates(states: Iterable<StrategyState>): void {
    this.#commit(() => { this.#putStrategyStates(states); });
  }

  loadStrategyStates(): StrategyLegacy {
    return this.#read(() => this.#strategyStates.load());
  }

  clearStrategyStates(): void {
    this.#commit(() => { this.#strategyStates.clear(); });
  }

  loadSnapshot(): StateSnapshot | undefined {
    return this.#read(() => {
      const saved = this.#prepare('SELECT state, last_intent FROM snapshot WHERE id = 1').get();
      if (saved === undefined) return undefined;
      const intents = this.#prepare(`
        SELECT intent_id, strategy, created_at, key, state, (SELECT max(attempt) FROM transitions WHERE transitions.intent_id = intents.intent_id) AS attempt
        FROM intents WHERE number > ? ORDER BY number`).all(Number(saved['last_intent'])) as unknown as Parameters<typeof completeSnapshot>[1];
      return completeSnapshot(JSON.parse(String(saved['state'])) as StateSnapshot, intents);
    });
  }

  listIntents(options: { readonly state?: IntentState | undefined; readonly limit: number }): readonly IntentListing[] {
    return this.#read(() => this.#listings().list(options));
  }

  showIntent(intentId: string): IntentStory | undefined {
    return this.#read(() => this.#listings().show(intentId));
  }

  walletAdjusted(adjustment: WalletAdjustment, snapshot: StateSnapshot): void {
    this.#commit(() => {
      this.#adjustments.put(adjustment, this.#clock.now());
      this.#putSnapshot(snapshot, []);
    });
  }

  listAdjustments(options: { readonly limit: number }): readonly WalletAdjustmentRecord[] {
    return this.#read(() => this.#adjustments.list(options));
  }

  isOwnTransaction(signature: string): boolean {
    return this.#read(() => isOwn((sql) => this.#prepare(sql), signature));
  }

  lastLanded(): string | undefined {
    return this.#read(() => lastLanded((sql) => this.#prepare(sql)));
  }

  runStarted(runId: string): void {
    const at = this.#clock.now();
    this.#commit(() => { this.#prepare('INSERT INTO runs (run_id, started_at) VALUES (?, ?)').run(runId, at); });
  }

  runEnded(runId: string): void {
    const at = this.#clock.now();
    this.#commit(() => {
      const { changes } = this.#prepare('UPDATE runs SET ended_at = ? WHERE run_id = ?').run(at, runId);
      assert(changes === 1, `run ${runId} ended without having started`);
    });
  }

  listRuns({ limit }: { readonly limit: number }): readonly RunRecord[] {
    return this.#read(() => {
      const rows = this.#prepare('SELECT run_id, started_at, ended_at FROM runs ORDER BY rowid DESC LIMIT ?').all(limit);
      return rows.map((row) => ({
        runId: String(row['run_id']),
        startedAt: Number(row['started_at']),
        ...(row['ended_at'] === null ? {} : { endedAt: Number(row['ended_at']) }),
      }));
    });
  }

  close(): void {
    this.#statements.clear();
    this.#database.close();
  }

  #attemptsOf(intentId: string): Attempt[] {
    const rows = this.#prepare('SELECT * FROM attempts WHERE intent_id = ? ORDER BY number').all(intentId) as unknown as AttemptRow[];
    return rows.map(readAttempt);
  }

  #stateOf(intentId: string): IntentState {
    const row = this.#prepare('SELECT state FROM intents WHERE intent_id = ?').get(intentId);
    assert(row, `no intent ${intentId} was approved`);
    return row['state'] as IntentState;
  }

  #putSnapshot(snapshot: StateSnapshot, settledIntentIds: Iterable<string>): void {
    this.#prepare('INSERT OR REPLACE INTO snapshot (id, saved_at, last_intent, state) VALUES (1, ?, (SELECT coalesce(max(number), 0) FROM intents), ?)').run(this.#clock.now(), stringifyJson(snapshot));
    for (const intentId of settledIntentIds) {
      const state = this.#stateOf(intentId);
      assert(isTerminal(state), `a snapshot cannot hold the outcome of ${intentId}, which is ${state}`);
      this.#prepare('UPDATE intents SET settled = 1 WHERE intent_id = ?').run(intentId);
    }
  }

  #putStrategyStates(states: Iterable<StrategyState>): void {
    for (const state of states) this.#strategyStates.put(state, this.#clock.now());
  }

  #listings(): ReturnType<typeof createListings> {
    return createListings((sql) => this.#prepare(sql));
  }

  #prepare(sql: string): StatementSync {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const statement = this.#database.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }

  /** Immediate, so that no other writer comes between what is read and what is written. */
  #commit(work: () => void): void {
    this.#transact('BEGIN IMMEDIATE', work);
  }

  #read<T>(work: () => T): T {
    return this.#transact('BEGIN', work);
  }

  #transact<T>(begin: 'BEGIN' | 'BEGIN IMMEDIATE', work: () => T): T {
    try {
      this.#prepare(begin).run();
      const result = work();
      this.#prepare('COMMIT').run();
      return result;
    } catch (cause) {
      // SQLite has rolled back by itself after some faults of the disk.
      if (this.#database.isOpen && this.#database.isTransaction) this.#prepare('ROLLBACK').run();
      throw this.#fault(cause);
    }
  }

  #fault(cause: unknown): unknown {
    const number = cause instanceof Error && 'errcode' in cause ? Number(cause.errcode) & 0xff : undefined;
    if (number === undefined) return cause;
    if (number === SQLITE_CONSTRAINT) return new AssertionError(`the journal was told something twice or out of order: ${messageOf(cause)}`);
    return new GannetError('JOURNAL_FAILED', `${this.#path}: expected the row to be written, got: ${messageOf(cause)}; check the disk's space and health`, {
      details: { path: this.#path }, cause,
    });
  }
}

/** SQLite's own number for a violated constraint. */
const SQLITE_CONSTRAINT = 19;
