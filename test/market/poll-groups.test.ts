import { expect, it } from 'vitest';
import type { Amount } from '../../src/core/amount.ts';
import type { FeedSpec } from '../../src/market/feed.ts';
import { TOKENS_PER_POLL, pollGroups } from '../../src/market/poll-plan.ts';
import { MAX_SEARCH_MINTS } from '../../src/service/endpoints/tokens.ts';
import type { Mint } from '../../src/market/token.ts';
import { SOL, USDC } from './tokens.ts';

const quote: FeedSpec =
  { kind: 'quote', inputMint: USDC.mint, outputMint: SOL.mint, amount: 5n as Amount, everyMs: 5_000, weight: 3 };
const book: FeedSpec = { kind: 'order-book', marketId: 'M', everyMs: 5_000 };
const token = (index: number, everyMs: number, weight?: number): FeedSpec =>
  ({ kind: 'token-stats', mint: `token-${index}` as Mint, everyMs, ...(weight === undefined ? {} : { weight }) });

it('a quote and a book take a request each, however many watch them', () => {
  expect(pollGroups([quote, book, { ...quote, everyMs: 1_000 }])).toEqual([
    { specs: [{ ...quote, everyMs: 1_000 }], everyMs: 1_000, weight: 3 }, { specs: [book], everyMs: 5_000, weight: 1 },
  ]);
});

it('tokens of one rate share a request that matters as much as all of them', () => {
  const specs = [token(1, 1_000), book, token(2, 9_000), token(3, 1_000, 2.5)];
  expect(pollGroups(specs).map(({ specs: { length }, everyMs, weight }) => [length, everyMs, weight]))
    .toEqual([[1, 5_000, 1], [2, 1_000, 3.5], [1, 9_000, 1]]);
});

it('no request asks for more tokens than the service answers for', () => {
  const specs = Array.from({ length: 2 * TOKENS_PER_POLL + 1 }, (_, index) => token(index, 1_000));
  expect(TOKENS_PER_POLL).toBeLessThanOrEqual(MAX_SEARCH_MINTS);
  const groups = pollGroups(specs);
  expect(groups.map((group) => group.specs.length)).toEqual([100, 100, 1]);
  expect(groups.flatMap((group) => group.specs)).toEqual(specs);
});
