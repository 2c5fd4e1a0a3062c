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
  const usd = [a, b].map((mint) => youngestUsd(market, mint, within)?.age ?? Infinity);
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

/** Returns the price of a whole token in US dollars by its statistics or record, and its age; undefined without one. */
export function usdPriceOf(market: MarketCache, mint: Mint, fresh: Freshness): UsdReading | undefined {
  return youngestUsd(market, mint, fresh);
}

/** A price in US dollars, and how old it is. */
interface UsdReading {
  readonly price: number;
  readonly age: Millis;
}

/** Returns the youngest price in US dollars of a token's statistics and of its record. */
function youngestUsd(market: MarketCache, mint: Mint, { at, maxAgeMs }: Freshness): UsdReading | undefined {
  let youngest: UsdReading | undefined;
  for (const slot of market.statsSlots(mint)) {
    const event = market.latest(slot);
    if (event?.kind !== 'token-stats' && event?.kind !== 'token-record') continue;
    const { usdPrice: price } = event.kind === 'token-stats' ? event.values : event.record.values;
    if (price === undefined || !(price > 0 && price < Infinity)) continue;
    // At any age, what was received last counts.
    const age = at === Infinity ? -event.receivedAt : readingAge(event, at);
    if (at !== Infinity && !(age <= maxAgeMs && age < Infinity)) continue;
    if (youngest === undefined || age < youngest.age) youngest = { price, age };
  }
  return youngest;
}

function valueByUsd(market: MarketCache, tokens: TokenTable, of: Valuable, fresh: Freshness): Amount | undefined {
  const fromUsd = youngestUsd(market, of.mint, fresh)?.price;
  if (fromUsd === undefined) return undefined;
  const toUsd = youngestUsd(market, of.currency, fresh)?.price;
  const from = tokens.byMint(of.mint);
  const to = tokens.byMint(of.currency);
  if (!from || !to || toUsd === undefined) return undefined;
  const value = (Number(of.amount) * fromUsd * 10 ** (to.decimals - from.decimals)) / toUsd;
  return Number.isFinite(value) && value >= 0 ? (BigInt(Math.floor(value)) as Amount) : undefined;
}
