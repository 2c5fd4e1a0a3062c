import type { Amount, MicroUsd } from '../core/amount.ts';
import { amount, mulDiv } from '../core/amount.ts';
import type { Millis } from '../core/time.ts';
import type { MarketEvent } from '../market/event.ts';
import type { FeedSpec } from '../market/feed.ts';
import { feedKey } from '../market/feed.ts';
import { listWords } from '../market/feeds/tokens.ts';
import type { BookLevel } from '../market/order-book.ts';
import { ONE_USD } from '../market/order-book.ts';
import type { MarketPricing, PredictionMarket } from '../market/prediction.ts';
import { rateOf } from '../market/quote.ts';
import { signalBodyFault } from '../market/signal.ts';
import type { TokenRecord } from '../market/token-record.ts';
import type { Pair, Token, TokenTable } from '../market/token.ts';
import type { WalletTransaction } from '../market/wallet-activity.ts';
import { parseTokenAmount } from '../strategy/params.ts';

// How a test writes the events of each kind of feed: one value with sensible defaults for everything else.

/** A value of an event as a test writes it: what is left out has a default of its kind of feed. */
export type MarketValue = number | string | readonly unknown[] | Readonly<Record<string, unknown>>;

/** The surroundings of an event. */
interface ValueScope {
  readonly tokens: TokenTable;
  readonly at: Millis;
  /** Returns the pair whose price a quote between two tokens has. */
  readonly pairOf: (spec: QuoteSpec) => Pair;
}

/** The feed of a price at a size. */
export type QuoteSpec = FeedSpec & { readonly kind: 'quote' | 'quote-detail' };

type Members = Readonly<Record<string, unknown>>;

/** Returns whether a feed is that of a price. */
export function isQuoteSpec(spec: FeedSpec): spec is QuoteSpec {
  return spec.kind === 'quote' || spec.kind === 'quote-detail';
}

/** Returns the event of each feed of an input for one value; a ladder takes a list with a price for each size. */
export function eventsOf(specs: readonly FeedSpec[], value: MarketValue, scope: ValueScope): MarketEvent[] {
  const sizes = [...new Set(specs.filter(isQuoteSpec).map((spec) => spec.amount))];
  return specs.flatMap((spec): MarketEvent[] => {
    if (!isQuoteSpec(spec)) return [eventOf(spec, value, scope)];
    const own = quoteValue(spec, value, { sizes, pair: scope.pairOf(spec) });
    return own === undefined ? [] : [eventOf(spec, own, scope)];
  });
}

/** Returns the value of one size or one side; undefined where the value says nothing of this side. */
function quoteValue(
  spec: QuoteSpec, value: MarketValue, { sizes, pair }: { readonly sizes: readonly Amount[]; readonly pair: Pair },
): MarketValue | undefined {
  if (Array.isArray(value)) return value[sizes.indexOf(spec.amount)] as MarketValue | undefined;
  if (typeof value !== 'object' || !('buy' in value || 'sell' in value)) return value;
  return named(value)[spec.inputMint === pair.quote.mint ? 'buy' : 'sell'] as MarketValue | undefined;
}

function eventOf(spec: FeedSpec, value: MarketValue, scope: ValueScope): MarketEvent {
  const members = isQuoteSpec(spec) ? quoteOf(spec, value, scope) : membersOf(spec, value, scope);
  return { kind: spec.kind, feed: feedKey(spec), receivedAt: scope.at, ...members } as unknown as MarketEvent;
}

function quoteOf(spec: QuoteSpec, value: MarketValue, { pairOf }: ValueScope): Members {
  const { price, ...rest } = typeof value === 'object' ? value as Members : { price: value };
  if (typeof price !== 'number' || !(price > 0) || !Number.isFinite(price))
    throw new TypeError(`expected a price above 0, got ${shown(price)}`);
  const { inputMint, outputMint, amount: inAmount } = spec;
  const outAmount = outputAtPrice(spec, pairOf(spec), price);
  if (outAmount === 0n) throw new TypeError(`at a price of ${price}, ${inAmount} smallest units bring nothing`);
  return {
    inputMint, outputMint, inAmount, outAmount, threshold: outAmount, priceImpact: 0, router: 'test',
    feeBps: 0, rate: rateOf(inAmount, outAmount), ...rest,
  };
}

