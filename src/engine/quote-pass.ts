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
 * Passes recorded quotes over that change prices of the market and nothing else: no timer is due, and the operators
 * that take the prices emit nothing. No strategy sees such a quote, so it is not made; the
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
   * Returns how many rows were passed, from the first one on. All of them are stamped before the next timer of the
   * engine and of `simulated`; both clocks go on to the last one. Protections are checked at the rows where they are
   * due, and a row at which one changes is the last. After a refusal, none is passed before the refused quote is
   * published. `seq` is the number of the first row.
   */
  pass({ rows, from, end, since, until }: QuoteRun, simulated: VirtualClock, seq: number): number {
    const { guarded, protections } = this.#state;
    // Exit rules check each price, and a change of watches comes first.
    if (guarded.size > 0 || this.#routes.isRewatched || this.#routes.isRefused) return 0;
    const before = Math.min(until, simulated.nextAt(), this.#clock.nextAt());
    const { codes, texts } = rows.feeds;
    if (this.#texts !== texts) {
      this.#texts = texts;
      this.#feeds = [];
    }
    this.#call += 1;
    let passedAt = -Infinity;
    let { nextCheckAt } = protections;
    let code = -1;
    let feed: PassedFeed | undefined;
    let row = from;
    while (row < end) {
      const at = rows.timeAt(row);
      if (at >= before || at < since) break;
      if (codes[row] !== code) {
        code = codes[row]!;
        feed = this.#feedOf(code);
      }
      if (feed?.takers === undefined || !this.#take(feed.takers, rows, row)) break;
      if (at > passedAt) passedAt = at;
      if (at >= nextCheckAt) {
        this.#observeLast(rows, seq - from);
        step(this.#state, seq + row - from, at, rows.inputAt(row));
        feed.lastRow = -1;
        ({ nextCheckAt } = protections);
      } else {
        feed.lastRow = row;
      }
      row += 1;
      if (protections.changes.length > 0) break;
    }
    if (row > from) {
      this.#clock.advanceTo(passedAt);
      simulated.advanceTo(this.#clock.now());
    }
    this.#observeLast(rows, seq - from);
    this.#met.length = 0;
    return row - from;
  }

  /** Lets the market observe the last passed row of each feed; the number of a row is the row plus `offset`. */
  #observeLast(rows: QuoteRows, offset: number): void {
    for (const feed of this.#met) {
      const { lastRow } = feed;
      if (lastRow >= 0) step(this.#state, lastRow + offset, rows.timeAt(lastRow), rows.inputAt(lastRow));
      feed.lastRow = -1;
    }
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
