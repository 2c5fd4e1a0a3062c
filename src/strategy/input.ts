import type { Amount, Bps } from '../core/amount.ts';
import { amount } from '../core/amount.ts';
import { assert } from '../core/assert.ts';
import { GannetError } from '../core/errors.ts';
import type { Millis } from '../core/time.ts';
import { parseDuration } from '../core/time.ts';
import type { MarketEvent } from '../market/event.ts';
import type { FeedSpec } from '../market/feed.ts';
import type { FeedEventByKind, FeedSubject } from '../market/feeds/registry.ts';
import type { OrderBook } from '../market/order-book.ts';
import type { Quote, QuoteDetail } from '../market/quote.ts';
import type { SignalEvent } from '../market/signal.ts';
import type { TokenStats } from '../market/token-stats.ts';
import type { Pair, Token, TokenAmount } from '../market/token.ts';
import { formatTokenAmount } from '../market/token.ts';

/**
 * Takes the prices of quotes that lead to nothing, so that a backtest need not make them. Returns whether it took the
 * price, and nothing follows from it; otherwise its quote must come next.
 */
export type TakesPrice = (price: number, receivedAt: Millis) => boolean;

/** Converts events. */
interface Adapter<T> {
  (event: MarketEvent): T;
  /** Returns the price of a quote's rate, where the result is a quote with this price. */
  readonly priceOf?: ((rate: number) => number) | undefined;
}

/** Converts events with a memory of its own. */
interface Assembler<T> extends Adapter<readonly T[]> {
  readonly takesPrice?: TakesPrice | undefined;
}

/** An input of a strategy: the feed to poll, and the form in which the strategy sees its events. */
export interface Input<T> {
  readonly spec: FeedSpec;
  /** Converts the feed's event for the strategy. Called once per event, so it must be fast. */
  readonly adapt: Adapter<T>;
  /** Further feeds of an input that is assembled from several. */
  readonly further?: readonly FeedSpec[] | undefined;
  /**
   * Where present, it replaces `adapt`: returns a converter with a memory of its own, for one run of a strategy. The
   * converter returns what an event leads to, in order, often nothing. It reads the events alone.
   */
  readonly assemble?: (() => Assembler<T>) | undefined;
}

/** Returns all feeds of an input. */
export function specsOf({ spec, further }: Pick<Input<unknown>, 'spec' | 'further'>): readonly FeedSpec[] {
  return further === undefined ? [spec] : [spec, ...further];
}

/** Returns the function that hands the events of an input's feeds to `emit`, in the form of the strategy. */
export function deliverer(input: Input<unknown>, emit: (value: unknown) => void): (event: MarketEvent) => void {
  const { adapt, assemble } = input;
  return assemble === undefined ? (event) => { emit(adapt(event)); } : assembling(assemble(), emit);
}

/** Returns the function that hands what an assembler makes of events to `emit`. */
export function assembling(
  convert: Assembler<unknown>, emit: (value: unknown) => void,
): (event: MarketEvent) => void {
  return (event) => {
    for (const value of convert(event)) emit(value);
  };
}

/** The `adapt` of an input with `assemble`. */
export function unassembled(): never {
  return assert(false, 'an assembled input is converted by its own converter') as never;
}

/** How an input is polled. */
export interface PollOptions {
  /** The wanted interval, "5s". Where the request rate does not suffice for all feeds, it is polled less often. */
  readonly every: string;
  /**
   * The weight of its freshness relative to other feeds, positive; 1 where absent. Where the request rate does not
   * suffice, a feed of weight 4 is polled twice as often as one of weight 1.
   */
  readonly weight?: number | undefined;
}

/**
 * A quote with the pair's price. Only `at` and `price` are own members; the others are getters, live and in backtests
 * alike, so that a spread copy holds the same two members everywhere.
 */
export class PricedQuote {
  readonly at: Millis;
  /** Quote tokens for one base token, in whole tokens: for signals, never for money. */
  readonly price: number;
  readonly #quote: Quote | QuoteDetail;

  constructor(quote: Quote | QuoteDetail, price: number) {
    this.at = quote.receivedAt;
    this.price = price;
    this.#quote = quote;
  }

  /** The input in smallest units. */
  get inAmount(): Amount {
    return this.#quote.inAmount;
  }

  /** The output in smallest units. */
  get outAmount(): Amount {
    return this.#quote.outAmount;
  }

  /** The least output after slippage as the service states it, in smallest units. */
  get threshold(): Amount {
    return this.#quote.threshold;
  }

  /** Signed fraction, negative is worse; undefined where the service does not state it. */
  get priceImpact(): number | undefined {
    return this.#quote.priceImpact;
  }

  get feeBps(): Bps {
    return this.#quote.feeBps;
  }

  get router(): string {
    return this.#quote.router;
  }

  /** The slot at which the service read the market; undefined where it does not state it. */
  get contextSlot(): bigint | undefined {
    return this.#quote.contextSlot;
  }
}

/**
 * How the price of a quote is converted, by the difference of the tokens' decimals. Inputs of the same form share the
 * function, by which the engine knows that it may convert an event once for all of them.
 */
