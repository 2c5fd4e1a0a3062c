import { filter, map } from 'rxjs';
import { z } from 'zod';
import type { HoldSignal } from '../src/strategy/index.ts';
import { amount, bars, defineStrategy, duration, followSignal, indicate, pair } from '../src/strategy/index.ts';
import { RSI } from '../src/strategy/technical-indicators.ts';

/** After so many windows a result of Wilder's smoothing no longer shows what it was seeded with. */
const KEPT_WINDOWS = 10;

/** Wilder's relative strength index on closed bars: buys what is oversold, sells what is overbought. */
export default defineStrategy({
  name: 'rsi',
  summary: 'Buys when the relative strength index of closed bars is below one level, sells when it is above another.',
  losesMoneyWhen: 'It loses in a long fall: the index stays low while the price goes on falling, and the strategy '
    + 'holds until the index is high again. In a long rise it buys late or never.',
  params: z.strictObject({
    pair: pair().describe('what to trade, "SOL/USDC"'),
    size: amount().describe('what one purchase costs, in the quote token; also the size whose price is watched'),
    bar: duration().default('5m').describe('the length of a bar'),
    poll: duration().default('10s').describe('how often the price is polled; at most half a bar'),
    window: z.int().min(2).max(100).default(14).describe('how many changes make the index'),
    buy_below: z.number().gt(0).lt(100).default(30).describe('the index below which it buys'),
    sell_above: z.number().gt(0).lt(100).default(70).describe('the index above which it sells'),
  })
    .refine((p) => p.size.token.mint === p.pair.quote.mint, {
      path: ['size'], message: 'expected an amount of the pair’s quote token',
    })
    .refine((p) => p.buy_below < p.sell_above, { path: ['buy_below'], message: 'expected less than sell_above' }),
  inputs: (p) => ({ bar: bars(p.pair, { every: p.bar, poll: p.poll, amount: p.size }) }),
  run: ({ bar }, p, ctx) => bar.pipe(
    // A bar without a price of its own repeats the close before, which is no change of the price.
    filter(({ isGap }) => isGap !== true),
    map(({ close }) => close),
    indicate(() => new RSI(p.window), { keep: { context: ctx, name: 'closes', inputs: KEPT_WINDOWS * p.window } }),
    map(({ input, value }): HoldSignal => ({
      hold: value < p.buy_below ? p.pair.base : value > p.sell_above ? 'cash' : 'same',
      reason: `the index is ${value.toFixed(2)} at ${input.toPrecision(6)}`,
    })),
    followSignal(ctx, { key: 'index', tokens: [p.pair.base], size: p.size, initially: 'cash' }),
  ),
});
