import { filter, map, merge, mergeMap } from 'rxjs';
import { z } from 'zod';
import {
  amount, defineStrategy, depthWithin, duration, hysteresis, impliedProbability, orderBook, pair, predictionMarket,
  quotes,
} from '../src/strategy/index.ts';

/** Near the best price, in dollars: deeper orders are no sign of a market that one can believe. */
const NEAR = 0.05;
/** How long a purchase waits for a refusal that passes. */
const RETRY = { until: '2m', every: '5s' };

/** Holds a token while a market’s probability is beyond a level, from a crossing on. */
export default defineStrategy({
  name: 'probability-cross',
  summary: 'Buys a token when a market’s probability crosses a level, sells when it is back or the market ends.',
  losesMoneyWhen: 'It loses where the token does not follow the odds, where its price had moved '
    + 'before the odds crossed the level, and where they swing around it: each swing costs a round trip.',
  params: z.strictObject({
    event: z.string().min(1).describe('the event of the market'),
    market: z.string().min(1).describe('the market’s identifier'),
    page: z.int().min(0).default(0).describe('the page of the event’s markets, 20 each, that has the market'),
    pair: pair().describe('what is bought, and with what'),
    size: amount().describe('what a purchase costs'),
    enter: z.number().gt(0).lt(1).default(0.6)
      .describe('the probability of YES that buys: above rearm it must rise to it, below rearm fall to it'),
    rearm: z.number().gt(0).lt(1).default(0.55).describe('the probability that sells, and allows the next purchase'),
    confirm: z.int().min(1).default(3).describe('how many polls in a row must agree'),
    min_depth: z.number().min(0).default(50)
      .describe('a book with fewer contracts near its best prices, on either side, is ignored'),
    max_spread: z.number().gt(0).max(1).default(0.05).describe('a book with a wider spread is ignored, in dollars'),
    every: duration().default('5s').describe('how often book and price are polled'),
    status_every: duration().default('30s').describe('how often it is asked whether the market is still open'),
  }).refine((p) => p.rearm !== p.enter, { path: ['rearm'], message: 'expected another probability than enter' }),
  inputs: (p) => ({
    book: orderBook(p.market, { every: p.every }), price: quotes(p.pair, { amount: p.size, every: p.every }),
    market: predictionMarket({ event: p.event, market: p.market }, { every: p.status_every, page: p.page }),
  }),
  run: ({ book, price, market }, p, ctx) => {
    // Kept, so that a restart beyond the level is no crossing, and a market that has ended stays so.
    const crossed = ctx.stateful('crossed', { times: 0, isBeyond: false, end: '' }, (known, now: boolean | string) => (
      typeof now === 'string' ? { ...known, isBeyond: false, end: now }
        : { ...known, isBeyond: now, times: known.times + 1 }));
    const crossings = book.pipe(
      map((latest) => {
        const { bid, ask } = depthWithin(latest, 'yes', NEAR);
        const isDeep = Math.min(bid, ask) >= p.min_depth;
        return isDeep ? impliedProbability(latest, p.max_spread) ?? Number.NaN : Number.NaN;
      }),
      hysteresis(p.enter, p.rearm, { confirm: p.confirm, keep: { context: ctx, name: 'side' } }),
      // A book may be served after the end.
      filter(() => crossed.value.end === ''),
    );
    const ends = market.pipe(
      map(({ market: { status = 'open', result } }) => (result === undefined ? status : `resolved: ${result}`)),
      filter((state) => state !== 'open' && state !== crossed.value.end),
    );
    const news = merge(crossings, ends).pipe(crossed, mergeMap(({ state: { isBeyond, times }, event }) => {
      const level = `${Math.round((isBeyond ? p.enter : p.rearm) * 1e4) / 100} %`;
      const text = typeof event === 'string' ? `${p.market} is ${event}`
        : `YES of ${p.market} ${isBeyond ? 'has crossed' : 'is back at'} ${level}`;
      const told = ctx.alert('info', text);
      return isBeyond ? [told, ctx.buy(p.pair, p.size, text, { key: `crossing-${times}`, retry: RETRY })] : [told];
    }));
    const exits = price.pipe(
      filter(() => !crossed.value.isBeyond && ctx.available(p.pair.base) > 0n),
      map(() => ctx.sell(p.pair, 'all', crossed.value.end === '' ? 'the probability is back' : 'the market has ended')),
    );
    return merge(news, exits);
  },
});
