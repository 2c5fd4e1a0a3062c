import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lateFeeds, requestRate } from '../../src/config/request-rate.ts';
import type { RunConfig, StrategyConfig } from '../../src/config/run-config.ts';
import { z } from 'zod';
import type { FeedSpec } from '../../src/market/feed.ts';
import type { Mint } from '../../src/market/token.ts';
import { SOL_MINT, USDC_MINT } from '../../src/market/token.ts';
import { amount } from '../../src/core/amount.ts';
import type { RatePlan } from '../../src/service/rate/rate-plan.ts';
import { PLAN_NAMES, requestsPerSecond, watchRequestsPerSecond } from '../../src/service/rate/rate-plan.ts';
import type { Strategy } from '../../src/strategy/define.ts';
import { configOf, issuesOf } from './load-text.ts';

const service = (plan: RatePlan, limited = true): RunConfig['service'] =>
  ({ baseUrl: 'x', dialect: 'neutral', plan, requestsPerSecond: requestsPerSecond(plan, 'main'), limited });

function watcher(...specs: readonly FeedSpec[]): StrategyConfig {
  const strategy: Strategy = {
    name: 'watcher', summary: '', params: z.unknown(),
    inputs: () => Object.fromEntries(specs.map((spec, index) => [`input${index}`, { spec, adapt: (event) => event }])),
    run: () => { throw new Error('not run here'); },
  };
  return { name: 'watcher', use: 'watcher', origin: 'project', strategy, params: {}, rawParams: {} };
}
const stats = (index: number, everyMs: number): FeedSpec =>
  ({ kind: 'token-stats', mint: `mint-${index}` as Mint, everyMs });
const tokens = (count: number, everyMs: number): StrategyConfig =>
  watcher(...Array.from({ length: count }, (_, index) => stats(index, everyMs)));
const quote = (everyMs: number): FeedSpec =>
  ({ kind: 'quote', inputMint: USDC_MINT, outputMint: SOL_MINT, amount: amount(5n), everyMs });
const book = (marketId: string, everyMs: number, weight = 1): FeedSpec =>
  ({ kind: 'order-book', marketId, everyMs, weight });
const rateOf = (...strategies: StrategyConfig[]): number =>
  requestRate({ service: service('free'), strategies }).requestsPerSecond;

/** Returns how often each feed is expected to be polled, in seconds. */
function expected(plan: RatePlan, ...strategies: StrategyConfig[]): number[] {
  return requestRate({ service: service(plan), strategies }).feeds.map(({ expectedMs }) => expectedMs / 1_000);
}

/** Returns a configuration of so many strategies on the plan "free", each with a price of its own every second. */
function dips(count: number, maxAge: string): string {
  return `service: { plan: free }\nstrategies:\n${Array.from({ length: count }, (_, index) =>
    `  - { use: mean-reversion, name: dip-${index}, budget: "9 USDC", ${maxAge} params: { `
      + `pair: SOL/USDC, size: "${index + 1} USDC", every: 1s } }\n`).join('')}`;
}

describe('the request rate', () => {
  it('is the sum over what is watched', () => {
    expect(rateOf()).toBe(0);
    expect(rateOf(watcher(quote(2_000), book('TIDE', 4_000)))).toBe(0.75);
  });

  it('counts what two strategies watch once, at the faster rate', () => {
    expect(rateOf(watcher(quote(2_000)), watcher(quote(1_000)))).toBe(1);
  });

  it('counts token statistics by the hundred where their rates agree', () => {
    expect(rateOf(tokens(1, 1_000))).toBe(1);
    expect(rateOf(tokens(100, 1_000))).toBe(1);
    expect(rateOf(tokens(101, 1_000))).toBe(2);
    expect(rateOf(watcher(stats(1, 1_000), stats(2, 500)))).toBe(3);
  });

  it('has a bound, and less than that for watching, only where the service has one', () => {
    for (const plan of PLAN_NAMES) {
      const { allowedPerSecond, watchPerSecond } = requestRate({ service: service(plan), strategies: [] });
      expect(allowedPerSecond).toBe(requestsPerSecond(plan, 'main'));
      expect(watchPerSecond).toBeCloseTo(watchRequestsPerSecond(plan), 3);
      expect(watchPerSecond).toBeLessThan(allowedPerSecond!);
    }
    const unlimited = requestRate({ service: service('free', false), strategies: [watcher(quote(1))] });
    expect(unlimited)
      .toMatchObject({ allowedPerSecond: undefined, watchPerSecond: undefined, feeds: [{ expectedMs: 1 }] });
  });
});

