import { expect } from 'vitest';
import type { Case } from '../../case.ts';
import { fieldCases } from '../../case.ts';
import type { ServiceFixture } from '../../service-fixture.ts';
import { PREDICTION, predictionOf } from './prediction-scenes.ts';

const SIDES = ['yes', 'no'] as const;
const BOOK = 'SPRINGTIDE-26DEC31';

/** Puts a book of pairs [cents, size] in the place of a market's own. */
const setBook = (
  fixture: ServiceFixture, yes: readonly (readonly number[])[] | null, no: readonly (readonly number[])[] | null,
): Promise<unknown> =>
  fixture.control('/sandbox/book', { market_id: BOOK, yes, no });

async function book(fixture: ServiceFixture) {
  await setBook(fixture, [[30, 120.5], [29.5, 8], [12, 1_000]], [[69, 40], [41, 3]]);
  const wire = await predictionOf(fixture, `/orderbook/${BOOK}`);
  const read = await fixture.service.prediction.orderBook(BOOK);
  await fixture.raw('DELETE', '/sandbox/book');
  return { wire, read: read! };
}

const falling = (prices: readonly number[]): void => expect(prices).toEqual(prices.toSorted((a, b) => b - a));

export const predictionBookCases: readonly Case[] = [
  ...fieldCases({ prefix: 'book', load: book }, {
    ...Object.fromEntries(SIDES.map((side) => [side, ['pairs of cents and size, both numbers, the dearest first',
      ({ wire, read }: Awaited<ReturnType<typeof book>>) => {
        for (const pair of wire[side]) expect(pair).toEqual([expect.any(Number), expect.any(Number)]);
        falling(wire[side].map(([cents]: [number]) => cents));
        expect(wire[side][0]).toEqual(side === 'yes' ? [30, 120.5] : [69, 40]);
        expect(read[side]).toHaveLength(wire[side].length);
      }] as const])),
    ...Object.fromEntries(SIDES.map((side) => [`${side}_dollars`,
      ['pairs of a decimal text and a size, the same levels', ({ wire }: Awaited<ReturnType<typeof book>>) => {
        for (const [place, [dollars, size]] of wire[`${side}_dollars`].entries()) {
          expect(dollars).toMatch(/^0\.\d+$/);
          expect(size).toBe(wire[side][place][1]);
          expect(Math.abs(Number(dollars) * 100 - wire[side][place][0])).toBeLessThanOrEqual(0.5);
        }
        falling(wire[`${side}_dollars`].map(([dollars]: [string]) => Number(dollars)));
      }] as const])),
    'all-four': ['no more and no fewer members', ({ wire }) =>
      expect(Object.keys(wire).toSorted()).toEqual(['no', 'no_dollars', 'yes', 'yes_dollars'])],
  }),
  {
    covers: ['book.whole-answer-null'],
    says: 'a market without a book answers null, which is no book to our client, while an empty book is one',
    async play(fixture) {
      await setBook(fixture, null, null);
      const answer = await fixture.get(`${PREDICTION}/orderbook/${BOOK}`);
      expect([answer.status, answer.text]).toEqual([200, 'null']);
      expect(await fixture.service.prediction.orderBook(BOOK)).toBeUndefined();
      await setBook(fixture, [], []);
      expect(await predictionOf(fixture, `/orderbook/${BOOK}`))
        .toEqual({ yes: [], no: [], yes_dollars: [], no_dollars: [] });
      expect(await fixture.service.prediction.orderBook(BOOK)).toMatchObject({ yes: [], no: [] });
      await fixture.raw('DELETE', '/sandbox/book');
    },
  },
];
