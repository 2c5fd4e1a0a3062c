import { assert } from '../core/assert.ts';
import { stringifyJson } from '../core/json.ts';
import type { Millis } from '../core/time.ts';
import type { Outcome } from '../trading/intent.ts';
import { TERMINAL_STATES, readOutcome, toldOutcome } from '../trading/intent.ts';
import { intentKey } from '../trading/recent-keys.ts';
import type { StateSnapshot } from '../trading/engine-state.ts';
import type { RestoredStates, StrategyState } from '../trading/strategy-state.ts';
import type { Prepare } from './database.ts';

const DAY_MS = 86_400_000;

/** The saved state for a restart, as a row; each function works within the transaction of the caller. */
interface SavedSnapshot {
  put(snapshot: StateSnapshot, at: Millis): void;
  /** Returns the state with everything journalled since; undefined before the first save. */
  load(): StateSnapshot | undefined;
}

/** Returns the part of the journal that holds the saved state. */
export function createSavedSnapshot(prepare: Prepare): SavedSnapshot {
  return {
    put: (snapshot, at) => {
      prepare(`
        INSERT OR REPLACE INTO snapshot (id, saved_at, last_intent, state)
        VALUES (1, ?, (SELECT coalesce(max(number), 0) FROM intents), ?)`).run(at, stringifyJson(snapshot));
    },
    load: () => {
      const saved = prepare('SELECT state, last_intent FROM snapshot WHERE id = 1').get();
      if (saved === undefined) return undefined;
      const intents = prepare(`
        SELECT intent_id, strategy, created_at, key, state,
          (SELECT max(attempt) FROM transitions WHERE transitions.intent_id = intents.intent_id) AS attempt
        FROM intents WHERE number > ? ORDER BY number`).all(
        Number(saved['last_intent']),
      ) as unknown as Parameters<typeof completeSnapshot>[1];
      return completeSnapshot(JSON.parse(String(saved['state'])) as StateSnapshot, intents);
    },
  };
}

/**
 * Returns a snapshot completed from the journal. Intents approved after the snapshot have used their keys, their
 * numbers and their share of the rate; a restart without them could repeat them.
 */
function completeSnapshot(
  saved: StateSnapshot,
  intents: readonly {
    readonly intent_id: string; readonly strategy: string; readonly created_at: Millis; readonly key: string | null;
    readonly state: string;
    readonly attempt: number | null;
  }[],
): StateSnapshot {
  const keys = new Set(saved.keys);
  const intentCounts: Record<string, number> = { ...saved.intentCounts };
  for (const intent of intents) {
    // An intent that was abandoned before anything was signed gave its key back.
    if (intent.key !== null && !(intent.state === 'abandoned' && (intent.attempt ?? 1) === 1))
      keys.add(intentKey(intent.strategy, intent.key));
    const number = Number(intent.intent_id.slice(intent.strategy.length + 1));
    intentCounts[intent.strategy] = Math.max(intentCounts[intent.strategy] ?? 0, number);
  }
  const approvals = mergeTimes(saved.approvals, intents.map(({ created_at }) => created_at));
  return { ...saved, keys: [...keys], intentCounts, approvals };
}

/** Returns each time as often as in the list that has it more often, oldest first, within a day of the last. */
function mergeTimes(saved: readonly Millis[], journalled: readonly Millis[]): Millis[] {
  const unseen = new Map<Millis, number>();
  for (const at of saved) unseen.set(at, (unseen.get(at) ?? 0) + 1);
  const missing = journalled.filter((at) => {
    const left = unseen.get(at) ?? 0;
    unseen.set(at, left - 1);
    return left <= 0;
  });
  const all = [...saved, ...missing].sort((a, b) => a - b);
  const oldest = (all.at(-1) ?? 0) - DAY_MS;
  return all.filter((at) => at > oldest);
}

const QUOTED_TERMINAL_STATES = TERMINAL_STATES.map((state) => `'${state}'`).join(', ');

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** Saved states of strategies, as rows; each function works within the transaction of the caller. */
interface StrategyStates {
  put(state: StrategyState, at: Millis): void;
  load(): RestoredStates;
  /** Removes all states, so that strategies start without one. */
  clear(): void;
}

/** Returns the part of the journal that holds states of strategies. */
export function createStrategyStates(prepare: Prepare): StrategyStates {
  const seeAll = (strategy: string): void => {
    prepare(`UPDATE intents SET seen = 1 WHERE strategy = ? AND seen = 0 AND state IN (${QUOTED_TERMINAL_STATES})`)
      .run(strategy);
  };
  return {
    put: ({ strategy, text, seen }, at) => {
      const isFirst = prepare('SELECT 1 FROM strategy_state WHERE strategy = ?').get(strategy) === undefined;
      prepare('INSERT OR REPLACE INTO strategy_state (strategy, saved_at, state) VALUES (?, ?, ?)')
        .run(strategy, at, text);
      // Outcomes before the first saved state are not missing from it.
      if (isFirst) seeAll(strategy);
      for (const intentId of seen) {
        const { changes } = prepare('UPDATE intents SET seen = 1 WHERE intent_id = ?').run(intentId);
        assert(changes === 1, `${strategy} saw the end of ${intentId}, which was never approved`);
      }
    },
    load: () => {
      const rows = prepare('SELECT strategy, state FROM strategy_state').all();
      const states = Object.fromEntries(rows.map(({ strategy, state }) => [String(strategy), String(state)]));
      return { states, unseen: unseen(prepare) };
    },
    clear: () => {
      for (const { strategy } of prepare('SELECT strategy FROM strategy_state').all()) seeAll(String(strategy));
      prepare('DELETE FROM strategy_state').run();
    },
  };
}

function unseen(prepare: Prepare): Outcome[] {
  const rows = prepare(`
    SELECT transitions.outcome, intents.key, intents.tag FROM strategy_state
    JOIN intents ON intents.strategy = strategy_state.strategy AND intents.seen = 0
      AND intents.state IN (${QUOTED_TERMINAL_STATES})
    JOIN transitions ON transitions.intent_id = intents.intent_id AND transitions.state = intents.state
    ORDER BY transitions.number`).all();
  return rows.map(({ outcome, key, tag }) =>
    toldOutcome(readOutcome(String(outcome)), { key: textOf(key), tag: textOf(tag) }));
}
