import { NEVER } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { heldFeeds, missingFeeds } from '../../src/backtest/missing-feeds.ts';
import type { FeedKey } from '../../src/market/event.ts';
import { defineStrategy, quotes, signals } from '../../src/strategy/index.ts';
import { KELP, SOL, TOKENS, USDC } from '../market/tokens.ts';

/** Strategies that buy and sell SOL at such sizes. */
const watching = (sizes: readonly number[], sold: readonly number[] = []): Parameters<typeof missingFeeds>[0] => [{
  name: 'watcher', params: {},
  strategy: defineStrategy({
    name: 'watcher', summary: 'Watches prices.', params: z.strictObject({}), run: () => NEVER,
    inputs: () => Object.fromEntries([
      ...sizes.map((size) => [
        `buy ${size}`,
        quotes({ base: SOL, quote: USDC }, { amount: { token: USDC, amount: BigInt(size * 1e6) }, every: '1s' }),
      ]),
      ...sold.map((size) => [
        `sell ${size}`,
        quotes({ base: SOL, quote: USDC }, { amount: { token: SOL, amount: BigInt(size * 1e9) }, every: '1s' }),
      ]),
    ]),
  }),
}];

const buying = (sizes: readonly number[]): FeedKey[] =>
  sizes.map((size): FeedKey => `quote:${USDC.mint}:${SOL.mint}:${size * 1e6}`);
const hundred = Array.from({ length: 100 }, (_, i) => (i * 37) % 100 + 1);

describe('the feeds that a recording lacks, and those it holds', () => {
  it('are none where it has all', () => {
    expect(missingFeeds(watching([1, 25]), { feeds: buying([25, 1, 7]), tokens: TOKENS })).toBeUndefined();
  });

  it('are signals where the recording has none at all: one of several may never have been sent', () => {
    const strategies = [{
      name: 'follower', params: {},
      strategy: defineStrategy({
        name: 'follower', summary: 'Waits.', params: z.strictObject({}), run: () => NEVER,
        inputs: () => ({ entry: signals('entry'), exit: signals('exit') }),
      }),
    }];
    expect(missingFeeds(strategies, { feeds: buying([1]), tokens: TOKENS }))
      .toBe('lacks what the strategies watch: the signals of entry and exit');
    expect(missingFeeds(strategies, { feeds: ['signal:entry'], tokens: TOKENS })).toBeUndefined();
  });

  it('name all of a few sizes', () => {
    const strategies = watching([26], [1]);
    const feeds = [...buying([1, 25]), `token-stats:${SOL.mint}`] as FeedKey[];
    expect(missingFeeds(strategies, { feeds, tokens: TOKENS }))
      .toBe('lacks what the strategies watch: the price of 26 USDC in SOL; the price of 1 SOL in USDC');
    expect(heldFeeds(strategies, { feeds, tokens: TOKENS }))
      .toBe('the price of 1 and 25 USDC in SOL; the statistics of SOL');
    expect(heldFeeds(strategies, { feeds: [], tokens: TOKENS })).toBe('');
  });

  it('name the nearest of many sizes, and count the others', () => {
    const feeds = [
      ...Array.from({ length: 20 }, (_, i): FeedKey => `quote:${KELP.mint}:${USDC.mint}:${(i + 1) * 1e8}`),
      ...buying(hundred.filter((size) => size !== 50)),
    ];
    const held = heldFeeds(watching([50]), { feeds, tokens: TOKENS });
    expect(held).toBe('the price of 48, 49, 51, 52 and 53 USDC in SOL (and of 94 more sizes); the price of 1, 2, 3, 4 '
      + 'and 5 KELP in USDC (and of 15 more sizes)');
    expect(heldFeeds(watching([50, 1_000]), { feeds: feeds.slice(20), tokens: TOKENS }))
      .toBe('the price of 48, 49, 51, 52 and 53 USDC in SOL (and of 94 more sizes)');
    expect(heldFeeds(watching([2.5]), { feeds: buying([1, 2, 3, 4, 5, 6]), tokens: TOKENS }))
      .toBe('the price of 2, 3, 4, 5 and 6 USDC in SOL (and of 1 more size)');
  });

  it('name some of many sizes, pairs, statistics or books', () => {
    expect(missingFeeds(watching(hundred), { feeds: [], tokens: TOKENS }))
      .toBe('lacks what the strategies watch: the price of 1, 2, 3, 4 and 5 USDC in SOL (and of 95 more sizes)');
    const feeds = Array.from({ length: 30 }, (_, i) =>
      [`order-book:M${i}`, `quote:${String.fromCharCode(65 + (i % 26)).repeat(40)}${i}:${SOL.mint}:5`]).flat();
    const held = heldFeeds(watching([1]), { feeds, tokens: TOKENS });
    expect(held).toContain(
      '; prices of 20 more pairs; the order books of M0, M1, M2, M3, M4, M5, M6, M7, M8 and M9 (and of 20 more)',
    );
    expect(held.match(/the price of /g)).toHaveLength(10);
  });

  it('explain that a size of 0 has no price', () => {
    const strategies = watching([0, 7]);
    const feeds = buying(hundred.filter((size) => size !== 7));
    expect(missingFeeds(strategies, { feeds, tokens: TOKENS })).toBe('lacks what the strategies watch: the price of 0 '
      + 'and 7 USDC in SOL: a size of 0 has no price, name a size above 0');
    expect(heldFeeds(watching([0]), { feeds, tokens: TOKENS }))
      .toMatch(/^the price of 1, 2, 3, 4 and 5 USDC in SOL \(and of 94 more sizes\)$/);
  });
});
