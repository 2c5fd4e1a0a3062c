import type { Outcome } from './intent.ts';

/** The state that a strategy keeps beyond a restart, at one moment. Both members are saved together, or neither is. */
export interface StrategyState {
  readonly strategy: string;
  /** JSON in a form that the strategy defines. */
  readonly text: string;
  /** The intents whose last outcome the strategy has seen since its state was last taken; the text includes them. */
  readonly seen: readonly string[];
}

/** The states of strategies that an earlier run saved. */
export interface RestoredStates {
  /** The saved text of each strategy. */
  readonly states: Readonly<Record<string, string>>;
  /** Last outcomes of intents that their strategies have not seen, in order of arrival. */
  readonly unseen: readonly Outcome[];
}

/** The restored states of a first run. */
export const NO_RESTORED_STATES: RestoredStates = { states: {}, unseen: [] };
