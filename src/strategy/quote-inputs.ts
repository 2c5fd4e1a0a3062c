import { mulDiv } from '../core/amount.ts';
import { GannetError } from '../core/errors.ts';
import type { Millis } from '../core/time.ts';
import { formatDuration, parseDuration } from '../core/time.ts';
import type { Bar } from '../market/bar.ts';
import type { FeedKey, MarketEvent } from '../market/event.ts';
import { feedKey } from '../market/feed.ts';
import type { Pair, TokenAmount } from '../market/token.ts';
import type { Input, PollOptions, PricedQuote } from './input.ts';
import { quotes, unassembled } from './input.ts';

// Inputs that are assembled from quotes. Each quote is a feed of its own, recorded and shared like any other, so that
// these inputs work on every recording that holds their quotes, imported ones too.

/** The most sizes of a ladder. */
const RUNGS_MAX = 32;

/** The prices of several sizes of a pair, or of several pairs, from one round of quotes. */
export interface QuoteLadder {
  /** When the last of the quotes was received. */
  readonly at: Millis;
  /** In the order of the amounts. */
  readonly rungs: readonly PricedQuote[];
}

/**
 * Returns the input of a pair's prices at several sizes: one request for each size, and one event when every size was
 * answered again. While the answer to one size is missing, there is no event. Sizes in the quote token are purchases,
 * those in the base token sales.
 */
export function quoteLadder(
  pair: Pair, { amounts, ...options }: PollOptions & { readonly amounts: readonly TokenAmount[] },
): Input<QuoteLadder> {
  return quoteRound(amounts.map((amount) => ({ pair, amount })), options);
}

/**
 * Returns the input of the prices of several pairs, each at its size: one request for each, and one event when every
 * one was answered again. They are answered one after the other, so compare their times and slots.
 */
export function quoteRound(
  questions: readonly { readonly pair: Pair; readonly amount: TokenAmount }[], options: PollOptions,
): Input<QuoteLadder> {
  if (questions.length < 1 || questions.length > RUNGS_MAX) {
    throw new GannetError(
      'STRATEGY_INVALID', `expected 1 to ${RUNGS_MAX} amounts of a ladder, got ${questions.length}`);
  }
  const prices = questions.map(({ pair, amount }) => quotes(pair, { amount, ...options }));
  return joined(prices, (rungs) => ({ at: latest(rungs), rungs }));
}

/**
 * Returns what an amount becomes where each swap of a round spends what the one before it brings, in smallest units.
 * Undefined where that is more than a swap was quoted for: its price would be another one.
 */
export function chainedOutput({ rungs }: QuoteLadder, spent: bigint): bigint | undefined {
  let carried = spent;
  for (const { inAmount, outAmount } of rungs) {
    if (carried > inAmount) return undefined;
    carried = mulDiv(carried, outAmount, inAmount, 'floor');
  }
  return carried;
}

/** Returns how far apart the quotes of a round are: by their receipt, and by the market's slot where it is stated. */
export function roundSpan({ rungs }: QuoteLadder): { readonly ms: Millis; readonly slots: number } {
  const slots = rungs.flatMap(({ contextSlot }) => (contextSlot === undefined ? [] : [Number(contextSlot)]));
  return { ms: spanOf(rungs.map(({ at }) => at)), slots: slots.length === 0 ? 0 : spanOf(slots) };
}

function spanOf(numbers: readonly number[]): number {
  return Math.max(...numbers) - Math.min(...numbers);
}

/** What a pair costs and brings at the same time. */
export interface TwoSidedQuote {
  /** When the later of the two was received. */
  readonly at: Millis;
  readonly buy: PricedQuote;
  readonly sell: PricedQuote;
  /** The mean of both prices. */
  readonly mid: number;
  /** The price of the purchase less that of the sale, as a fraction of the mid: what a round trip costs. */
  readonly spread: number;
}

/**
 * Returns the input of both sides of a pair: `buy` is an amount of the quote token, `sell` one of the base token. Two
 * requests, and one event when both were answered again.
 */
export function twoSided(
  pair: Pair,
  { buy, sell, ...options }: PollOptions & { readonly buy: TokenAmount; readonly sell: TokenAmount },
): Input<TwoSidedQuote> {
  if (buy.token.mint !== pair.quote.mint || sell.token.mint !== pair.base.mint) {
    throw new GannetError('STRATEGY_INVALID', `expected "buy" in ${pair.quote.symbol} and "sell" in `
      + `${pair.base.symbol}, got ${buy.token.symbol} and ${sell.token.symbol}`);
  }
  const sides = [buy, sell].map((amount) => quotes(pair, { amount, ...options }));
  return joined(sides, ([bought, sold]) => {
    const mid = (bought!.price + sold!.price) / 2;
    return {
      at: latest([bought!, sold!]), buy: bought!, sell: sold!, mid, spread: (bought!.price - sold!.price) / mid,
    };
  });
}

function latest(parts: readonly PricedQuote[]): Millis {
  return parts.reduce((at, part) => Math.max(at, part.at), 0);
}

const NOTHING: readonly never[] = [];

/**
 * Joins the quotes of one round: the newest of each part, once every part was renewed. Where one part was left out of a
 * round, the next one would end with the first part of the round after it, and so on for ever. So the late parts of a
 * round that took more than half an interval also begin the next one.
 */
