import { describe, expect, it } from 'vitest';
import { requestRate } from '../../src/config/request-rate.ts';
import type { RunConfig, StrategyConfig } from '../../src/config/run-config.ts';
import { z } from 'zod';
import type { FeedSpec } from '../../src/market/feed.ts';
import type { Mint } from '../../src/market/token.ts';
import { SOL_MINT, USDC_MINT } from '../../src/market/token.ts';
import { amount } from '../../src/core/amount.ts';
import type { Strategy } from '../../src/strategy/define.ts';

const service = (limited: boolean): RunConfig['service'] => ({ baseUrl: 'x', dialect: 'neutral', plan: 'free', requestsPerSecond: 1, limited });

function watcher(...specs: readonly FeedSpec[]): StrategyConfig {
  const strategy: Strategy = {
    name: 'watcher', summary: '', params: z.unknown(),
    inputs: () => Object.fromEntries(specs.map((spec, index) => [`input${index}`, { spec, adapt: (event) => event }])),
    run: () => { throw new Error('not run here'); },
  };
  return { name: 'watcher', use: 'watcher', origin: 'project', strategy, params: {}, rawParams: {} };
}
const stats = (index: number, everyMs: number): FeedSpec => ({ kind: 'token-stats', mint: `mint-${index}` as Mint, everyMs });
const quote = (everyMs: number): FeedSpec => ({ kind: 'quote', inputMint: USDC_MINT, outputMint: SOL_MINT, amount: amount(5n), everyMs });
const rateOf = (...strategies: StrategyConfig[]): number => requestRate({ service: service(true), strategies }).requestsPerSecond;

describe('the request rate', () => {
  it('is the sum over what is watched', () => {
    expect(rateOf()).toBe(0);
    expect(rateOf(watcher(quote(2_000), { kind: 'order-book', marketId: 'TIDE', everyMs: 4_000 }))).toBe(0.75);
  });

  it('counts what two strategies watch once, at the faster rate', () => {
    expect(rateOf(watcher(quote(2_000)), watcher(quote(1_000)))).toBe(1);
  });

  it('counts token statistics by the hundred where their rates agree', () => {
    const tokens = (count: number, everyMs: number) => watcher(...Array.from({ length: count }, (_, index) => stats(index, everyMs)));
    expect(rateOf(tokens(1, 1_000))).toBe(1);
    expect(rateOf(tokens(100, 1_000))).toBe(1);
    expect(rateOf(tokens(101, 1_000))).toBe(2);
    expect(rateOf(watcher(stats(1, 1_000), stats(2, 500)))).toBe(3);
  });

  it('has a bound only where the service has one', () => {
    expect(requestRate({ service: service(true), strategies: [] }).allowedPerSecond).toBe(1);
    expect(requestRate({ service: service(false), strategies: [] }).allowedPerSecond).toBeUndefined();
  });
});
