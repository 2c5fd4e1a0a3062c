import type { Millis } from '../core/time.ts';
import type { FeedKey } from '../market/event.ts';
import type { QuoteRows, QuoteRun } from '../market/quote.ts';
import type { EngineState } from '../trading/engine-state.ts';
import type { FeedSlot } from '../trading/market-cache.ts';
import { step } from '../trading/step.ts';
import type { FeedRoutes, PriceTaker } from './feed-routes.ts';
import type { VirtualClock } from './virtual-clock.ts';

/** A feed of the rows. */
interface PassedFeed {
  readonly slot: FeedSlot;
  /** Undefined where every quote must be made. */
  takers: readonly PriceTaker[] | undefined;
  /** The number of the call of `pass` that `takers` and `lastRow` are of. */
  call: number;
  /** The last row that was passed; negative without one. */
  lastRow: number;
}

/**
 * Passes recorded quotes over that change prices of the market and nothing else: no timer is due, no protection is
 * checked, and the operators that take the prices emit nothing. No strategy sees such a quote, so it is not made; the
 * market keeps the last one of each feed. Most rows of a backtest pass this way, at a fraction of the cost.
 */
export class QuotePass {
  readonly #state: EngineState;
  readonly #clock: VirtualClock;
  readonly #routes: FeedRoutes;
  /** The feeds of `#texts`, by code. */
  #feeds: (PassedFeed | undefined)[] = [];
  #texts: readonly FeedKey[] = [];
  /** The feeds of the present call. */
  readonly #met: PassedFeed[] = [];
  #call = 0;

  constructor({ state, clock }: { readonly state: EngineState; readonly clock: VirtualClock }, routes: FeedRoutes) {
    this.#state = state;
    this.#clock = clock;
    this.#routes = routes;
  }

  /**
   * Returns how many rows were passed, from the first one on. All of them are stamped before `until`, before the next
   * timer, and before the next check of protections. After a refusal, none is passed before the refused quote is
   * published. `seq` is the number of the first row.
   */
  pass({ rows, from, end, since, until: runUntil }: QuoteRun, until: Millis, seq: number): number {
    const { guarded, protections } = this.#state;
    // Exit rules check each price, and a change of watches comes first.
    if (guarded.size > 0 || this.#routes.isRewatched || this.#routes.isRefused) return 0;
    const before = Math.min(until, runUntil, this.#clock.nextAt(), protections.nextCheckAt);
    const { codes, texts } = rows.feeds;
    if (this.#texts !== texts) {
      this.#texts = texts;
      this.#feeds = [];
    }
    this.#call += 1;
    let passedAt = -Infinity;
    let code = -1;
    let feed: PassedFeed | undefined;
    let row = from;
    for (; row < end; row++) {
      const at = rows.timeAt(row);
      if (at >= before || at < since) break;
      if (codes[row] !== code) {
        code = codes[row]!;
        feed = this.#feedOf(code);
      }
      if (feed?.takers === undefined || !this.#take(feed.takers, rows, row)) break;
      feed.lastRow = row;
      if (at > passedAt) passedAt = at;
    }
    this.#clock.advanceTo(passedAt);
    for (const { lastRow } of this.#met) {
      if (lastRow >= 0) step(this.#state, seq + lastRow - from, rows.timeAt(lastRow), rows.inputAt(lastRow));
    }
    this.#met.length = 0;
    return row - from;
  }

  /** Returns whether every operator takes the price of a row. Those that took it do not see its quote. */
  #take(takers: readonly PriceTaker[], rows: QuoteRows, row: number): boolean {
    const rate = rows.rateAt(row);
    for (let i = 0; i < takers.length; i++) {
      const { priceOf, operator } = takers[i]!;
      if (operator.takesPrice(priceOf(rate), rows.receivedAt(row))) continue;
      this.#routes.refuse(i);
      return false;
    }
    return true;
  }

  #feedOf(code: number): PassedFeed {
    const feed = this.#feeds[code]
      ??= { slot: this.#state.market.slotOf(this.#texts[code]!), takers: undefined, call: -1, lastRow: -1 };
    if (feed.call === this.#call) return feed;
    feed.call = this.#call;
    feed.lastRow = -1;
    feed.takers = this.#routes.takersOf(feed.slot, feed.takers);
    this.#met.push(feed);
    return feed;
  }
}
