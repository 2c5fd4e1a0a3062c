import { filter, map, merge, take } from 'rxjs';
import { z } from 'zod';
import type { Amount, TwoSidedQuote } from '../src/strategy/index.ts';
import {
  amount, amountOf, bps, defineStrategy, duration, instant, numberOf, pair, twoSided, when,
} from '../src/strategy/index.ts';

/** A limit or a stop order: one swap when an executable price has crossed a level, until it expires. */
export default defineStrategy({
  name: 'limit',
  summary: 'Swaps once when the price at its size crosses a level, confirmed by several polls, before it expires.',
  losesMoneyWhen: 'The price crosses the level on its way further: a limit purchase buys a falling token. A stop '
    + 'swaps at a worse price than its level in a gap.',
  params: z.strictObject({
    pair: pair().describe('what to trade, "SOL/USDC"'),
    side: z.enum(['buy', 'sell']).describe('what to do'),
    size: amount().describe('what to spend: of the quote token for a purchase, of the base token for a sale'),
    trigger: z.enum(['below', 'above']).describe('whether the price must be at or below the level, or at or above it'),
    price: z.number().positive().describe('the level, in quote tokens for one base token'),
    expires: instant().describe('when the order ends unfilled, with an alert'),
    confirm: z.int().min(1).default(2).describe('how many polls in a row must be beyond the level'),
    max_spread: z.number().gt(0).lt(1).default(0.02)
      .describe('polls whose purchase and sale differ by more are ignored: 0.02 is 2 %'),
    at_limit: z.boolean().default(false).describe('refuses a fill at a worse price than the level'),
    slippage_bps: z.int().min(0).max(10_000).optional().describe('the most slippage; left out, what the limits allow'),
    every: duration().default('5s').describe('how often both prices are polled'),
  }).refine((p) => p.size.token.mint === (p.side === 'buy' ? p.pair.quote.mint : p.pair.base.mint), {
    path: ['size'], message: 'expected an amount of the quote token for a purchase, of the base token for a sale',
  }),
  inputs: (p) => {
    const other = p.side === 'buy' ? amountOf(p.pair.base, Number((numberOf(p.size) / p.price).toPrecision(6)))
      : amountOf(p.pair.quote, Number((numberOf(p.size) * p.price).toPrecision(6)));
    const [buy, sell] = p.side === 'buy' ? [p.size, other] : [other, p.size];
    return { both: twoSided(p.pair, { buy, sell, every: p.every }) };
  },
  run: ({ both }, p, ctx) => {
    const priceOf = ({ buy, sell }: TwoSidedQuote): number => (p.side === 'buy' ? buy.price : sell.price);
    let beyond = 0;
    const isDue = (quote: TwoSidedQuote): boolean => {
      if (quote.spread <= p.max_spread) {
        const isBeyond = p.trigger === 'below' ? priceOf(quote) <= p.price : priceOf(quote) >= p.price;
        beyond = isBeyond ? beyond + 1 : 0;
      }
      return beyond >= p.confirm && ctx.now() < p.expires;
    };
    const worth = p.side === 'buy' ? amountOf(p.pair.base, numberOf(p.size) / p.price, 'ceil')
      : amountOf(p.pair.quote, numberOf(p.size) * p.price, 'ceil');
    const order = both.pipe(when(ctx, 'order', isDue, (quote) => {
      const text = `${priceOf(quote).toPrecision(6)} is ${p.trigger} ${p.price}`;
      const options = {
        ...(p.at_limit ? { limit: worth.amount as Amount } : {}),
        ...(p.slippage_bps === undefined ? {} : { slippageBps: bps(p.slippage_bps) }),
      };
      return p.side === 'buy' ? ctx.buy(p.pair, p.size, text, options) : ctx.sell(p.pair, p.size, text, options);
    }));
    const ended = ctx.stateful('ended', 'no', (known, next: 'filled' | 'expired') => (known === 'no' ? next : 'told'));
    const filled = ctx.outcomes$.pipe(filter(({ key, fill }) => key !== undefined && fill !== undefined),
      map(() => 'filled' as const));
    const late = both.pipe(
      filter(() => ctx.now() >= p.expires && ctx.openIntents() === 0), take(1), map(() => 'expired' as const),
    );
    return merge(order, merge(filled, late).pipe(ended, filter(({ state }) => state === 'expired'),
      map(() => ctx.alert('warning', 'the order has expired unfilled'))));
  },
});
