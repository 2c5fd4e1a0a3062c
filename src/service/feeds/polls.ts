import { bps } from '../../core/amount.ts';
import { GannetError } from '../../core/errors.ts';
import type { Clock, Millis } from '../../core/time.ts';
import type { FeedKey, MarketEvent } from '../../market/event.ts';
import type { FeedSpec } from '../../market/feed.ts';
import { feedKey } from '../../market/feed.ts';
import type { PollDemand } from '../../market/poll-plan.ts';
import { pollGroups } from '../../market/poll-plan.ts';
import { rateOf } from '../../market/quote.ts';
import type { TokenStats } from '../../market/token-stats.ts';
import type { SwapOrder, SwapRequest } from '../../trading/swap-terms.ts';
import type { WatchPace } from '../rate/back-off.ts';
import type { CallOptions } from '../rate/rate-plan.ts';
import type { Service } from '../service.ts';
import { malformed } from '../wire/read.ts';
import type { TokenRecords } from '../wire/token-record.ts';

/** The parts of the service that feeds poll. */
export interface FeedSource {
  readonly swap: { order(request: SwapRequest, call?: CallOptions): Promise<SwapOrder> };
  readonly tokens: Pick<Service['tokens'], 'search'>;
  readonly prediction: Pick<Service['prediction'], 'orderBook'>;
  watchPace(): WatchPace;
}

type QuoteSpec = Extract<FeedSpec, { kind: 'quote' }>;
type BookSpec = Extract<FeedSpec, { kind: 'order-book' }>;
type StatsSpec = Extract<FeedSpec, { kind: 'token-stats' }>;

/** One request that is repeated, and the feeds it serves. */
export interface Poll extends PollDemand {
  readonly feeds: readonly FeedKey[];
  /** Returns the event or the fault of each of its feeds; rejects where the request as a whole failed. */
  request(call: CallOptions): Promise<ReadonlyMap<FeedKey, MarketEvent | GannetError>>;
}

/** Returns the requests that serve the specs: each thing once, token statistics of one rate together. */
export function pollsFor(specs: Iterable<FeedSpec>, source: FeedSource, clock: Clock): Poll[] {
  return pollGroups(specs).map(({ specs: together, everyMs, weight }) => ({
    feeds: together.map(feedKey), everyMs, weight, request: requestFor(together, source, clock),
  }));
}

function requestFor(specs: readonly FeedSpec[], source: FeedSource, clock: Clock): Poll['request'] {
  const spec = specs[0]!;
  switch (spec.kind) {
    case 'quote': return requestQuote(spec, source, clock);
    case 'order-book': return requestBook(spec, source, clock);
    case 'token-stats': return requestStats(specs.filter((each) => each.kind === 'token-stats'), source, clock);
  }
}

function requestQuote(spec: QuoteSpec, { swap }: FeedSource, clock: Clock): Poll['request'] {
  const feed = feedKey(spec);
  return async (call) => {
    const order =
      await swap.order({ inputMint: spec.inputMint, outputMint: spec.outputMint, amount: spec.amount }, call);
    const { inputMint, outputMint, inAmount, outAmount, threshold, priceImpact, contextSlot, router } = order;
    if (inputMint !== spec.inputMint || outputMint !== spec.outputMint || inAmount !== spec.amount) {
      throw malformed(`expected a quote for ${feed}`, `one for quote:${inputMint}:${outputMint}:${inAmount}`);
    }
    const rate = rateOf(inAmount, outAmount);
    return new Map([[feed, {
      kind: 'quote', feed, receivedAt: clock.now(), inputMint, outputMint, inAmount, outAmount, threshold,
      priceImpact, contextSlot, router, feeBps: bps(Math.ceil(order.feeBps)), rate,
    }]]);
  };
}

function requestBook(spec: BookSpec, { prediction }: FeedSource, clock: Clock): Poll['request'] {
  const feed = feedKey(spec);
  const { marketId } = spec;
  return async (call) => {
    const book = await prediction.orderBook(marketId, call);
    if (book === undefined)
      throw new GannetError('BOOK_MISSING', `no book: the service has none for the market ${marketId}`);
    return new Map([[feed, { kind: 'order-book', feed, receivedAt: clock.now(), marketId, ...book }]]);
  };
}

function requestStats(specs: readonly StatsSpec[], { tokens }: FeedSource, clock: Clock): Poll['request'] {
  const mints = specs.map(({ mint }) => mint);
  return async (call) => {
    const answer = await tokens.search(mints, call);
    const receivedAt = clock.now();
    return new Map(specs.map((spec) => [feedKey(spec), statsOf(spec, answer, receivedAt)]));
  };
}

function statsOf(spec: StatsSpec, { records, rejected }: TokenRecords, receivedAt: Millis): TokenStats | GannetError {
  const { mint } = spec;
  const record = records.find(({ id }) => id === mint);
  if (record !== undefined) {
    const { values, updatedAt: eventAt } = record;
    return {
      kind: 'token-stats', feed: feedKey(spec), receivedAt, ...(eventAt === undefined ? {} : { eventAt }), mint, values,
    };
  }
  const spoilt = rejected.find(({ id }) => id === mint);
  if (spoilt !== undefined) return new GannetError('SERVICE_MALFORMED', spoilt.message);
  return new GannetError('TOKEN_UNKNOWN', `expected a record of the token ${mint}, the service gave none`);
}
