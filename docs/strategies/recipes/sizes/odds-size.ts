// Size by odds and costs
//
// `fractionalKelly` gives the share of equity for a bet with a probability, a gain, a loss and its costs, and 0
// where the bet does not pay. It takes a quarter of the formula, because estimated probabilities are too certain.
// The probability comes from a program of your own; the bet is not better than that.
import { amount, atLeast, defineStrategy, fractionalKelly, pair, percentOfEquity, quotes, signals } from 'gannet';
import { EMPTY, mergeMap, of } from 'rxjs';
import { z } from 'zod';

const FORECAST = z.object({ id: z.string(), probability: z.number().min(0).max(1) });

export default defineStrategy({
  name: 'odds-size',
  summary: 'Buys by the forecasts of another program, more the better the odds after costs.',
  losesMoneyWhen: 'The forecasts are less certain than they say, or the gain and the loss are not those assumed.',
  params: z.strictObject({
    pair: pair(),
    minimum: amount().describe('the least purchase, in the quote token; its price is watched'),
    win: z.number().positive().default(0.05).describe('the gain if the forecast is right, as a fraction'),
    loss: z.number().positive().default(0.05).describe('the loss if it is wrong, as a fraction'),
    cost: z.number().min(0).default(0.004).describe('what a round trip costs, as a fraction'),
  }),
  inputs: (p) => ({ forecast: signals('forecast'), price: quotes(p.pair, { amount: p.minimum, every: '10s' }) }),
  run: ({ forecast }, p, ctx) => forecast.pipe(mergeMap(({ body }) => {
    const { data } = FORECAST.safeParse(body);
    if (data === undefined) return EMPTY;
    const share = fractionalKelly({ probability: data.probability, win: p.win, loss: p.loss, cost: p.cost });
    const size = atLeast(percentOfEquity(ctx, share * 100), p.minimum);
    return size === undefined ? EMPTY
      : of(ctx.buy(p.pair, size, `a probability of ${data.probability}`, { key: data.id }));
  })),
});
