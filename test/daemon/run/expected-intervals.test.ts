import { expect, it } from 'vitest';
import { z } from 'zod';
import { requestRate } from '../../../src/config/request-rate.ts';
import type { StrategyConfig } from '../../../src/config/run-config.ts';
import { amount } from '../../../src/core/amount.ts';
import { seededRandom } from '../../../src/core/random.ts';
import { VirtualClock } from '../../../src/engine/virtual-clock.ts';
import type { FeedSpec } from '../../../src/market/feed.ts';
import { feedKey } from '../../../src/market/feed.ts';
import { SOL_MINT, USDC_MINT } from '../../../src/market/token.ts';
import { createFeeds } from '../../../src/service/feeds/feeds.ts';
import type { FeedSource } from '../../../src/service/feeds/feed-request.ts';
import { RateGovernor } from '../../../src/service/rate/rate-governor.ts';
import type { RatePlan } from '../../../src/service/rate/rate-plan.ts';
import { bucketLimits, requestsPerSecond } from '../../../src/service/rate/rate-plan.ts';
import type { Strategy } from '../../../src/strategy/define.ts';
import { advance } from '../../service/virtual-time.ts';
import { UNASKED } from '../../service/feeds/unasked-calls.ts';

const quote = (size: bigint, everyMs: number, weight = 1): FeedSpec =>
  ({ kind: 'quote', inputMint: USDC_MINT, outputMint: SOL_MINT, amount: amount(size), everyMs, weight });
const book = (marketId: string, everyMs: number, weight = 1): FeedSpec =>
  ({ kind: 'order-book', marketId, everyMs, weight });

function watcher(specs: readonly FeedSpec[]): StrategyConfig {
  const strategy: Strategy = {
    name: 'watcher', summary: '', params: z.unknown(),
    inputs: () => Object.fromEntries(specs.map((spec, index) => [`input${index}`, { spec, adapt: (event) => event }])),
    run: () => { throw new Error('not run here'); },
  };
  return { name: 'watcher', use: 'watcher', origin: 'project', strategy, params: {}, rawParams: {} };
}

/** A service that answers at once, behind the governor of a plan. */
function governed(plan: RatePlan, clock: VirtualClock): FeedSource {
  const governor = new RateGovernor({ limits: bucketLimits(plan, 'main'), clock, maxInFlight: 32 });
  return {
    watchPace: () => governor.watchPace(),
    swap: {
      order: ({ inputMint, outputMint, amount: inAmount }, call) => governor.run({
        ...call, send: async () => ({ value: {
          inputMint, outputMint, inAmount, outAmount: amount(1n), threshold: amount(1n), feeBps: 0, router: 'iris',
        } }),
      }),
    },
    ...UNASKED,
    prediction: {
      ...UNASKED.prediction,
      orderBook: (_marketId, call) => governor.run({ ...call, send: async () => ({ value: { yes: [], no: [] } }) }),
    },
  };
}

const HOURS_MS = 2 * 3_600_000;

it.each<readonly [RatePlan, readonly FeedSpec[]]>([
  ['free', [quote(1n, 1_000), quote(2n, 1_000, 4), quote(3n, 1_000, 9), book('SLOW', 60_000)]],
  ['keyless', [book('A', 5_000), book('B', 5_000, 0.25), quote(1n, 2_000), quote(2n, 90_000)]],
  ['free', [quote(1n, 10_000), book('A', 5_000)]],
])('on the plan %s, feeds are polled about as often as config check tells, and all in all as often', async (
  plan, specs,
) => {
  const service =
    { baseUrl: 'x', dialect: 'neutral', plan, requestsPerSecond: requestsPerSecond(plan, 'main'), limited: true };
  const { feeds } = requestRate({ service, strategies: [watcher(specs)] });
  const clock = new VirtualClock(1_790_000_000_000);
  const feed = createFeeds({ service: governed(plan, clock), specs, clock, random: seededRandom(7) });
  const subscription = feed.events$.subscribe();
  await advance(clock, HOURS_MS);
  subscription.unsubscribe();
  const stats = new Map(feed.stats().map((each) => [each.feed, each]));
  const measured = feeds.map(({ spec, expectedMs }) => {
    const { answers, meanAgeMs, weight } = stats.get(feedKey(spec))!;
    // Few feeds share few turns: a light one that would be due every sixth gets every fourth.
    expect(HOURS_MS / answers / expectedMs, feedKey(spec)).toBeGreaterThan(0.7);
    expect(HOURS_MS / answers / expectedMs, feedKey(spec)).toBeLessThan(1.2);
    return {
      answers, weightedAge: weight * meanAgeMs!, expectedAge: (weight * expectedMs) / 2,
      expectedAnswers: HOURS_MS / expectedMs,
    };
  });
  const sum = (of: (each: (typeof measured)[number]) => number): number =>
    measured.reduce((total, each) => total + of(each), 0);
  expect(sum(({ answers }) => answers) / sum(({ expectedAnswers }) => expectedAnswers)).toBeCloseTo(1, 1);
  expect(sum(({ weightedAge }) => weightedAge) / sum(({ expectedAge }) => expectedAge)).toBeLessThan(1.25);
});
