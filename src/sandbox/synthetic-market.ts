import { bps, type Amount } from '../core/amount.ts';
import { GannetError } from '../core/errors.ts';
import type { Json } from '../core/json.ts';
import { seededRandom } from '../core/random.ts';
import type { Millis } from '../core/time.ts';
import type { MarketEvent } from '../market/event.ts';
import { feedKey } from '../market/feed.ts';
import type { BookLevel } from '../market/order-book.ts';
import type { Mint, Pair, Token } from '../market/token.ts';
import { readTokenValues } from '../service/wire/token-record.ts';
import { afterFee, payOut } from './chain/swap-math.ts';
import { GENESIS_POOLS, GENESIS_TOKENS, type GenesisPool, type GenesisToken } from './genesis.ts';
import { createMarket, type Market, type MarketPool } from './market/market.ts';
import { poolPrice, type Reserves } from './market/pool-price.ts';
import { createPredictionMarket, PREDICTION_MARKETS, type PredictionLevel } from './market/prediction-market.ts';
import type { PriceMotion } from './market/price-process.ts';
import { SLOTS_PER_DAY } from './market/slot-counts.ts';
import { tokenRecord } from './service/tokens/token-record.ts';

export const SLOT_MS = 400;
/** The sizes of each pair's quotes, in US dollars at the first slot, in both directions. */
const RUNGS_USD = [10, 25, 100, 500, 2_000] as const;
/**
 * The markets whose books are watched: two that always have one, one that becomes thin, one that is sometimes
 * unreachable.
 */
const BOOKS: readonly string[] = ['SPRINGTIDE-26DEC31', '540817', '541266', '541301'];
const MICRO_USD_PER_STEP = 100;
const FIRST_SLOT = 300_000_000;
/** Only one router trades there. */
const RESERVED = 'Sound';

export interface SyntheticMarketOptions {
  readonly seed: number;
  readonly pairs: readonly Pair[];
  readonly startAt: Millis;
  readonly days: number;
  /** Between two samples of the same quote; rounded to whole slots. */
  readonly everyMs: Millis;
  /** Between two samples of statistics and books; rounded to whole slots. */
  readonly slowEveryMs: Millis;
  readonly motion: PriceMotion;
}

/** Returns the verified token of the sandbox with this symbol. Throws TOKEN_UNKNOWN. */
export function sandboxToken(symbol: string): Token {
  const found = GENESIS_TOKENS.find((token) => token.symbol === symbol && token.isVerified);
  const known = GENESIS_TOKENS.filter(({ isVerified }) => isVerified).map((token) => token.symbol).join(', ');
  if (found === undefined)
    throw new GannetError('TOKEN_UNKNOWN', `expected a token of the sandbox (${known}), got "${symbol.slice(0, 40)}"`);
  return { mint: found.mint as Mint, symbol: found.symbol, decimals: found.decimals };
}

/**
 * Yields the events of feeds on the sandbox's market, in the order of time: for each pair quotes of several sizes in
 * both directions, the tokens' statistics, and books of prediction markets with their outages. The market moves slot by
 * slot, without waiting. Equal options give equal events. Throws TOKEN_UNKNOWN where no pool trades a pair.
 */
export function* syntheticMarket(options: SyntheticMarketOptions): Generator<MarketEvent> {
  const { seed, pairs, startAt, days } = options;
  const latency = seededRandom(`${seed}:latency`);
  const tokens = tokensOf(pairs);
  const { market, pools, reserves } = marketOf(seed, tokens, options.motion);
  const quotes = pairs.flatMap((pair) => ladder(pair, pools));
  const books = BOOKS.map((marketId) => watchedBook(seed, marketId));
  const quoteSlots = slotsOf(options.everyMs);
  const slowSlots = slotsOf(options.slowEveryMs);
  const endSlot = Math.round(days * SLOTS_PER_DAY);
  let slot = 0;
  let at = startAt;
  const answeredAt = (): Millis => (at = Math.max(at, startAt + slot * SLOT_MS) + 5 + Math.floor(latency() * 30));
  for (;;) {
    // The end is sampled too: a day less ten seconds is no day.
    if (slot % quoteSlots === 0 || slot === endSlot)
      for (const quote of quotes) yield quote(reserves, answeredAt(), FIRST_SLOT + slot);
    if (slot % slowSlots === 0) {
      for (const token of tokens) yield statsOf(token, market, { at: answeredAt(), slot: FIRST_SLOT + slot });
      for (const sampleBook of books) {
        const event = sampleBook(answeredAt(), slot);
        if (event !== undefined) yield event;
      }
    }
    if (slot >= endSlot) return;
    const next = Math.min(endSlot, (Math.floor(slot / quoteSlots) + 1) * quoteSlots, (Math.floor(slot / slowSlots) + 1)
      * slowSlots);
    market.step(next - slot);
    slot = next;
  }
}

