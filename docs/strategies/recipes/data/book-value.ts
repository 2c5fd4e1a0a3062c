// Compare a book with your own probability
//
// The mid of a book is no price. `costToFill` says what a number of contracts costs at once; with the fee, that is
// the probability above which a purchase pays. Both are undefined where the book does not hold the size. Gannet
// places no prediction orders: this tells people.
import { breakEvenProbability, costToFill, defineStrategy, kellyFraction, orderBook } from 'gannet';
import { EMPTY, map, mergeMap, of } from 'rxjs';
import { z } from 'zod';

export default defineStrategy({
  name: 'book-value',
  summary: 'Alerts when a number of YES contracts costs less than they are worth to you.',
  losesMoneyWhen: 'It never trades. Who trades on its alerts loses where the probability is wrong.',
  params: z.strictObject({
    market: z.string().describe('the identifier of the market'),
    probability: z.number().gt(0).lt(1).describe('your own probability of YES'),
    contracts: z.int().min(1).default(100).describe('how many contracts'),
    fee: z.int().min(0).default(0).describe('the fee of one contract, in millionths of a dollar'),
  }),
  inputs: (p) => ({ book: orderBook(p.market, { every: '5s' }) }),
  run: ({ book }, p, ctx) => book.pipe(
    mergeMap((now) => {
      const cost = costToFill(now, 'yes', p.contracts);
      if (cost === undefined) return EMPTY;
      const priceMicroUsd = Math.ceil(cost.averageMicroUsd);
      const stake = kellyFraction({ probability: p.probability, priceMicroUsd, feePerContract: p.fee });
      return stake === 0 ? EMPTY : of({ stake, needed: breakEvenProbability(priceMicroUsd, p.fee) });
    }),
    map(({ stake, needed }) => ctx.alert('info', `pays above ${needed}`, { stake: stake / 4 })),
  ),
});
