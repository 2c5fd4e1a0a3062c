import { map, merge, mergeMap, pairwise, startWith } from 'rxjs';
import { z } from 'zod';
import {
  amount, defineStrategy, duration, impliedProbability, orderBook, pair, predictionMarket, quotes,
} from '../../../src/strategy/index.ts';

/** Holds a token from the time that a market's probability has crossed a level until it falls back or is resolved. */
export default defineStrategy({
  name: 'probability-cross',
  summary: 'Buys when a market’s implied probability rises over a level, sells when it falls back or is resolved.',
  params: z.strictObject({
    event: z.string().min(1), market: z.string().min(1), pair: pair(), size: amount(), every: duration().default('5s'),
    enter: z.number().gt(0).lt(1), leave: z.number().gt(0).lt(1), max_spread: z.number().gt(0).max(1).default(0.1),
  }).refine((p) => p.leave < p.enter, { path: ['leave'], message: 'expected less than enter' }),
  inputs: (p) => ({
    book: orderBook(p.market, { every: p.every }), price: quotes(p.pair, { amount: p.size, every: p.every }),
    market: predictionMarket({ event: p.event, market: p.market }, { every: p.every }),
  }),
  run: ({ book, market }, p, ctx) => {
    // A probability that is above the level at the first reading has not crossed it.
    const side = ctx.stateful('side', 'unknown', (known, seen: number | string | undefined) => {
      if (seen === undefined || known.startsWith('resolved')) return known;
      if (typeof seen === 'string') return `resolved ${seen}`;
      if (seen <= p.leave) return 'below';
      return seen >= p.enter && known === 'below' ? 'above' : known;
    });
    const probability = book.pipe(map((latest) => impliedProbability(latest, p.max_spread)));
    return merge(probability, market.pipe(map((latest) => latest.market.result))).pipe(
      side, map(({ state }) => state), startWith(side.value), pairwise(), mergeMap(([before, now]) => {
        const told = before === now || before === 'unknown' ? [] : [ctx.alert('info', `${p.market} is ${now}`)];
        const isHeld = ctx.available(p.pair.base) > 0n;
        if (ctx.openIntents() > 0 || isHeld === (now === 'above')) return told;
        return [...told, isHeld ? ctx.sell(p.pair, 'all', `${p.market} is ${now}`) : ctx.buy(p.pair, p.size, now)];
      }));
  },
});