function slotsOf(everyMs: Millis): number {
  return Math.max(1, Math.round(everyMs / SLOT_MS));
}

function tokensOf(pairs: readonly Pair[]): readonly GenesisToken[] {
  const wanted = new Set<string>(pairs.flatMap(({ base, quote }) => [base.mint, quote.mint]));
  // A price may follow another's.
  for (const { mint, peg } of GENESIS_TOKENS) if (peg !== undefined && wanted.has(mint)) wanted.add(peg);
  return GENESIS_TOKENS.filter(({ mint }) => wanted.has(mint));
}

function marketOf(
  seed: number, tokens: readonly GenesisToken[], motion: PriceMotion,
): { market: Market; pools: readonly MarketPool[]; reserves: PoolStates } {
  const mints = new Set(tokens.map(({ mint }) => mint));
  const reserves = new Map<string, PricedReserves>();
  const pools = GENESIS_POOLS.filter(({ mintA, mintB }) => mints.has(mintA) && mints.has(mintB))
    .map((pool, index): MarketPool => {
      const address = `${pool.label}-${index}`;
      reserves.set(address, priced(startReserves(pool)));
      return { address, label: pool.label, mintA: pool.mintA, mintB: pool.mintB, feeBps: pool.feeBps };
    });
  const market = createMarket({
    seed, tokens, pools, motion,
    reserves: {
      readPool: (address) => reserves.get(address)!,
      writeReserves: (address, next) => { reserves.set(address, priced(next)); },
    },
  });
  return { market, pools, reserves };
}

function startReserves({ mintA, mintB, depthUsd }: GenesisPool): Reserves {
  const units = (mint: string): bigint =>
    BigInt(Math.round((depthUsd / startUsd(mint)) * 10 ** genesis(mint).decimals));
  return { reserveA: units(mintA), reserveB: units(mintB) };
}

function startUsd(mint: string): number {
  const { usdPrice, peg } = genesis(mint);
  return usdPrice * (peg === undefined ? 1 : startUsd(peg));
}

function genesis(mint: string): GenesisToken {
  return GENESIS_TOKENS.find((token) => token.mint === mint)!;
}

/** What a pool holds, and its price, which every sample of a round reads. */
interface PricedReserves extends Reserves {
  readonly price: number;
}

type PoolStates = ReadonlyMap<string, PricedReserves>;

function priced(reserves: Reserves): PricedReserves {
  return { ...reserves, price: poolPrice(reserves) };
}

type QuoteSampler = (reserves: PoolStates, at: Millis, slot: number) => MarketEvent;

/** Returns the quotes of all sizes of a pair in both directions, each from the best of its pools. */
function ladder({ base, quote }: Pair, pools: readonly MarketPool[]): QuoteSampler[] {
  const own = pools.filter(({ label, mintA, mintB }) =>
    label !== RESERVED && (mintA === base.mint ? mintB === quote.mint : mintA === quote.mint && mintB === base.mint));
  if (own.length === 0) throw new GannetError(
    'TOKEN_UNKNOWN', `expected a pair that a pool of the sandbox trades, got ${base.symbol}/${quote.symbol}`,
  );
  return RUNGS_USD.flatMap((usd) => [
    quoteSampler(quote.mint, base.mint, sizeOf(quote, usd), own),
    quoteSampler(base.mint, quote.mint, sizeOf(base, usd), own),
  ]);
}

