import { filter, merge } from 'rxjs';
import { z } from 'zod';
import { amount, defineStrategy, duration, pair, quotes, trailingOrder, when } from '../src/strategy/index.ts';

/** A stop that follows the best price, and never goes back. */
export default defineStrategy({
  name: 'trailing-stop',
  summary: 'Sells a position when its price is a distance below the best one since the start.',
  losesMoneyWhen: 'The price swings by more than the distance and goes on rising: it has sold in the dip. A fall '
    + 'from the entry on, or a gap below the stop, sells at a loss.',
  params: z.strictObject({
    pair: pair().describe('what to trade, "SOL/USDC"'),
    sale: amount().describe('about what is sold, in the base token: the size whose sale price is watched'),
    distance: z.number().min(0.001).max(0.9).default(0.03)
      .describe('how far below the best price it sells: 0.03 is 3 %'),
    activation: z.number().min(0).default(0).describe('the price that the best one must have reached before'),
    buy: amount().optional().describe(
      'what a purchase at the start costs, in the quote token; left out, it sells its budget of the base token',
    ),
    every: duration().default('5s').describe('how often the price is polled; a high between two polls is not seen'),
  })
    .refine((p) => p.sale.token.mint === p.pair.base.mint, {
      path: ['sale'], message: 'expected an amount of the pair’s base token',
    })
    .refine((p) => p.buy === undefined || p.buy.token.mint === p.pair.quote.mint, {
      path: ['buy'], message: 'expected an amount of the pair’s quote token',
    }),
  inputs: (p) => ({ price: quotes(p.pair, { amount: p.sale, every: p.every }) }),
  run: ({ price }, p, ctx) => {
    const { buy } = p;
    const isHeld = (): boolean => ctx.position(p.pair.base).amount > 0n;
    const stop = price.pipe(
      filter(isHeld),
      trailingOrder(ctx, { key: 'stop', distance: p.distance, after: p.activation }, ({ price: now }) =>
        ctx.sell(p.pair, 'all', `${now.toPrecision(6)} is ${p.distance * 100} % below the best price`)),
    );
    return buy === undefined ? stop
      : merge(stop, price.pipe(when(ctx, 'entry', () => !isHeld(), () => ctx.buy(p.pair, buy, 'the entry'))));
  },
});
