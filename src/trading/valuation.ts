import type { Amount } from '../core/amount.ts';
import { mulDiv } from '../core/amount.ts';
import type { Millis } from '../core/time.ts';
import type { MarketEventBase } from '../market/event.ts';
import type { Quote } from '../market/quote.ts';
import type { Mint, TokenTable } from '../market/token.ts';
import type { MarketCache } from './market-cache.ts';
import type { EngineState } from './engine-state.ts';

/** An amount and the token in which it is to be valued. */
interface Valuable {
  readonly mint: Mint;
  readonly amount: bigint;
  readonly currency: Mint;
}

/** The prices that count: those of at most this age at an instant. */
interface Freshness {
  readonly at: Millis;
  readonly maxAgeMs: Millis;
}

/** The default age of prices: bars of an hour still value one another, yesterday's do not. */
export const VALUE_MAX_AGE_MS = 7_200_000;

/** How far a source's clock may be ahead before its data counts as from the future. */
const CLOCK_SKEW_MS = 5_000;

const ANY_AGE: Freshness = { at: Infinity, maxAgeMs: Infinity };

/**
 * Returns the age of an event's data, by the older of its own time and its arrival. Infinity where a time is NaN or in
 * the future.
 */
export function readingAge({ receivedAt, eventAt }: MarketEventBase, at: Millis): Millis {
  if (!(receivedAt <= at)) return Infinity;
  if (eventAt === undefined) return at - receivedAt;
  if (!(eventAt <= at + CLOCK_SKEW_MS)) return Infinity;
  return at - Math.min(receivedAt, eventAt);
}

/**
 * Returns the value of an amount in smallest units of another token, floored: by the youngest quote from it, by one to
 * it, or by both tokens' US dollar prices, in this order. Undefined without a fresh price, so that limits fail closed.
 * A quote of zero is no price, because every amount would be within every limit.
 */
export function valueIn(
  market: MarketCache, tokens: TokenTable, of: Valuable, fresh: Freshness = ANY_AGE,
): Amount | undefined {
  if (of.mint === of.currency) return of.amount as Amount;
  const selling = youngestQuote(market, of.mint, of.currency, fresh);
  if (selling !== undefined) return mulDiv(of.amount as Amount, selling.outAmount, selling.inAmount, 'floor');
  const buying = youngestQuote(market, of.currency, of.mint, fresh);
  if (buying !== undefined) return mulDiv(of.amount as Amount, buying.inAmount, buying.outAmount, 'floor');
  return valueByUsd(market, tokens, of, fresh);
}

/** Returns the present value of an amount in another token; undefined where no price is fresh enough. */
export function currentValue(
  state: EngineState, { mint, amount }: { readonly mint: Mint; readonly amount: bigint }, currency: Mint, at: Millis,
): Amount | undefined {
  return valueIn(state.market, state.tokens, { mint, amount, currency }, {
    at, maxAgeMs: state.limits.maxValueAgeMs ?? VALUE_MAX_AGE_MS,
  });
}

/**
 * Returns the age of the youngest price between two tokens: a quote either way, or both prices in US dollars; Infinity
 * without one.
 */
export function priceAge(market: MarketCache, a: Mint, b: Mint, at: Millis): Millis {
  const within = { at, maxAgeMs: Infinity };
  const quotes = [youngestQuote(market, a, b, within), youngestQuote(market, b, a, within)];
  const ages = quotes.map((quote) => (quote === undefined ? Infinity : readingAge(quote, at)));
  const usd = [a, b].map((mint) =>
    (usdPrice(market, mint, within) === undefined ? Infinity : readingAge(market.tokenStats(mint)!, at)));
  return Math.min(...ages, Math.max(...usd));
}

function youngestQuote(market: MarketCache, from: Mint, to: Mint, { at, maxAgeMs }: Freshness): Quote | undefined {
  let youngest: Quote | undefined;
  let least = Infinity;
  for (const slot of market.quoteSlots(from, to)) {
    const quote = market.latest(slot);
    if (quote?.kind !== 'quote' || quote.inAmount <= 0n || quote.outAmount <= 0n) continue;
    if (at === Infinity) {
      if (youngest === undefined || quote.receivedAt > youngest.receivedAt) youngest = quote;
      continue;
    }
    const age = readingAge(quote, at);
    if (age > maxAgeMs || age === Infinity || (youngest !== undefined && age >= least)) continue;
    youngest = quote;
    least = age;
  }
  return youngest;
}

function usdPrice(market: MarketCache, mint: Mint, { at, maxAgeMs }: Freshness): number | undefined {
  const stats = market.tokenStats(mint);
  if (stats === undefined) return undefined;
  if (at !== Infinity && !(readingAge(stats, at) <= maxAgeMs && readingAge(stats, at) < Infinity)) return undefined;
  const { usdPrice: price } = stats.values;
  return price !== undefined && price > 0 && price < Infinity ? price : undefined;
}

function valueByUsd(market: MarketCache, tokens: TokenTable, of: Valuable, fresh: Freshness): Amount | undefined {
  const fromUsd = usdPrice(market, of.mint, fresh);
  if (fromUsd === undefined) return undefined;
  const toUsd = usdPrice(market, of.currency, fresh);
  const from = tokens.byMint(of.mint);
  const to = tokens.byMint(of.currency);
  if (!from || !to || toUsd === undefined) return undefined;
  const value = (Number(of.amount) * fromUsd * 10 ** (to.decimals - from.decimals)) / toUsd;
  return Number.isFinite(value) && value >= 0 ? (BigInt(Math.floor(value)) as Amount) : undefined;
}
