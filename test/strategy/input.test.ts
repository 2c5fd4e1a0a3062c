import { from } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { DetailedQuote, PredictionHistoryEvent, PricedQuote } from '../../src/strategy/index.ts';
import { changeOf, entryUsd, newEntries, orderBook, quotes, statOf, tokenStats } from '../../src/strategy/index.ts';
import { deliverer, specsOf } from '../../src/strategy/input.ts';
import { StateParts } from '../../src/strategy/stateful.ts';
import { book, buyingSol, PURCHASE, sellingSol, stats, trouble } from '../market/events.ts';
import { FISH, SOL, SOL_USDC, USDC } from '../market/tokens.ts';

describe('an input of quotes', () => {
  const buying = quotes(SOL_USDC, { amount: { token: USDC, amount: PURCHASE }, every: '5s' });
  const selling = quotes(SOL_USDC, { amount: { token: SOL, amount: 1_000_000_000n }, every: '250ms' });

  it('polls the direction of its size', () => {
    expect(buying.spec)
      .toEqual({ kind: 'quote', inputMint: USDC.mint, outputMint: SOL.mint, amount: PURCHASE, everyMs: 5_000 });
    expect(selling.spec)
      .toEqual({ kind: 'quote', inputMint: SOL.mint, outputMint: USDC.mint, amount: 1_000_000_000n, everyMs: 250 });
  });

  it('gives quote tokens per base token in both directions', () => {
    expect(buying.adapt(buyingSol(125_000, 7))).toMatchObject<Partial<PricedQuote>>({ at: 7, price: 125 });
    expect(selling.adapt(sellingSol(125_000, 8))).toMatchObject<Partial<PricedQuote>>({ at: 8, price: 125 });
  });

  it('refuses an amount of a third token', () => {
    expect(() => quotes(SOL_USDC, { amount: { token: FISH, amount: 1n }, every: '5s' }))
      .toThrow('expected an amount of SOL or USDC, got 0.00001 FISH');
  });

  it.each([0, -1, Number.NaN, Infinity, '2' as unknown as number])('refuses the weight %s', (weight) => {
    const refused =
      expect.objectContaining({ code: 'STRATEGY_INVALID', message: expect.stringContaining(`above 0, got ${weight}`) });
    expect(() => quotes(SOL_USDC, { amount: { token: USDC, amount: PURCHASE }, every: '5s', weight })).toThrow(refused);
    expect(() => orderBook('M', { every: '5s', weight })).toThrow(refused);
    expect(() => tokenStats(SOL, { every: '5s', weight })).toThrow(refused);
  });

  it('treats an event of another kind as a bug', () => {
    expect(() => buying.adapt(stats(SOL, 1))).toThrow('a quote feed emits quotes');
  });
});

it('a detailed quote watches the plain quote too, and emits once per complete one', () => {
  const input = quotes(SOL_USDC, { amount: { token: USDC, amount: PURCHASE }, every: '5s', detail: true });
  expect(specsOf(input).map(({ kind }) => kind)).toEqual(['quote', 'quote-detail']);
  const emitted: DetailedQuote[] = [];
  const deliver = deliverer(input, (value) => { emitted.push(value as DetailedQuote); });
  const plain = buyingSol(125_000, 7);
  const detail = { ...plain, kind: 'quote-detail' as const, contextSlot: 9n, inUsdValue: 24.9, route: [] };
  deliver(plain);
  deliver(detail);
  expect(emitted).toHaveLength(1);
  expect(emitted[0]).toMatchObject({
    at: 7, price: 125, threshold: plain.threshold, contextSlot: 9n, router: plain.router, detail,
  });
});

it('inputs carry a configured weight', () => {
  expect(quotes(SOL_USDC, { amount: { token: USDC, amount: PURCHASE }, every: '5s', weight: 4 }).spec.weight).toBe(4);
  expect(orderBook('M', { every: '5s', weight: 0.25 }).spec.weight).toBe(0.25);
  expect(tokenStats(SOL, { every: '5s', weight: 2 }).spec.weight).toBe(2);
  expect(orderBook('M', { every: '5s' }).spec).not.toHaveProperty('weight');
});

it('inputs of books and statistics pass their events on', () => {
  const watched = orderBook('M', { every: '1m' });
  expect(watched.spec).toEqual({ kind: 'order-book', marketId: 'M', everyMs: 60_000 });
  const event = book([[42, 1]], [[55, 1]]);
  expect(watched.adapt(event)).toBe(event);
  expect(() => watched.adapt(trouble('order-book:M')))
    .toThrow('a feed of the kind order-book emits events of this kind');

  const statistics = tokenStats(SOL, { every: '1m' });
  expect(statistics.spec).toEqual({ kind: 'token-stats', mint: SOL.mint, everyMs: 60_000 });
  expect(() => statistics.adapt(event)).toThrow('a feed of the kind token-stats emits events of this kind');
});

/** Returns a page of an account's ledger. */
const page = (owner: string, ...ids: readonly number[]): PredictionHistoryEvent => ({
  kind: 'prediction-history', feed: `prediction-history:${owner}`, receivedAt: 0, owner, total: ids.length,
  entries: ids.map((id) => ({ id, eventType: 'order_filled', timestamp: 0 })),
});

it('entries of a ledger are new once, oldest first, and never those of its first page, over restarts too', () => {
  let saved: string | undefined;
  const told = [
    [page('a', 3, 2, 1), page('b', 9), page('a', 5, 4, 3)], [page('a', 6, 5), page('b', 9), page('b')],
    [page('b', 11, 10, 9)],
  ].map((pages) => {
    const parts = new StateParts(saved, () => { throw new Error('expected a state that fits'); });
    const emitted: string[] = [];
    from(pages).pipe(newEntries({ stateful: (...args) => parts.open(...args) }, 'newest'))
      .subscribe(({ owner, entry }) => { emitted.push(`${owner}${entry.id}`); });
    saved = parts.take();
    return emitted;
  });
  expect(told).toEqual([['a4', 'a5'], ['a6'], ['b10', 'b11']]);
});

it('figures of records are numbers: what is not stated is no statistic, no change and no value', () => {
  expect(statOf({ values: { liquidity: 5 } }, 'liquidity')).toBe(5);
  expect(statOf({ values: {} }, 'liquidity')).toBeNaN();
  const transaction = { changes: [{ mint: SOL.mint, amount: -7n }] };
  expect([changeOf(transaction, SOL), changeOf(transaction, USDC)]).toEqual([-7n, 0n]);
  expect([entryUsd({ totalCostUsd: 2_500_000n as never }), entryUsd({})]).toEqual([2.5, 0]);
});
