import { describe, expect, it } from 'vitest';
import { amount } from '../../../src/core/amount.ts';
import type { Millis } from '../../../src/core/time.ts';
import type { FeedSpec } from '../../../src/market/feed.ts';
import { feedKey } from '../../../src/market/feed.ts';
import type { PredictionMarket } from '../../../src/market/prediction.ts';
import type { TokenRecord } from '../../../src/market/token-record.ts';
import type { FeedSource } from '../../../src/service/feeds/feed-request.ts';
import type { Poll } from '../../../src/service/feeds/polls.ts';
import { pollsFor } from '../../../src/service/feeds/polls.ts';
import { VirtualClock } from '../../../src/engine/virtual-clock.ts';
import { readSwapOrder } from '../../../src/service/wire/order-answer.ts';
import type { SwapRequest } from '../../../src/trading/swap-terms.ts';
import { SOL, USDC } from '../../market/tokens.ts';
import { ASKED, orderAnswer, TAKER } from '../answers.ts';
import { UNASKED } from './unasked-calls.ts';

const NOW: Millis = 1_790_000_000_000;
const clock = new VirtualClock(NOW);
const call = { priority: 'watch', signal: new AbortController().signal } as const;

function source(parts: { readonly [K in 'tokens' | 'prediction']?: Partial<FeedSource[K]> }): FeedSource {
  return {
    ...UNASKED, swap: { order: () => expect.unreachable('no quote is asked for here') },
    watchPace: () => ({ waitMs: 0, turnMs: 0 }),
    tokens: { ...UNASKED.tokens, ...parts.tokens }, prediction: { ...UNASKED.prediction, ...parts.prediction },
  };
}

const record = (changes: Partial<TokenRecord> = {}): TokenRecord =>
  ({ id: SOL.mint, symbol: 'SOL', name: 'Sol', decimals: 9, audit: {}, tags: [], values: {}, ...changes });

const market = (marketId: string): PredictionMarket =>
  ({ marketId, outcomes: [], metadata: {}, pricing: { buyYesPriceUsd: 640_000n as never }, result: undefined });

const recent: FeedSpec = { kind: 'token-list', list: 'recent', limit: 2, everyMs: 1_000 };
const marketOf = (marketId: string, page = 0, everyMs = 1_000): FeedSpec =>
  ({ kind: 'prediction-market', eventId: 'E', marketId, page, everyMs });

async function answer(specs: readonly FeedSpec[], from: FeedSource): Promise<Awaited<ReturnType<Poll['request']>>> {
  const [poll, ...others] = pollsFor(specs, from, clock);
  expect(others).toHaveLength(0);
  return poll!.request(call);
}

describe('an event that is a document', () => {
  it('has the texts of others escaped and cut, no more tokens than wanted, and no absent member', async () => {
    const hostile = record({
      symbol: 'G\u200bIFT', name: 'x'.repeat(5_000), website: undefined, tags: Array(99).fill('t'),
    });
    const events = await answer([recent], source({
      tokens: { recent: async () => ({ records: [hostile, record(), record()], rejected: [] }) },
    }));
    expect(events.get(feedKey(recent))).toStrictEqual({
      kind: 'token-list', feed: 'token-list:recent:2', receivedAt: NOW, list: 'recent', tokens: [{
        id: SOL.mint, symbol: String.raw`G\u200bIFT`, name: 'x'.repeat(100), decimals: 9, audit: {},
        tags: Array(20).fill('t'), values: {},
      }, record()],
    });
  });

  it('is refused where a recording could not keep it', async () => {
    const spec: FeedSpec = { kind: 'token-record', mint: SOL.mint, everyMs: 1_000 };
    const tags = Array.from({ length: 300 }, () => '\u200b'.repeat(4_000));
    const events = await answer([spec], source({
      tokens: { search: async () => ({ records: [record({ tags })], rejected: [] }) },
    }));
    expect(events.get(feedKey(spec))).toMatchObject({
      code: 'SERVICE_MALFORMED', message: expect.stringContaining('expected an answer of at most 1048576 characters'),
    });
  });

  it('shares a request with others: the records of a hundred tokens, the markets of one page of an event', async () => {
    const records = [SOL, USDC].map(({ mint }): FeedSpec => ({ kind: 'token-record', mint, everyMs: 1_000 }));
    expect(pollsFor(records, source({}), clock)).toHaveLength(1);
    const specs = [marketOf('A'), marketOf('B'), marketOf('C', 1), marketOf('D', 0, 2_000)];
    expect(pollsFor(specs, source({}), clock).map(({ feeds }) => feeds.length)).toEqual([2, 1, 1]);
  });
});