function joined<T>(
  parts: readonly Input<PricedQuote>[], join: (quotes: readonly PricedQuote[]) => T,
): Input<T> {
  const [{ spec }, ...others] = parts as [Input<PricedQuote>, ...Input<PricedQuote>[]];
  const places = Map.groupBy(parts.keys(), (index) => feedKey(parts[index]!.spec));
  return {
    spec, further: others.map((other) => other.spec), adapt: unassembled,
    assemble: () => {
      let renewed = new Map<FeedKey, MarketEvent>();
      return (event) => {
        renewed.set(event.feed, event);
        if (renewed.size < places.size) return NOTHING;
        const round = renewed;
        renewed = lateParts(round, event.receivedAt - spec.everyMs / 2);
        return [join(parts.map((part) => part.adapt(round.get(feedKey(part.spec))!)))];
      };
    },
  };
}

/** Returns the parts of a round since an instant, where others are older. */
function lateParts(round: ReadonlyMap<FeedKey, MarketEvent>, since: Millis): Map<FeedKey, MarketEvent> {
  const late = new Map([...round].filter(([, { receivedAt }]) => receivedAt >= since));
  return late.size === round.size ? new Map() : late;
}

/** After a silence of more bars than these, bars begin again, and the silence has none. */
const GAPS_MAX = 1_000;

/**
 * Returns the input of a pair's bars, built from the prices at a size that is polled every `poll`. Bars are aligned to
 * UTC. A price belongs to the bar in which it was received; one at the very end of a bar is its close. A bar is emitted
 * when a price at or after its end is there, so a bar never changes and never looks ahead. An interval without a price
 * is a bar with `isGap`. The first interval is left out unless it was seen from its start.
 */
export function bars(
  pair: Pair, { every, poll, amount, weight }: {
    /** The length of a bar, "5m". */
    readonly every: string;
    /** The interval of the quotes; at most half a bar. */
    readonly poll: string;
    readonly amount: TokenAmount;
    readonly weight?: number | undefined;
  },
): Input<Bar> {
  const barMs = parseDuration(every);
  const price = quotes(pair, { amount, every: poll, weight });
  const pollMs = price.spec.everyMs;
  if (barMs < 2 * pollMs) {
    throw new GannetError('STRATEGY_INVALID', `expected bars of at least twice the interval of their quotes, `
      + `${formatDuration(2 * pollMs)}, got ${formatDuration(barMs)}`);
  }
  return {
    spec: price.spec, adapt: unassembled,
    assemble: () => {
      const builder = new BarBuilder(barMs, pollMs);
      const convert = (event: MarketEvent): readonly Bar[] => {
        const quote = price.adapt(event);
        return builder.add(quote.at, quote.price);
      };
      return Object.assign(convert, {
        priceOf: price.adapt.priceOf,
        takesPrice: (taken: number, receivedAt: Millis) => builder.extends(receivedAt, taken),
      });
    },
  };
}

interface OpenBar {
  readonly openAt: Millis;
  readonly closeAt: Millis;
  readonly open: number;
  high: number;
  low: number;
  close: number;
  ticks: number;
}

/** Builds bars from prices in the order of their times. */
class BarBuilder {
  readonly #barMs: Millis;
  readonly #pollMs: Millis;
  /** The interval that is under way; its first may have been seen only in part. */
  #bar: OpenBar | undefined;
  #isPartial = false;
  /** The end and the close of the last finished interval. */
  #doneAt: Millis = -Infinity;
  #lastClose = 0;

  constructor(barMs: Millis, pollMs: Millis) {
    this.#barMs = barMs;
    this.#pollMs = pollMs;
  }

  /** Returns the bars that are over with this price; a price of an interval that is over already changes nothing. */
  add(at: Millis, price: number): readonly Bar[] {
    if (at <= this.#doneAt) return NOTHING;
    const closeAt = Math.ceil(at / this.#barMs) * this.#barMs;
    const done: Bar[] = [];
    if (this.#bar !== undefined && closeAt > this.#bar.closeAt) this.#finish(done);
    if (this.#bar === undefined) this.#begin(closeAt, at, price, done);
    else this.#extend(this.#bar, price);
    if (at === closeAt) this.#finish(done);
    return done;
  }

  /** Takes a price within the interval that is under way, which ends no bar; returns false where it is another one. */
  extends(at: Millis, price: number): boolean {
    const bar = this.#bar;
    if (bar === undefined || at <= bar.openAt || at >= bar.closeAt) return false;
    this.#extend(bar, price);
    return true;
  }

  #begin(closeAt: Millis, at: Millis, price: number, done: Bar[]): void {
    const openAt = closeAt - this.#barMs;
    // Before the first interval the silence has no beginning.
    const silent = (openAt - this.#doneAt) / this.#barMs;
    const gaps = silent > GAPS_MAX ? 0 : silent;
    for (let gap = 0; gap < gaps; gap++) done.push(this.#gap(this.#doneAt + gap * this.#barMs));
    this.#isPartial = silent > GAPS_MAX && at - openAt > this.#pollMs;
    this.#bar = { openAt, closeAt, open: price, high: price, low: price, close: price, ticks: 1 };
  }

  #extend(bar: OpenBar, price: number): void {
    bar.high = Math.max(bar.high, price);
    bar.low = Math.min(bar.low, price);
    bar.close = price;
    bar.ticks += 1;
  }

  #finish(done: Bar[]): void {
    const bar = this.#bar!;
    if (!this.#isPartial) done.push(bar);
    this.#doneAt = bar.closeAt;
    this.#lastClose = bar.close;
    this.#bar = undefined;
    this.#isPartial = false;
  }

  #gap(openAt: Millis): Bar {
    const close = this.#lastClose;
    return {
      openAt, closeAt: openAt + this.#barMs, open: close, high: close, low: close, close, ticks: 0, isGap: true,
    };
  }
}
