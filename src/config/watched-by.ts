import type { FeedSpec } from '../market/feed.ts';
import type { StrategyConfig } from './run-config.ts';

/** Something that a strategy watches, under the name that it gave it. */
export interface WatchedInput {
  readonly name: string;
  readonly spec: FeedSpec;
}

/** Returns what a strategy watches with its parameters. Throws what the author's own code throws. */
export function watchedBy({ strategy, params }: Pick<StrategyConfig, 'strategy' | 'params'>): WatchedInput[] {
  return Object.entries(strategy.inputs(params)).map(([name, { spec }]) => ({ name, spec }));
}
