import { formatDecimal } from '../../core/amount.ts';
import type { Millis } from '../../core/time.ts';
import type { PageMarket } from '../../dashboard/page-state.ts';
import type { FeedKey } from '../../market/event.ts';
import { feedTokens, symbolOf } from '../../market/market-text.ts';
import type { Mint, TokenTable } from '../../market/token.ts';
import type { FeedStats } from '../../service/feeds/feed-stats.ts';
import { USD } from '../../store/history.ts';
import type { EngineState } from '../../trading/engine-state.ts';
import { usdPriceOf } from '../../trading/valuation.ts';
import { priceText } from './page-amount.ts';

/** The decimal places of prices in US dollars, as in the history. */
export const USD_PLACES = 12;

/** Older than so many intervals, a price is late. */
const LATE_INTERVALS = 3;
/** Polls of a plan that is too small are so much rarer than their interval, so the measured age counts too. */
const LATE_MEAN_AGES = 4;
const LATE_MIN_MS: Millis = 3_000;

/** A pair whose price is in the second token, for one of the first. */
export interface Pair {
  /** "SOL/USDC". */
  readonly name: string;
  readonly base: Mint;
  readonly quote: Mint | typeof USD;
}

/** A pair with the feeds that give its price. */
export interface WatchedPair extends Pair {
  readonly feeds: readonly FeedStats[];
  readonly strategies: readonly string[];
}

/**
 * Returns a reader of the pairs that a run watches: those of quotes, and US dollar prices of tokens with statistics or
 * records. It remembers the pairs of the feeds that it was given last.
 */
export function pairReader(
  state: EngineState,
): (feeds: readonly FeedStats[], feedsOf: ReadonlyMap<string, readonly FeedKey[]>) => WatchedPair[] {
  let known: ReadonlyMap<FeedKey, Pair | undefined> = new Map();
  return (feeds, feedsOf) => {
    const currencies = new Set([...state.portfolio.books.values()].map(({ budget }) => budget?.mint));
    const pairOfFeed = new Map<FeedKey, Pair | undefined>(feeds.map(({ feed }) =>
      [feed, known.has(feed) ? known.get(feed) : pairOf(state.tokens, feed, currencies)]));
    known = pairOfFeed;
    const pairs = new Map<string, { pair: Pair; feeds: FeedStats[]; strategies: Set<string> }>();
    for (const feed of feeds) {
      const pair = pairOfFeed.get(feed.feed);
      if (pair === undefined) continue;
      const same = pairs.get(pair.name);
      if (same === undefined) pairs.set(pair.name, { pair, feeds: [feed], strategies: new Set() });
      else same.feeds.push(feed);
    }
    for (const [strategy, watched] of feedsOf) {
      for (const feed of watched) {
        const pair = pairOfFeed.get(feed);
        if (pair !== undefined) pairs.get(pair.name)!.strategies.add(strategy);
      }
    }
    return [...pairs.values()].map(({ pair, feeds: own, strategies }) =>
      ({ ...pair, feeds: own, strategies: [...strategies] }));
  };
}

/** Returns the pair of a name, where both tokens are known by these symbols. */
export function pairNamed(tokens: TokenTable, name: string): Pair | undefined {
  const [base = '', quote = '', ...rest] = name.split('/');
  const mintOf = (symbol: string): Mint | undefined =>
    (tokens.bySymbol(symbol) ?? tokens.byMint(symbol as Mint))?.mint;
  const from = mintOf(base);
  const to = quote === USD ? USD : mintOf(quote);
  return rest.length > 0 || from === undefined || to === undefined ? undefined : { name, base: from, quote: to };
}

/** Returns the name of the pair of two tokens. */
export function pairName(tokens: TokenTable, base: Mint, quote: Mint | typeof USD): string {
  return `${symbolOf(tokens, base)}/${quote === USD ? USD : symbolOf(tokens, quote)}`;
}

/** Returns the feeds of each strategy's inputs, by strategy. */
export function feedsByStrategy({ strategies, market }: EngineState): Map<string, FeedKey[]> {
  return new Map([...strategies].map(([name, { inputs, watches }]) => [name, [...inputs, ...watches]
    .flatMap((slot) => market.latest(slot)?.feed ?? [])]));
}

/** The token of a budget is the second one, whichever way is quoted. */
function pairOf(
  tokens: TokenTable, feed: FeedKey, currencies: ReadonlySet<Mint | undefined>,
): Pair | undefined {
  const { input, output } = feedTokens(feed) ?? {};
  if (input === undefined) return undefined;
  if (output === undefined) return { name: pairName(tokens, input, USD), base: input, quote: USD };
  const isTurned = currencies.has(input) && !currencies.has(output)
    || (currencies.has(input) === currencies.has(output) && input > output);
  const [base, quote] = isTurned ? [output, input] : [input, output];
  return { name: pairName(tokens, base, quote), base, quote };
}

/** Returns a market as the page shows it. */
export function pageMarket(
  state: EngineState, { name, base, quote, feeds, strategies }: WatchedPair, now: Millis,
): Omit<PageMarket, 'spark'> {
  const latest = latestPrice(state, { base, quote }, now);
  return {
    pair: name, strategies, price: latest?.price ?? null, at: latest?.at ?? null,
    every_ms: Math.min(...feeds.map(({ everyMs }) => everyMs)), health: healthOf(feeds, now),
  };
}

/** Returns the newest price of a pair: what a sale of the first token brings, else what a purchase costs. */
export function latestPrice(
  { market, tokens }: EngineState, { base, quote }: Pick<Pair, 'base' | 'quote'>, now: Millis,
): { readonly price: string; readonly at: Millis } | undefined {
  if (quote === USD) {
    const usd = usdPriceOf(market, base, { at: now, maxAgeMs: Infinity });
    // Beyond that, a double has no places left.
    return usd === undefined || !(usd.price < Number.MAX_SAFE_INTEGER) ? undefined
      : { price: formatDecimal(BigInt(Math.round(usd.price * 10 ** USD_PLACES)), USD_PLACES), at: now - usd.age };
  }
  const sale = market.latestQuote(base, quote);
  const sold = sale === undefined ? undefined
    : priceText(tokens, { mint: base, amount: sale.inAmount }, { mint: quote, amount: sale.outAmount });
  if (sold !== undefined) return { price: sold, at: sale!.receivedAt };
  const purchase = market.latestQuote(quote, base);
  const bought = purchase === undefined ? undefined
    : priceText(tokens, { mint: base, amount: purchase.outAmount }, { mint: quote, amount: purchase.inAmount });
  return bought === undefined ? undefined : { price: bought, at: purchase!.receivedAt };
}

function healthOf(feeds: readonly FeedStats[], now: Millis): PageMarket['health'] {
  if (feeds.some(({ status }) => status !== 'healthy')) return 'failing';
  if (feeds.every(({ lastAnswerAt }) => lastAnswerAt === undefined)) return 'waiting';
  return feeds.some((feed) => isLate(feed, now)) ? 'late' : 'fresh';
}

/** Returns whether the data of a feed is older than its interval and its usual age explain. */
export function isLate(
  { lastAnswerAt, everyMs, meanAgeMs = 0 }: FeedStats, now: Millis,
): boolean {
  const lateMs = Math.max(LATE_MIN_MS, LATE_INTERVALS * everyMs, LATE_MEAN_AGES * meanAgeMs);
  return lastAnswerAt !== undefined && now - lastAnswerAt > lateMs;
}
