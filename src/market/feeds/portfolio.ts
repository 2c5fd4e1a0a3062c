import type { Amount } from '../../core/amount.ts';
import type { MarketEventBase } from '../event-base.ts';
import type { Mint } from '../token.ts';
import type { FeedKind } from './feed-kind.ts';

/** What a strategy owns of one token. Amounts are smallest units, costs and values those of the budget's token. */
export interface OwnedToken {
  readonly mint: Mint;
  readonly amount: Amount;
  /** What the whole holding cost, fees included; undefined where a part's cost is unknown. */
  readonly cost: Amount | undefined;
  /** What its sale would bring; undefined without a fresh price. */
  readonly value: Amount | undefined;
}

/** A change of what a strategy owns, or of what that is worth. The engine makes it from its state. */
export interface PortfolioEvent extends MarketEventBase {
  readonly kind: 'portfolio';
  /** The value of all holdings together; undefined without a budget or a fresh price. */
  readonly equity: Amount | undefined;
  /** The tokens of which it owns something, in the order of their mints. */
  readonly holdings: readonly OwnedToken[];
}

/** The subjects of what the engine knows itself, by kind. */
export interface PortfolioSubjects {
  /** Of the strategy that declares it. */
  readonly 'portfolio': object;
}

/** The events of the same feeds. */
export interface PortfolioEvents {
  readonly 'portfolio': PortfolioEvent;
}

/** The feeds of what the engine knows itself. */
export const PORTFOLIO_FEEDS: {
  readonly [K in keyof PortfolioSubjects]: FeedKind<PortfolioSubjects[K], PortfolioEvents[K]>
} = {
  'portfolio': {
    input: 'portfolio',
    keyOf: () => 'own',
    read: () => ({}),
    origin: 'engine',
    feedsPerRequest: 1,
    mints: () => [],
    nouns: ['portfolio', 'portfolios'],
    reading: ({ holdings }) => `${holdings.length} tokens`,
  },
};