describe('how often each feed will be polled', () => {
  it('is as often as it is wanted where the rate suffices, to the last request', () => {
    expect(expected('free', watcher(quote(5_000), book('TIDE', 2_000)))).toEqual([5, 2]);
    const everyMs = 1_000 / watchRequestsPerSecond('pro');
    expect(expected('pro', watcher(quote(everyMs)))).toEqual([everyMs / 1_000]);
  });

  it('follows the weights where it does not: four times the weight, twice as often', () => {
    const [light, heavy] = expected('free', watcher(book('A', 1_000), book('B', 1_000, 4)));
    expect(light! / heavy!).toBeCloseTo(2, 2);
    expect(1 / light! + 1 / heavy!).toBeCloseTo(watchRequestsPerSecond('free'), 3);
  });

  it('keeps feeds of a small demand at their rate, and shares the rest among the others', () => {
    const [slow, a, b] = expected('free', watcher(book('SLOW', 60_000), book('A', 1_000), book('B', 1_000)));
    expect(slow).toBe(60);
    expect(a).toBe(b);
    expect(1 / 60 + 2 / a!).toBeCloseTo(watchRequestsPerSecond('free'), 3);
  });

  it('counts tokens that share a request as one that matters as much as all of them', () => {
    const [odds, ...tokenIntervals] = expected('free', watcher(book('A', 1_000)), tokens(100, 1_000));
    expect(new Set(tokenIntervals).size).toBe(1);
    expect(odds! / tokenIntervals[0]!).toBeCloseTo(10, 2);
  });

  it('never adds up to more than is left for watching, and is never more often than wanted', () => {
    const feeds = fc.array(
      fc.tuple(fc.integer({ min: 50, max: 600_000 }), fc.double({ min: 0.01, max: 100, noNaN: true })),
      { minLength: 1, maxLength: 30 },
    );
    fc.assert(fc.property(fc.constantFrom(...PLAN_NAMES), feeds, (plan, demands) => {
      const rate = requestRate({
        service: service(plan),
        strategies: [watcher(...demands.map(([everyMs, weight], index) => book(`M${index}`, everyMs, weight)))],
      });
      const used = rate.feeds.reduce((sum, { expectedMs }) => sum + 1_000 / expectedMs, 0);
      expect(used).toBeLessThanOrEqual(watchRequestsPerSecond(plan) * (1 + 1e-9));
      for (const { spec, expectedMs } of rate.feeds) expect(expectedMs).toBeGreaterThanOrEqual(spec.everyMs);
      // The rest is left over because no feed needs it.
      if (lateFeeds(rate).length > 0) expect(used).toBeGreaterThan(watchRequestsPerSecond(plan) * 0.9);
    }));
  });
});

describe('a configuration that asks for more than the plan allows', () => {
  it('is sound where every strategy has said how old its inputs may be, and that can be kept', async () => {
    const rate = requestRate(await configOf(dips(8, 'max_age: 15s,')));
    expect(rate).toMatchObject({ requestsPerSecond: 8, allowedPerSecond: 1 });
    expect(lateFeeds(rate).map(({ expectedMs }) => expectedMs)).toEqual(Array.from({ length: 8 }, () => 10_500));
  });

  it('is refused at each max_age that cannot be kept, once each', async () => {
    expect((await issuesOf(dips(12, 'max_age: 15s,'))).map((line) => line.split(' ')[1]))
      .toEqual(Array.from({ length: 12 }, (_, index) => `strategies[${index}].max_age:`));
  });

  it('is refused at the plan where strategies have not, naming the first of them', async () => {
    const [line, ...more] = await issuesOf(dips(8, ''));
    expect(more).toEqual([]);
    expect(line).toMatch(new RegExp('^bot\\.yaml:1:18 service\\.plan: .*"price" of dip-0 would be polled every 11s '
      + 'instead of every 1s, .* of dip-2 .*, and 5 more: '));
  });

  it('may be read nevertheless', async () => {
    expect(await issuesOf(dips(8, ''), { purpose: 'read' })).toEqual([]);
  });
});
