import { bps } from '../../core/amount.ts';
import { GannetError } from '../../core/errors.ts';
import type { Clock, Millis } from '../../core/time.ts';
import type { FeedKey, MarketEvent } from '../../market/event.ts';
import type { FeedSpec } from '../../market/feed.ts';
import { feedKey, sharedFeeds } from '../../market/feed.ts';
import { rateOf } from '../../market/quote.ts';
import type { TokenStats } from '../../market/token-stats.ts';
import type { CallOptions } from '../priority.ts';
import type { Service } from '../service.ts';
import { MAX_SEARCH_MINTS } from '../token-search.ts';
import { malformed } from '../wire/read.ts';
import type { TokenRecords } from '../wire/token-record.ts';

/** The parts of the service that feeds look at. */
export type FeedSource = Pick<Service, 'swap' | 'tokens' | 'prediction'>;

type QuoteSpec = Extract<FeedSpec, { kind: 'quote' }>;
type BookSpec = Extract<FeedSpec, { kind: 'order-book' }>;
type StatsSpec = Extract<FeedSpec, { kind: 'token-stats' }>;

/** One request that is repeated, and the feeds it serves. */
export interface Poll {
  readonly feeds: readonly FeedKey[];
  readonly everyMs: Millis;
  /** Returns the event or the fault of each of its feeds; rejects where the request as a whole failed. */
  request(signal: AbortSignal): Promise<ReadonlyMap<FeedKey, MarketEvent | GannetError>>;
}

/** Returns the requests that serve the specs: each thing once, token statistics of one rate together. */
export function pollsFor(specs: Iterable<FeedSpec>, source: FeedSource, clock: Clock): Poll[] {
  const shared = sharedFeeds(specs);
  const single = shared.flatMap((spec) => {
    if (spec.kind === 'quote') return [pollQuote(spec, source, clock)];
    return spec.kind === 'order-book' ? [pollBook(spec, source, clock)] : [];
  });
  return [...single, ...batches(shared.filter((spec) => spec.kind === 'token-stats')).map((batch) => pollStats(batch, source, clock))];
}

function pollQuote(spec: QuoteSpec, { swap }: FeedSource, clock: Clock): Poll {
  const feed = feedKey(spec);
  return {
    feeds: [feed],
    everyMs: spec.everyMs,
    async request(signal) {
      const order = await swap.order({ inputMint: spec.inputMint, outputMint: spec.outputMint, amount: spec.amount }, watching(signal));
      const { inputMint, outputMint, inAmount, outAmount, threshold, priceImpact, contextSlot, router } = order;
      if (inputMint !== spec.inputMint || outputMint !== spec.outputMint || inAmount !== spec.amount) {
        throw malformed(`expected a quote for ${feed}`, `one for quote:${inputMint}:${outputMint}:${inAmount}`);
      }
      const rate = rateOf(inAmount, outAmount);
      return new Map([[feed, {
        kind: 'quote', feed, receivedAt: clock.now(), inputMint, outputMint, inAmount, outAmount, threshold,
        priceImpact, contextSlot, router, feeBps: bps(Math.ceil(order.feeBps)), rate,
      }]]);
    },
  };
}

function pollBook(spec: BookSpec, { prediction }: FeedSource, clock: Clock): Poll {
  const feed = feedKey(spec);
  const { marketId } = spec;
  return {
    feeds: [feed],
    everyMs: spec.everyMs,
    async request(signal) {
      const book = await prediction.orderBook(marketId, watching(signal));
      if (book === undefined) throw new GannetError('BOOK_MISSING', `no book: the service has none for the market ${marketId}`);
      return new Map([[feed, { kind: 'order-book', feed, receivedAt: clock.now(), marketId, ...book }]]);
    },
  };
}

function pollStats(specs: readonly StatsSpec[], { tokens }: FeedSource, clock: Clock): Poll {
  const mints = specs.map(({ mint }) => mint);
  return {
    feeds: specs.map(feedKey),
    everyMs: specs[0]!.everyMs,
    async request(signal) {
      const answer = await tokens.search(mints, watching(signal));
      const receivedAt = clock.now();
      return new Map(specs.map((spec) => [feedKey(spec), statsOf(spec, answer, receivedAt)]));
    },
  };
}

function statsOf(spec: StatsSpec, { records, rejected }: TokenRecords, receivedAt: Millis): TokenStats | GannetError {
  const { mint } = spec;
  const record = records.find(({ id }) => id === mint);
  if (record !== undefined) {
    const { values, updatedAt: eventAt } = record;
    return { kind: 'token-stats', feed: feedKey(spec), receivedAt, ...(eventAt === undefined ? {} : { eventAt }), mint, values };
  }
  const spoilt = rejected.find(({ id }) => id === mint);
  if (spoilt !== undefined) return new GannetError('SERVICE_MALFORMED', spoilt.message);
  return new GannetError('TOKEN_UNKNOWN', `expected a record of the token ${mint}, the service gave none`);
}

function batches(specs: readonly StatsSpec[]): StatsSpec[][] {
  const byRate = Map.groupBy(specs, ({ everyMs }) => everyMs);
  return [...byRate.values()].flatMap((group) =>
    Array.from({ length: Math.ceil(group.length / MAX_SEARCH_MINTS) }, (_, batch) =>
      group.slice(batch * MAX_SEARCH_MINTS, (batch + 1) * MAX_SEARCH_MINTS)));
}

function watching(signal: AbortSignal): CallOptions {
  return { priority: 'watch', signal };
}
