import { describe, expect, it } from 'vitest';
import { creditUse, retiredHost } from '../../src/config/operations/service-facts.ts';
import { lateFeeds } from '../../src/config/request-rate.ts';
import type { RequestRate } from '../../src/config/request-rate.ts';
import { amount } from '../../src/core/amount.ts';
import type { FeedSpec } from '../../src/market/feed.ts';
import { mintNumber } from '../service/answers.ts';
import { dialectOf } from '../service/dialect-text.ts';

const COUNTING = dialectOf(`dialect: coast
hosts: [old.example, new.example]
retired_hosts: { old.example: "it goes; use new.example" }
paths: { /ultra/v1/search: /find }
credits:
  costs: { /find: 10, /tokens/v2: 5, /tokens/v2/tag: 50, /tokens/v2/recent: 2 }
  plans: { developer: 25000000 }
`);
const PLAIN = dialectOf('dialect: coast\n');
const MONTH_S = 30 * 86_400;
const service = { baseUrl: 'https://new.example', dialect: 'coast', plan: 'developer' } as const;

const rateOf = (...feeds: readonly { readonly spec: FeedSpec; readonly expectedMs?: number }[]): RequestRate => ({
  requestsPerSecond: 1, nodeRequestsPerSecond: 0, allowedPerSecond: 1, watchPerSecond: 1,
  feeds: feeds.map(({ spec, expectedMs = spec.everyMs }) => ({ spec, expectedMs })),
});
const list = (rest: object): FeedSpec => ({ kind: 'token-list', everyMs: 10_000, limit: 20, ...rest }) as FeedSpec;
const stats = (n: number): FeedSpec => ({ kind: 'token-stats', mint: mintNumber(n), everyMs: 10_000 });
const quote: FeedSpec =
  { kind: 'quote', inputMint: mintNumber(1), outputMint: mintNumber(2), amount: amount(1n), everyMs: 10_000 };

describe('the credits of a configuration', () => {
  it.each<[string, FeedSpec, number]>([
    ['a quote', quote, 1], ['a search', list({ list: 'search', query: 'SOL' }), 10],
    ['a tag', list({ list: 'tag', tag: 'lst' }), 50], ['new tokens', list({ list: 'recent' }), 2],
    ['a category', list({ list: 'toptraded', interval: '1h' }), 5],
    ['an order book', { kind: 'order-book', marketId: 'TIDE', everyMs: 10_000 }, 1],
  ])('are those of %s for each of its polls', (_name, spec, cost) => {
    expect(creditUse(service, rateOf({ spec }), COUNTING))
      .toEqual({ perMonth: (cost * MONTH_S) / 10, included: 25_000_000 });
  });

  it('are those of one request for feeds that share it, and of polls as often as the rate allows them', () => {
    expect(creditUse(service, rateOf({ spec: stats(1) }, { spec: stats(2) }), COUNTING)?.perMonth).toBe(MONTH_S);
    const rate = rateOf({ spec: stats(1), expectedMs: 30_000 });
    expect(lateFeeds(rate)).toHaveLength(1);
    expect(creditUse(service, rate, COUNTING)?.perMonth).toBe(MONTH_S / 3);
  });

  it('have no limit on a plan that the host does not bound, and none is told where the host counts requests', () => {
    const rate = rateOf({ spec: quote });
    expect(creditUse({ ...service, plan: 'free' }, rate, COUNTING)?.included).toBeUndefined();
    expect(creditUse({ ...service, plan: { requestsPerSecond: 5 } }, rate, COUNTING)?.included).toBeUndefined();
    expect(creditUse(service, rate, PLAIN)).toBeUndefined();
    expect(creditUse({ ...service, baseUrl: 'embedded' }, rate, COUNTING)).toBeUndefined();
  });
});

describe('a host that goes', () => {
  it('is told from those that stay, whatever its port and path are', () => {
    expect(retiredHost({ ...service, baseUrl: 'https://OLD.example.:8443/x' }, COUNTING))
      .toBe('it goes; use new.example');
    expect(retiredHost(service, COUNTING)).toBeUndefined();
    expect(retiredHost({ ...service, baseUrl: 'embedded' }, COUNTING)).toBeUndefined();
    expect(retiredHost({ ...service, baseUrl: 'https://old.example' }, PLAIN)).toBeUndefined();
  });
});