/** Returns what an amount brings at a price: quote tokens for one base token. Floored. */
function outputAtPrice({ inputMint, amount: inAmount }: QuoteSpec, { base, quote }: Pair, price: number): Amount {
  const [num, den] = rational(price);
  const baseUnit = 10n ** BigInt(base.decimals);
  const quoteUnit = 10n ** BigInt(quote.decimals);
  return inputMint === quote.mint ? mulDiv(inAmount, baseUnit * den, quoteUnit * num, 'floor')
    : mulDiv(inAmount, quoteUnit * num, baseUnit * den, 'floor');
}

/** Returns the shortest decimal of a number as a fraction. */
function rational(value: number): readonly [bigint, bigint] {
  const [, whole = '', places = '', exponent = '0'] = /^(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(value)) ?? [];
  const digits = BigInt(whole + places);
  const power = Number(exponent) - places.length;
  return power >= 0 ? [digits * 10n ** BigInt(power), 1n] : [digits, 10n ** BigInt(-power)];
}

function membersOf(spec: Exclude<FeedSpec, QuoteSpec>, value: MarketValue, scope: ValueScope): Members {
  switch (spec.kind) {
    case 'order-book':
      return { marketId: spec.marketId, ...bookOf(value) };
    case 'token-stats':
      return { mint: spec.mint, values: typeof value === 'number' ? { usdPrice: value } : named(value) };
    case 'token-record':
      return { mint: spec.mint, record: recordOf(scope.tokens.byMint(spec.mint) ?? { mint: spec.mint }, value) };
    case 'token-list':
      return { list: listWords(spec).join(' '), tokens: listed(value).map((entry) => listedRecord(entry, scope)) };
    case 'prediction-market':
      return { eventId: spec.eventId, market: marketOf(spec.marketId, value) };
    case 'event-markets': {
      const markets = listed(value).map((entry) => marketOf('', named(entry)));
      return { eventId: spec.eventId, markets, total: markets.length };
    }
    case 'prediction-events':
      return { events: listed(value).map((event) => ({ tags: [], metadata: {}, markets: [], ...named(event) })) };
    case 'prediction-positions':
      return { owner: spec.owner, positions: listed(value), total: listed(value).length };
    case 'prediction-history':
      return { owner: spec.owner, entries: listed(value), total: listed(value).length };
    case 'lend-earnings':
      return { owner: spec.owner, earnings: listed(value) };
    case 'wallet-activity': {
      const transactions = Array.isArray(value) ? value as readonly unknown[] : [value];
      return { owner: spec.owner, transactions: transactions.map((one) => transactionOf(named(one), scope)) };
    }
    case 'signal': {
      const fault = signalBodyFault(value);
      if (fault !== undefined) throw new TypeError(`the body of a signal: ${fault}`);
      return { name: spec.name, body: value };
    }
    case 'portfolio':
      throw new TypeError('the engine makes the events of a portfolio: swaps and prices change it');
  }
}

/** The width of a book that is given as a probability, as a fraction of a dollar. */
const BOOK_WIDTH = 0.02;
const BOOK_SIZE = 100;

/**
 * Returns both sides of a book: from a probability, from `{ bid, ask, size }` of YES, or from levels as
 * `{ yes: [[0.61, 100]], no: [[0.37, 100]] }`. Prices are fractions of a dollar; both sides are bids.
 */
