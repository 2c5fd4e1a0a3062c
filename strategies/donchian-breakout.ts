import { filter, map } from 'rxjs';
import { z } from 'zod';
import type { HoldSignal } from '../src/strategy/index.ts';
import {
  amount, bars, defineStrategy, duration, followSignal, indicate, pair, previous,
} from '../src/strategy/index.ts';
import { DonchianChannels } from '../src/strategy/technical-indicators.ts';

/** Trend following on breakouts: the highest and lowest prices are those of the bars before the present one. */
export default defineStrategy({
  name: 'donchian-breakout',
  summary: 'Buys when a bar closes above the highest price of the bars before it, sells below the lowest of fewer.',
  losesMoneyWhen: 'It loses in a market that moves sideways: each false breakout costs a round trip and part of the '
    + 'width of the channel. Polls miss the extremes between them, so a channel of few polls is broken too easily.',
  params: z.strictObject({
    pair: pair().describe('what to trade, "SOL/USDC"'),
    size: amount().describe('what one purchase costs, in the quote token; also the size whose price is watched'),
    bar: duration().default('5m').describe('the length of a bar'),
    poll: duration().default('10s').describe('how often the price is polled; at most half a bar'),
    entry: z.int().min(2).max(200).default(20).describe('how many bars before the present one a purchase must exceed'),
    exit: z.int().min(2).max(200).default(10).describe('how many bars before the present one a sale must undercut'),
  })
    .refine((p) => p.size.token.mint === p.pair.quote.mint, {
      path: ['size'], message: 'expected an amount of the pair’s quote token',
    })
    .refine((p) => p.exit <= p.entry, { path: ['exit'], message: 'expected at most entry' }),
  inputs: (p) => ({ bar: bars(p.pair, { every: p.bar, poll: p.poll, amount: p.size }) }),
  run: ({ bar }, p, ctx) => bar.pipe(
    // A bar without a price of its own is neither traded nor part of a channel.
    filter(({ isGap }) => isGap !== true),
    map(({ high, low, close }) => ({ high, low, close })),
    indicate({
      highest: previous(() => new DonchianChannels(p.entry)), lowest: previous(() => new DonchianChannels(p.exit)),
    }, { keep: { context: ctx, name: 'bars', inputs: p.entry + 1 } }),
    map(({ input: { close }, highest, lowest }): HoldSignal => {
      const at = close.toPrecision(6);
      const [upper, lower] = [highest.upper.toPrecision(6), lowest.lower.toPrecision(6)];
      if (close > highest.upper)
        return { hold: p.pair.base, reason: `${at} is above the ${p.entry} bars before, ${upper}` };
      const hold = close < lowest.lower ? 'cash' : 'same';
      return { hold, reason: `${at} against the lowest price of the ${p.exit} bars before, ${lower}` };
    }),
    followSignal(ctx, { key: 'breakout', tokens: [p.pair.base], size: p.size, initially: 'cash' }),
  ),
});