const purchases = new Map<number, Adapter<PricedQuote>>();
const sales = new Map<number, Adapter<PricedQuote>>();

function pricedBy(
  known: Map<number, Adapter<PricedQuote>>, decimals: number, priceOf: (rate: number) => number,
): Adapter<PricedQuote> {
  let priced = known.get(decimals);
  if (priced === undefined) {
    priced = Object.assign((event: MarketEvent) => {
      assert(event.kind === 'quote', 'a quote feed emits quotes');
      return new PricedQuote(event, priceOf(event.rate));
    }, { priceOf });
    known.set(decimals, priced);
  }
  return priced;
}

/** A quote with everything that the service says, its route among it. */
export class DetailedQuote extends PricedQuote {
  readonly #detail: QuoteDetail;

  constructor(detail: QuoteDetail, price: number) {
    super(detail, price);
    this.#detail = detail;
  }

  get detail(): QuoteDetail {
    return this.#detail;
  }
}

/** The size of a quote, and how it is polled. */
type QuoteOptions = PollOptions & { readonly amount: TokenAmount };

/**
 * Returns the input of a pair's executable price at a size. A size in the quote token watches the price of a
 * purchase, a size in the base token that of a sale; `price` is always quote tokens per base token. With `detail`
 * each quote carries everything that the service says, from the same request.
 */
export function quotes(pair: Pair, options: QuoteOptions & { readonly detail: true }): Input<DetailedQuote>;
export function quotes(pair: Pair, options: QuoteOptions & { readonly detail?: false }): Input<PricedQuote>;
export function quotes(
  pair: Pair, { detail = false, ...options }: QuoteOptions & { readonly detail?: boolean },
): Input<PricedQuote> {
  const { token } = options.amount;
  const buying = token.mint === pair.quote.mint;
  if (!buying && token.mint !== pair.base.mint) {
    throw new GannetError('STRATEGY_INVALID',
      `expected an amount of ${pair.base.symbol} or ${pair.quote.symbol}, got ${formatTokenAmount(options.amount)}`);
  }
  const decimals = pair.base.decimals - pair.quote.decimals;
  const scale = 10 ** decimals;
  const priceOf = buying ? (rate: number) => scale / rate : (rate: number) => scale * rate;
  const [inputToken, outputToken] = buying ? [pair.quote, pair.base] : [pair.base, pair.quote];
  const spec = {
    kind: 'quote' as const, inputMint: inputToken.mint, outputMint: outputToken.mint,
    amount: amount(options.amount.amount), ...pollRate(options),
  };
  if (!detail) return { spec, adapt: pricedBy(buying ? purchases : sales, decimals, priceOf) };
  const adapt = (event: MarketEvent): DetailedQuote => {
    assert(event.kind === 'quote-detail', 'a feed of complete quotes emits complete quotes');
    return new DetailedQuote(event, priceOf(event.rate));
  };
  // The plain quote of the same answer is the price by which the engine values, sells and simulates.
  return {
    spec, further: [{ ...spec, kind: 'quote-detail' }], adapt,
    assemble: () => (event) => (event.kind === 'quote' ? [] : [adapt(event)]),
  };
}

/** Returns the input of a prediction market's order book. */
export function orderBook(marketId: string, options: PollOptions): Input<OrderBook> {
  return eventInput({ kind: 'order-book', marketId }, options);
}

/** Returns the input of a token's statistics; polled together with other tokens' where their rates agree. */
export function tokenStats(token: Token, options: PollOptions): Input<TokenStats> {
  return eventInput({ kind: 'token-stats', mint: token.mint }, options);
}

/** A feed that is not polled has a rate for its form alone. */
const UNPOLLED = '1s';

/**
 * Returns the input of the signals that other programs send to the daemon under a name of the section `signals`, by
 * `POST /api/signals/NAME`. Each is seen, in the order of arrival; `body` is what the program sent.
 */
export function signals(name: string): Input<SignalEvent> {
  return eventInput({ kind: 'signal', name }, { every: UNPOLLED });
}

/** Returns the input of a feed whose events a strategy sees as they are. Throws DURATION_INVALID, STRATEGY_INVALID. */
export function eventInput<S extends FeedSubject>(subject: S, options: PollOptions): Input<FeedEventByKind[S['kind']]> {
  return {
    spec: { ...subject, ...pollRate(options) },
    adapt: (event) => {
      assert(event.kind === subject.kind, () => `a feed of the kind ${subject.kind} emits events of this kind`);
      return event as FeedEventByKind[S['kind']];
    },
  };
}

/** Throws DURATION_INVALID and STRATEGY_INVALID. */
function pollRate({ every, weight }: PollOptions): Pick<FeedSpec, 'everyMs' | 'weight'> {
  const everyMs = parseDuration(every);
  if (weight === undefined) return { everyMs };
  if (!(Number.isFinite(weight) && weight > 0)) {
    throw new GannetError(
      'STRATEGY_INVALID', `expected the weight of an input to be a number above 0, got ${String(weight).slice(0, 40)}`,
    );
  }
  return { everyMs, weight };
}
