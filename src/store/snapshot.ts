import { stringifyJson } from '../core/json.ts';
import type { Millis } from '../core/time.ts';
import { intentKey } from '../trading/recent-keys.ts';
import type { StateSnapshot } from '../trading/state.ts';
import type { Prepare } from './transactor.ts';

const DAY_MS = 86_400_000;

/** The state from which a restart goes on, as a row; each function is a part of somebody's transaction. */
export interface SavedSnapshot {
  put(snapshot: StateSnapshot, at: Millis): void;
  /** Returns it with what the journal knows beyond it; undefined before the first one. */
  load(): StateSnapshot | undefined;
}

/** Returns the part of the journal that holds the state. */
export function createSavedSnapshot(prepare: Prepare): SavedSnapshot {
  return {
    put: (snapshot, at) => {
      prepare('INSERT OR REPLACE INTO snapshot (id, saved_at, last_intent, state) VALUES (1, ?, (SELECT coalesce(max(number), 0) FROM intents), ?)')
        .run(at, stringifyJson(snapshot));
    },
    load: () => {
      const saved = prepare('SELECT state, last_intent FROM snapshot WHERE id = 1').get();
      if (saved === undefined) return undefined;
      const intents = prepare(`
        SELECT intent_id, strategy, created_at, key, state, (SELECT max(attempt) FROM transitions WHERE transitions.intent_id = intents.intent_id) AS attempt
        FROM intents WHERE number > ? ORDER BY number`).all(
        Number(saved['last_intent']),
      ) as unknown as Parameters<typeof completeSnapshot>[1];
      return completeSnapshot(JSON.parse(String(saved['state'])) as StateSnapshot, intents);
    },
  };
}

/**
 * Returns a snapshot with what the journal knows beyond it. Intents approved after the snapshot was taken have used
 * their keys, their numbers and their share of the rate; a restart that forgot them could repeat them.
 */
export function completeSnapshot(
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
    // One that was abandoned before anything was signed gave its key back.
    if (intent.key !== null && !(intent.state === 'abandoned' && (intent.attempt ?? 1) === 1))
      keys.add(intentKey(intent.strategy, intent.key));
    const number = Number(intent.intent_id.slice(intent.strategy.length + 1));
    intentCounts[intent.strategy] = Math.max(intentCounts[intent.strategy] ?? 0, number);
  }
  const approvals = mergeTimes(saved.approvals, intents.map(({ created_at }) => created_at));
  return { ...saved, keys: [...keys], intentCounts, approvals };
}

/** Each time as often as in the list that has it more often, oldest first, within a day of the last. */
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
