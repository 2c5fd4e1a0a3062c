import { describe, expect, it } from 'vitest';
import { bookTop, isCrossed } from '../../../src/market/order-book.ts';
import { SOL_MINT, USDC_MINT } from '../../../src/market/token.ts';
import { createEpisodes } from '../../../src/sandbox/market/episodes.ts';
import { createLaunches } from '../../../src/sandbox/market/launches.ts';
import type { PredictionBook } from '../../../src/sandbox/market/prediction-market.ts';
import { createWalletTrades } from '../../../src/sandbox/market/wallet-trades.ts';

/** Slots of ten minutes, and of an hour and a half. */
const [TEN_MINUTES, NINETY_MINUTES] = [1_500, 13_500];
const BOOK: PredictionBook = {
  yes: [{ price: 4_900, size: 10 }, { price: 4_800, size: 10 }],
  no: [{ price: 4_900, size: 10 }, { price: 4_800, size: 10 }],
};
const asBook = ({ yes, no }: PredictionBook) => ({
  yes: yes.map(({ price, size }) => ({ priceMicroUsd: price * 100, size })),
  no: no.map(({ price, size }) => ({ priceMicroUsd: price * 100, size })),
});

describe('the episodes of a market', () => {
  it('make a book stale, lean either way, and deep far from its price, each for a while in ten minutes', () => {
    const episodes = createEpisodes(7);
    const shown = Array.from({ length: TEN_MINUTES }, (_, slot) => asBook(episodes.book('M', BOOK, slot)));
    expect(shown.filter(isCrossed)).toHaveLength(20);
    const imbalances = shown.filter((one) => !isCrossed(one)).map((one) => bookTop(one, 'yes').imbalance!);
    // Twelve times as much on one side: (120 - 10) / 130.
    expect(imbalances.filter((imbalance) => imbalance > 0.84)).toHaveLength(100);
    expect(imbalances.filter((imbalance) => imbalance < -0.84)).toHaveLength(100);
    expect(shown.filter(({ no }) => no.some(({ size }) => size > 1_000))).toHaveLength(100);
    expect(episodes.book('M', BOOK, 3 * TEN_MINUTES + 5)).toEqual(episodes.book('M', BOOK, 5));
  });

  it('leave a book without a side alone, and are the same for a seed', () => {
    const [first, second, other] = [createEpisodes(7), createEpisodes(7), createEpisodes(8)];
    const slots = Array.from({ length: TEN_MINUTES }, (_, slot) => slot);
    const oneSided = { yes: BOOK.yes, no: [] };
    expect(slots.every((slot) => first.book('M', oneSided, slot) === oneSided)).toBe(true);
    const booksOf = (episodes: typeof first) => slots.map((slot) => episodes.book('M', BOOK, slot));
    expect(booksOf(second)).toEqual(booksOf(first));
    expect(booksOf(other)).not.toEqual(booksOf(first));
  });

  it('have a rush into each token for ten minutes in an hour and a half', () => {
    const episodes = createEpisodes(7);
    for (const mint of ['a', 'b']) {
      const slots = Array.from({ length: NINETY_MINUTES }, (_, slot) => episodes.rush(mint, slot));
      expect(slots.filter((one) => one !== undefined)).toHaveLength(1_500);
    }
  });
});

const launchesAt = (slot: number, hasDemand: boolean) => createLaunches({
  seed: 7, chain: { createMint: () => undefined, createPool: () => ({ address: 'pool' }) } as never,
  slot: () => slot, unixSeconds: (at) => at * 0.4, addressOf: (purpose) => purpose, hasDemand,
}).newest(20);

describe('launches in demand', () => {
  it('are each fourth one, whose volume surges for a while when it is one and a half hours old', () => {
    const launches = launchesAt(100 * 150, true);
    const wanted = launches.filter(({ tape }) => tape !== undefined);
    expect(wanted).toHaveLength(5);
    const surges = wanted.map(({ tape }) => {
      const [five, hour] = [5, 60].map((minutes) => tape!.window({ minutes }).buyVolumeUsd);
      return (five! * 12) / hour!;
    });
    // Ages of 30, 70, 110, 150 and 190 minutes: half an hour is no hour, and 20 minutes of ten times the volume give
    // 5 * 10 * 12 / (40 + 20 * 10) while they last, and 5 * 12 / 240 afterwards.
    expect(surges.map((surge) => surge.toFixed(2))).toEqual(['2.00', '1.00', '2.50', '0.25', '1.00']);
    // An age of 96 minutes: 5 * 10 * 12 / (54 + 6 * 10).
    const [, , sixMinutesIn] = launchesAt(126 * 150, true).filter(({ tape }) => tape !== undefined);
    const [five, hour] = [5, 60].map((minutes) => sixMinutesIn!.tape!.window({ minutes }).sellVolumeUsd);
    expect((five! * 12) / hour!).toBeCloseTo(600 / 114, 10);
  });

  it('do not exist unless they are asked for', () => {
    expect(launchesAt(15_000, false).filter(({ tape }) => tape !== undefined)).toEqual([]);
    expect(launchesAt(15_000, false).every(({ token }) => token.organicScore === 0)).toBe(true);
  });
});

describe('the trades of a wallet', () => {
  const trades = createWalletTrades({ seed: 7, usdPrice: () => 200, unixSeconds: (slot) => Math.floor(slot * 0.4) });

  it('are one each four minutes, the same in whichever spans they are asked for', () => {
    const whole = trades('wallet', { from: 0, to: 60_000 });
    expect(whole.length).toBeGreaterThanOrEqual(98);
    const spans = Array.from({ length: 60 }, (_, n) => trades('wallet', { from: n * 1_000, to: (n + 1) * 1_000 }));
    expect(spans.flat()).toEqual(whole);
    expect(new Set(whole.map(({ signature }) => signature)).size).toBe(whole.length);
    expect(whole.map(({ slot }) => slot)).toEqual(whole.map(({ slot }) => slot).toSorted((a, b) => a - b));
    expect(trades('other', { from: 0, to: 60_000 })).not.toEqual(whole);
  });

  it('swap SOL and USDC at the price, both ways, and some are gifts or fail', () => {
    const all = trades('wallet', { from: 0, to: 600_000 });
    const swaps = all.filter(({ isSigner, hasFailed }) => isSigner && !hasFailed);
    for (const { changes } of swaps) {
      const [sol, usdc] = [SOL_MINT, USDC_MINT].map((mint) => changes.find((change) => change.mint === mint)!.amount);
      expect(Number(usdc) / 1e6 / -(Number(sol! + 5_000n) / 1e9)).toBeCloseTo(200, 1);
    }
    const purchases = swaps.filter(({ changes: [sol] }) => sol!.amount > 0n);
    expect(purchases.length / swaps.length).toBeGreaterThan(0.4);
    expect(purchases.length / swaps.length).toBeLessThan(0.6);
    expect(all.filter(({ isSigner }) => !isSigner).length).toBeGreaterThan(50);
    expect(all.filter(({ hasFailed }) => hasFailed).every(({ changes }) => changes.length === 1)).toBe(true);
  });
});
