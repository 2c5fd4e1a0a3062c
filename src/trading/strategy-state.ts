import type { Outcome } from './intent.ts';

/** What a strategy keeps beyond a restart, as of one moment. Both members are written together, or neither is. */
export interface StrategyState {
  readonly strategy: string;
  /** JSON; what it means is the strategy's own. */
  readonly text: string;
  /**
   * Intents whose last outcome the strategy was shown since its state was last taken: the text holds what it made of
   * them.
   */
  readonly seen: readonly string[];
}

/** What strategies begin with that an earlier run left. */
export interface StrategyLegacy {
  /** By strategy: the text it kept. */
  readonly states: Readonly<Record<string, string>>;
  /** Last outcomes of intents that their strategies were not shown, in the order in which they came. */
  readonly unseen: readonly Outcome[];
}

/** The beginning of strategies that have none behind them. */
export const NO_LEGACY: StrategyLegacy = { states: {}, unseen: [] };
