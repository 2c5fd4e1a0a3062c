import { describe, expect, it } from 'vitest';
import { createPredictionMarket, PREDICTION_MARKETS, type PredictionMarket } from '../../../src/sandbox/market/prediction-market.ts';

const DOLLAR = 10_000;

function market(marketId: string, seed = 'test'): PredictionMarket {
  return createPredictionMarket({ ...PREDICTION_MARKETS.find((options) => options.marketId === marketId)!, seed });
}

function steps(subject: PredictionMarket, count: number, look: (subject: PredictionMarket) => void): void {
  for (let i = 0; i < count; i++) {
    subject.step();
    look(subject);
  }
}

describe('a prediction market of the sandbox', () => {
  it('is the same for the same seed', () => {
    const [a, b, other] = [market('540817'), market('540817'), market('540817', 'other')];
    for (const subject of [a, b, other]) steps(subject, 300, () => undefined);
    expect(a.book()).toEqual(b.book());
    expect(a.book()).not.toEqual(other.book());
  });

  it.each(PREDICTION_MARKETS.filter(({ liquidity }) => liquidity !== 'none').map(({ marketId }) => marketId))(
    '%s lists bids best first, inside one dollar, never crossed',
    (marketId) => {
      steps(market(marketId), 2_000, (subject) => {
        const book = subject.book()!;
        for (const side of [book.yes, book.no]) {
          for (const { price, size } of side) {
            expect(price).toBeGreaterThan(0);
            expect(price).toBeLessThan(DOLLAR);
            expect(size).toBeGreaterThan(0);
          }
          expect(side.map(({ price }) => price)).toEqual(side.map(({ price }) => price).sort((a, b) => b - a));
        }
        if (book.yes[0] && book.no[0]) expect(book.yes[0].price + book.no[0].price).toBeLessThan(DOLLAR);
      });
    },
  );

  it('crosses one half and six tenths within minutes', () => {
    const seen = { below: 0, above: 0, high: 0 };
    steps(market('SPRINGTIDE-26DEC31'), 4_500, ({ probability }) => {
      if (probability < 0.5) seen.below++;
      if (probability > 0.5) seen.above++;
      if (probability > 0.6) seen.high++;
    });
    expect(Math.min(seen.below, seen.above, seen.high)).toBeGreaterThan(100);
  });

  it('has prices below one cent where the event is unlikely', () => {
    const book = market('KRAKEN-26DEC31').book()!;
    expect(book.yes.some(({ price }) => price < 100 && price % 100 !== 0)).toBe(true);
  });

  it('can be one-sided, empty, or without any book', () => {
    expect(market('LIGHTHOUSE-27JAN15').book()!.no).toEqual([]);
    expect(market('DOLDRUMS-26NOV30').book()).toBeNull();
    const shapes = new Set<string>();
    steps(market('541266'), 500, (subject) => {
      const book = subject.book()!;
      shapes.add(`${book.yes.length > 0}/${book.no.length > 0}`);
    });
    expect(shapes).toEqual(new Set(['true/true', 'true/false', 'false/false']));
  });
});