/** A service that answers every quote with the same order. */
const answered = (asked: Partial<SwapRequest>[]): FeedSource => ({
  ...source({}), swap: {
    order: async (request) => {
      asked.push(request);
      return readSwapOrder(orderAnswer({
        inUsdValue: 149.9, outUsdValue: 149.5, totalTime: 31, mode: 'ultra', contextSlot: '77',
        routePlan: [{
          swapInfo: {
            ammKey: TAKER, label: 'La\u200bgoon', inputMint: SOL.mint, outputMint: USDC.mint, inAmount: '1000000000',
            outAmount: '150000000',
          }, percent: 100, bps: 10_000, usdValue: 149.9,
        }],
      }), ASKED);
    },
  },
});

describe('a complete quote', () => {
  const quote: FeedSpec =
    { kind: 'quote', inputMint: SOL.mint, outputMint: USDC.mint, amount: amount(1_000_000_000n), everyMs: 1_000 };
  const complete: FeedSpec = { ...quote, kind: 'quote-detail' };

  it('comes with the plain one from one answer, with all that the answer says', async () => {
    const asked: Partial<SwapRequest>[] = [];
    const events = await answer([complete, quote], answered(asked));
    expect(asked).toHaveLength(1);
    expect(events.get(feedKey(quote))).toMatchObject({ kind: 'quote', outAmount: 150_000_000n, contextSlot: 77n });
    expect(events.get(feedKey(quote))).not.toHaveProperty('route');
    expect([...events.keys()]).toEqual([feedKey(quote), feedKey(complete)]);
    expect(events.get(feedKey(complete))).toMatchObject({
      kind: 'quote-detail', outAmount: 150_000_000n, threshold: 149_250_000n, priceImpact: expect.any(Number),
      contextSlot: 77n, inUsdValue: 149.9, outUsdValue: 149.5, totalTimeMs: 31, mode: 'ultra',
      route: [{
        exchange: String.raw`La\u200bgoon`, account: TAKER, bps: 10_000, inputMint: SOL.mint, outputMint: USDC.mint,
        inAmount: 1_000_000_000n, outAmount: 150_000_000n, usdValue: 149.9,
      }],
    });
  });

  it('comes alone where no strategy watches the plain one', async () => {
    const events = await answer([complete], answered([]));
    expect([...events.values()]).toMatchObject([{ kind: 'quote-detail', route: [{ bps: 10_000 }] }]);
  });
});

describe('a prediction market', () => {
  it('that is not on its page is a fault of its own feed alone', async () => {
    const ranges: unknown[] = [];
    const events = await answer([marketOf('A', 2), marketOf('B', 2)], source({
      prediction: {
        eventMarkets: async (eventId, range) => {
          ranges.push([eventId, range]);
          return {
            records: [market('A')], rejected: [], ids: ['A'],
            pagination: { start: 40, end: 41, total: 41, hasNext: false },
          };
        },
      },
    }));
    expect(ranges).toEqual([['E', { start: 40, end: 60 }]]);
    expect(events.get('prediction-market:E:2:A')).toMatchObject({ market: { marketId: 'A' } });
    expect(events.get('prediction-market:E:2:B')).toMatchObject({ code: 'MARKET_MISSING' });
  });
});
