import { expect, it } from 'vitest';
import type { Amount } from '../../src/core/amount.ts';
import type { FeedSpec } from '../../src/market/feed.ts';
import { feedKey, originOfKey, sharedFeeds } from '../../src/market/feed.ts';
import { isFinerThan } from '../../src/market/sample-windows.ts';
import { SOL, USDC } from './tokens.ts';

const quote: FeedSpec =
  { kind: 'quote', inputMint: USDC.mint, outputMint: SOL.mint, amount: 5n as Amount, everyMs: 5_000 };
const book: FeedSpec = { kind: 'order-book', marketId: 'M', everyMs: 5_000 };
const stats: FeedSpec = { kind: 'token-stats', mint: SOL.mint, everyMs: 5_000 };

it('a feed’s key names its subject, whatever its rate', () => {
  expect(feedKey(quote)).toBe(`quote:${USDC.mint}:${SOL.mint}:5`);
  expect(feedKey({ ...quote, everyMs: 1 })).toBe(feedKey(quote));
  expect(new Set([
    quote, { ...quote, amount: 6n as Amount }, { ...quote, inputMint: SOL.mint, outputMint: USDC.mint }, book, stats,
  ].map(feedKey)).size).toBe(5);
});

it('shared feeds are polled once, at the shortest wanted interval', () => {
  expect(sharedFeeds([quote, book, { ...quote, everyMs: 1_000 }, stats, { ...quote, everyMs: 9_000 }])).toEqual([
    { ...quote, everyMs: 1_000, weight: 1 }, book, stats,
  ]);
  expect(sharedFeeds([])).toEqual([]);
});

it('an input samples what the service states, and sees every signal and every transaction', () => {
  const specs: readonly FeedSpec[] = [
    quote, book, { kind: 'signal', name: 'entry', everyMs: 5_000 },
    { kind: 'wallet-activity', owner: SOL.mint, everyMs: 5_000 },
  ];
  expect(specs.map((spec) => isFinerThan(1_000, spec))).toEqual([true, true, false, false]);
  expect(specs.map((spec) => isFinerThan(5_000, spec))).toEqual([false, false, false, false]);
  expect(specs.map((spec) => originOfKey(feedKey(spec)))).toEqual(['service', 'service', 'webhook', 'node']);
});
