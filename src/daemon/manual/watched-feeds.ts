import type { Millis } from '../../core/time.ts';
import type { FeedSpec } from '../../market/feed.ts';
import { feedKey } from '../../market/feed.ts';
import type { PollingFeed } from '../../service/feeds/feeds.ts';
import type { EngineState } from '../../trading/engine-state.ts';
import { isManualBook } from '../../trading/manual/manual-book.ts';

/** Often enough for the value of a position, and cheap for the request budget. */
const PRICE_EVERY_MS: Millis = 60_000;

/** The feeds that are polled beside inputs: what strategies watch, and prices of what manual swaps hold. */
export class WatchedFeeds {
  readonly #state: Pick<EngineState, 'portfolio'>;
  readonly #feed: Pick<PollingFeed, 'watch'>;
  #watched: readonly FeedSpec[] = [];
  #manual: readonly FeedSpec[] = [];

  constructor(state: Pick<EngineState, 'portfolio'>, feed: Pick<PollingFeed, 'watch'>) {
    this.#state = state;
    this.#feed = feed;
  }

  /** Takes the feeds that strategies watch now. */
  watch(specs: readonly FeedSpec[]): void {
    this.#watched = specs;
    this.#feed.watch([...specs, ...this.#manual]);
  }

  /** Follows what manual swaps hold; call after each outcome. */
  review(): void {
    const manual = manualFeeds(this.#state);
    const keys = (specs: readonly FeedSpec[]): string => specs.map(feedKey).join(' ');
    if (keys(manual) === keys(this.#manual)) return;
    this.#manual = manual;
    this.watch(this.#watched);
  }
}

/** Returns the feeds that price what manual swaps bought, each at the size of its sale. */
function manualFeeds({ portfolio }: Pick<EngineState, 'portfolio'>): FeedSpec[] {
  return [...portfolio.books].flatMap(([name, { budget, balances }]) => {
    if (!isManualBook(name) || budget === undefined) return [];
    return [...balances].filter(([mint]) => mint !== budget.mint).map(([inputMint, amount]): FeedSpec =>
      ({ kind: 'quote', inputMint, outputMint: budget.mint, amount, everyMs: PRICE_EVERY_MS }));
  });
}
