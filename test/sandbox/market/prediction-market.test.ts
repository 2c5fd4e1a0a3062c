import { describe, expect, it } from 'vitest';
import {
  createPredictionMarket, DOLLAR, PREDICTION_MARKETS, type PredictionBook, type PredictionMarket,
} from '../../../src/sandbox/market/prediction-market.ts';

function market(marketId: string, seed = 'test'): PredictionMarket {
  return createPredictionMarket({ ...PREDICTION_MARKETS.find((options) => options.marketId === marketId)!, seed });
}

function bookOf(subject: PredictionMarket, step: number, lean?: number): PredictionBook {
  const book = subject.book(step, lean);
  if (book === null || book === 'unreachable') throw new Error(`no book at ${step}`);
  return book;
}

function steps(count: number, from = 0): number[] {
  return Array.from({ length: count }, (_, i) => from + i);
}

describe('a prediction market of the sandbox', () => {
  it('is the same for the same seed, whatever was asked before and in whatever order', () => {
    const [a, b, other] = [market('540817'), market('540817'), market('540817', 'other')];
    for (const step of steps(50).reverse()) a.book(step);
    for (const step of [300, -4_000, 0]) {
      expect(a.book(step)).toEqual(b.book(step));
      expect(a.book(step)).not.toEqual(other.book(step));
    }
  });

  it.each(PREDICTION_MARKETS.filter(({ liquidity }) => liquidity !== 'none' && liquidity !== 'failing')
    .map(({ marketId }) => marketId))(
    '%s lists bids best first, inside one dollar, never crossed',
    (marketId) => {
      const subject = market(marketId);
      for (const step of steps(2_000, -1_000)) {
        const book = bookOf(subject, step);
        for (const side of [book.yes, book.no]) {
          for (const { price, size } of side) {
            expect(price).toBeGreaterThan(0);
            expect(price).toBeLessThan(DOLLAR);
            expect(size).toBeGreaterThan(0);
          }
          expect(side.map(({ price }) => price)).toEqual(side.map(({ price }) => price).sort((a, b) => b - a));
        }
        if (book.yes[0] && book.no[0]) expect(book.yes[0].price + book.no[0].price).toBeLessThan(DOLLAR);
        expect(subject.bestBids(step)).toEqual({ yes: book.yes[0]?.price, no: book.no[0]?.price });
      }
    },
  );

  it('crosses one half and six tenths within minutes', () => {
    const seen = { below: 0, above: 0, high: 0 };
    const subject = market('SPRINGTIDE-26DEC31');
    for (const step of steps(4_500)) {
      const probability = subject.probability(step);
      if (probability < 0.5) seen.below++;
      if (probability > 0.5) seen.above++;
      if (probability > 0.6) seen.high++;
    }
    expect(Math.min(seen.below, seen.above, seen.high)).toBeGreaterThan(100);
  });

  it('drifts as far as its swing says and no step leaps', () => {
    const subject = market('540817');
    const odds = steps(40_000).map((step) => Math.log(subject.probability(step) / (1 - subject.probability(step))));
    const mean = odds.reduce((sum, value) => sum + value, 0) / odds.length;
    const deviation = Math.sqrt(odds.reduce((sum, value) => sum + (value - mean) ** 2, 0) / odds.length);
    expect(deviation).toBeGreaterThan(0.2);
    expect(deviation).toBeLessThan(0.3);
    expect(Math.max(...odds.slice(1).map((value, i) => Math.abs(value - odds[i]!)))).toBeLessThan(0.05);
  });

  it('leans where it is told to', () => {
    const subject = market('540817');
    expect(subject.probability(10, 5)).toBeGreaterThan(0.98);
    expect(bookOf(subject, 10, -5).yes.every(({ price }) => price < 200)).toBe(true);
  });

  it('has prices below one cent where the event is unlikely', () => {
    expect(bookOf(market('KRAKEN-26DEC31'), 0).yes.some(({ price }) => price < 100 && price % 100 !== 0)).toBe(true);
  });

  it('can be one-sided, empty, without any book, or out of reach for a while', () => {
    expect(bookOf(market('LIGHTHOUSE-27JAN15'), 0).no).toEqual([]);
    expect(market('DOLDRUMS-26NOV30').book(0)).toBeNull();
    const thinning = market('541266');
    const shapes = new Set(steps(500, -200).map((step) => bookOf(thinning, step)).map(({ yes, no }) =>
      `${yes.length > 0}/${no.length > 0}`));
    expect(shapes).toEqual(new Set(['true/true', 'true/false', 'false/false']));
    const failing = market('541301');
    expect([0, 299, 300, 449, 450].map((step) => failing.book(step) === 'unreachable'))
      .toEqual([false, false, true, true, false]);
  });
});