function bookOf(value: MarketValue): { readonly yes: readonly BookLevel[]; readonly no: readonly BookLevel[] } {
  if (typeof value === 'number') {
    const half = BOOK_WIDTH / 2;
    return bookOf({ yes: [[value - half, BOOK_SIZE]], no: [[1 - value - half, BOOK_SIZE]] });
  }
  const { bid, ask, size = BOOK_SIZE, yes = [], no = [] } = named(value);
  const sides = { yes: [...levels(yes)], no: [...levels(no)] };
  if (bid !== undefined) sides.yes.push(level([bid, size]));
  if (ask !== undefined) sides.no.push(level([1 - (ask as number), size]));
  return sides;
}

function levels(value: unknown): BookLevel[] {
  return listed(value).map(level);
}

function level(value: unknown): BookLevel {
  const [price, size] = listed(value);
  if (typeof price !== 'number' || typeof size !== 'number')
    throw new TypeError(`expected a level as [price, size], got ${shown(value)}`);
  return { priceMicroUsd: Math.round(price * ONE_USD), size };
}

function recordOf(token: Partial<Token>, value: MarketValue): TokenRecord {
  const given = typeof value === 'number' ? { values: { usdPrice: value } } : named(value);
  return {
    id: token.mint, symbol: token.symbol ?? 'TOKEN', name: token.symbol ?? 'TOKEN', decimals: token.decimals ?? 6,
    audit: {}, tags: [], values: {}, ...given,
  } as TokenRecord;
}

/** Returns a record of a list: an alias, or members of the record with the alias as `symbol`, or with its mint. */
function listedRecord(entry: unknown, { tokens }: ValueScope): TokenRecord {
  const given = typeof entry === 'string' ? { symbol: entry } : named(entry);
  const { symbol } = given;
  const known = typeof symbol === 'string' ? tokens.bySymbol(symbol) : undefined;
  if (known === undefined && given['id'] === undefined) {
    throw new TypeError(`a list names ${shown(symbol)}: name it under "tokens" of the test, or give its mint as "id"`);
  }
  return recordOf(known ?? {}, given);
}

/** Returns a market: from the price of YES as a fraction of a dollar, from its result as text, or from its members. */
function marketOf(marketId: string, value: MarketValue): PredictionMarket {
  const open = { marketId, status: 'open', outcomes: [], metadata: {}, pricing: {} };
  if (typeof value === 'number') return { ...open, pricing: pricingAt(value) };
  if (typeof value === 'string') return { ...open, status: 'closed', result: value };
  return { ...open, ...named(value) };
}

function pricingAt(price: number): MarketPricing {
  const yes = BigInt(Math.round(price * ONE_USD)) as MicroUsd;
  const no = BigInt(ONE_USD) - yes as MicroUsd;
  return { buyYesPriceUsd: yes, sellYesPriceUsd: yes, buyNoPriceUsd: no, sellNoPriceUsd: no };
}

/** Returns a transaction; its changes may be texts such as "-150 USDC" and "+1 SOL". */
function transactionOf({ changes = [], ...rest }: Members, { tokens }: ValueScope): WalletTransaction {
  return {
    signature: 'signature', slot: 1, hasFailed: false, isSigner: true, ...rest,
    changes: listed(changes).map((change) => (typeof change === 'string' ? changeOf(change, tokens) : change)),
  } as WalletTransaction;
}

function changeOf(text: string, tokens: TokenTable): WalletTransaction['changes'][number] {
  const [, sign, rest = ''] = /^([+-]?)(.*)$/.exec(text)!;
  const parsed = parseTokenAmount(rest, tokens);
  if (typeof parsed === 'string') throw new TypeError(`a change of a wallet: ${parsed}`);
  const { token, amount: size } = parsed;
  return { mint: token.mint, amount: sign === '-' ? -amount(size) : size, decimals: token.decimals };
}

function named(value: unknown): Members {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Members;
  throw new TypeError(`expected an object, got ${shown(value)}`);
}

function listed(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value as readonly unknown[];
  throw new TypeError(`expected a list, got ${shown(value)}`);
}

function shown(value: unknown): string {
  return JSON.stringify(value, (_name, inner: unknown) => (typeof inner === 'bigint' ? inner.toString() : inner))
    ?.slice(0, 100) ?? String(value);
}
