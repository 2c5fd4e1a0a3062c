import type { StatementSync } from 'node:sqlite';
import { assert } from '../core/assert.ts';
import type { Millis } from '../core/time.ts';
import type { Outcome } from '../trading/intent.ts';
import { TERMINAL_STATES } from '../trading/intent.ts';
import { readOutcome } from '../trading/outcome-json.ts';
import type { StrategyLegacy, StrategyState } from '../trading/strategy-state.ts';

const QUOTED_TERMINAL_STATES = TERMINAL_STATES.map((state) => `'${state}'`).join(', ');

/** What strategies keep, as rows; each function is a part of somebody's transaction. */
export interface StrategyStates {
  put(state: StrategyState, at: Millis): void;
  load(): StrategyLegacy;
  /** Lets all strategies begin anew. */
  clear(): void;
}

/** Returns the part of the journal that holds what strategies keep. */
export function createStrategyStates(prepare: (sql: string) => StatementSync): StrategyStates {
  const seeAll = (strategy: string): void => {
    prepare(`UPDATE intents SET seen = 1 WHERE strategy = ? AND seen = 0 AND state IN (${QUOTED_TERMINAL_STATES})`)
      .run(strategy);
  };
  return {
    put: ({ strategy, text, seen }, at) => {
      const isFirst = prepare('SELECT 1 FROM strategy_state WHERE strategy = ?').get(strategy) === undefined;
      prepare('INSERT OR REPLACE INTO strategy_state (strategy, saved_at, state) VALUES (?, ?, ?)')
        .run(strategy, at, text);
      // What ended before the strategy kept anything is nothing that it misses.
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

function unseen(prepare: (sql: string) => StatementSync): Outcome[] {
  const rows = prepare(`
    SELECT transitions.outcome FROM strategy_state
    JOIN intents ON intents.strategy = strategy_state.strategy AND intents.seen = 0 AND intents.state IN (${QUOTED_TERMINAL_STATES})
    JOIN transitions ON transitions.intent_id = intents.intent_id AND transitions.state = intents.state
    ORDER BY transitions.number`).all();
  return rows.map(({ outcome }) => readOutcome(String(outcome)));
}