/** A round amount of a token, of about so many dollars. */
function sizeOf({ mint, decimals }: Token, usd: number): Amount {
  const whole = usd / startUsd(mint);
  const power = Math.floor(Math.log10(whole));
  const leading = whole / 10 ** power;
  const round = [1, 2, 2.5, 5, 10]
    .reduce((nearest, digit) => (Math.abs(digit - leading) < Math.abs(nearest - leading) ? digit : nearest));
  return BigInt(Math.max(1, Math.round(round * 10 ** (power + decimals)))) as Amount;
}

function quoteSampler(inputMint: Mint, outputMint: Mint, inAmount: Amount, pools: readonly MarketPool[]): QuoteSampler {
  const feed = feedKey({ kind: 'quote', inputMint, outputMint, amount: inAmount, everyMs: SLOT_MS });
  const feeBps = bps(0);
  const hops = pools.map((pool) =>
    ({ address: pool.address, isForward: pool.mintA === inputMint, net: afterFee(inAmount, pool.feeBps) }));
  return (reserves, at, slot) => {
    let outAmount = 0n;
    let spot = 0;
    for (const { address, isForward, net } of hops) {
      const held = reserves.get(address)!;
      const out = payOut(isForward ? { reserveIn: held.reserveA, reserveOut: held.reserveB } : {
        reserveIn: held.reserveB, reserveOut: held.reserveA,
      }, inAmount, net);
      if (out <= outAmount) continue;
      outAmount = out;
      spot = isForward ? held.price : 1 / held.price;
    }
    const rate = Number(outAmount) / Number(inAmount);
    return {
      kind: 'quote', feed, receivedAt: at, inputMint, outputMint, inAmount, outAmount: outAmount as Amount,
      threshold: outAmount as Amount,
      priceImpact: rate / spot - 1, contextSlot: BigInt(slot), router: 'iris', feeBps, rate,
    };
  };
}

function statsOf(
  token: GenesisToken, market: Market, { at, slot }: { readonly at: Millis; readonly slot: number },
): MarketEvent {
  const mint = token.mint as Mint;
  const record = tokenRecord({
    token, usdPrice: market.usdPrice(mint), liquidity: market.liquidityUsd(mint), holders: market.holders(mint),
    tape: market.tape(mint), profile: 'reference', slot, nowMs: at, firstPool: undefined,
  });
  return {
    kind: 'token-stats', feed: feedKey({ kind: 'token-stats', mint, everyMs: SLOT_MS }), receivedAt: at, eventAt: at,
    mint, values: readTokenValues(record as Json),
  };
}

/** Returns a sampler of a book, which reports the begin and the end of an outage once each. */
function watchedBook(seed: number, marketId: string): (at: Millis, slot: number) => MarketEvent | undefined {
  const market = createPredictionMarket({
    ...PREDICTION_MARKETS.find((known) => known.marketId === marketId)!, seed: `${seed}:books`,
  });
  const feed = feedKey({ kind: 'order-book', marketId, everyMs: SLOT_MS });
  let failures = 0;
  return (at, slot) => {
    const book = market.book(slot);
    if (book === null) return undefined;
    if (book === 'unreachable') {
      failures += 1;
      return failures > 1 ? undefined : {
        kind: 'feed-health', feed, receivedAt: at, status: 'degraded', code: 'SERVICE_STATUS',
        message: 'the venue does not answer', consecutiveFailures: failures,
      };
    }
    if (failures > 0) {
      failures = 0;
      return { kind: 'feed-health', feed, receivedAt: at, status: 'healthy', consecutiveFailures: 0 };
    }
    return { kind: 'order-book', feed, receivedAt: at, marketId, yes: levels(book.yes), no: levels(book.no) };
  };
}

function levels(side: readonly PredictionLevel[]): BookLevel[] {
  return side.map(({ price, size }) => ({ priceMicroUsd: price * MICRO_USD_PER_STEP, size }));
}
