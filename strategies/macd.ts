import { filter, map } from 'rxjs';
import { z } from 'zod';
import type { HoldSignal } from '../src/strategy/index.ts';
import {
  amount, bars, defineStrategy, duration, followSignal, indicate, pair, settled,
} from '../src/strategy/index.ts';
import { MACD, SeededEMA } from '../src/strategy/technical-indicators.ts';

/** After so many windows, nothing is left of what the means were seeded with. */
const SETTLED_WINDOWS = 4;

/** Trend following on the difference of two exponential means (MACD) and the exponential mean of that, its signal. */
export default defineStrategy({
  name: 'macd',
  summary: 'Buys when the MACD of closed bars crosses above its signal line, sells when it crosses below.',
  losesMoneyWhen: 'It loses in a market that moves sideways, where the lines cross again and again and each pair of '
    + 'crossings costs a round trip. In a trend of constant slope the lines converge, and it sells too early.',
  params: z.strictObject({
    pair: pair().describe('what to trade, "SOL/USDC"'),
    size: amount().describe('what one purchase costs, in the quote token; also the size whose price is watched'),
    bar: duration().default('5m').describe('the length of a bar'),
    poll: duration().default('10s').describe('how often the price is polled; at most half a bar'),
    fast: z.int().min(1).max(200).default(12).describe('how many bars make the fast mean'),
    slow: z.int().min(2).max(200).default(26).describe('how many bars make the slow mean'),
    signal: z.int().min(1).max(100).default(9)
      .describe('how many values make the signal line; it decides after 4 times the bars of both'),
    hysteresis: z.number().min(0).lt(1).default(0.001)
      .describe('by which fraction of the price the lines must differ before a crossing counts: 0.001 is 0.1 %'),
  })
    .refine((p) => p.size.token.mint === p.pair.quote.mint, {
      path: ['size'], message: 'expected an amount of the pair’s quote token',
    })
    .refine((p) => p.fast < p.slow, { path: ['fast'], message: 'expected less than slow' }),
  inputs: (p) => ({ bar: bars(p.pair, { every: p.bar, poll: p.poll, amount: p.size }) }),
  run: ({ bar }, p, ctx) => {
    const inputs = SETTLED_WINDOWS * (p.slow + p.signal);
    const lines = (): MACD => new MACD(new SeededEMA(p.fast), new SeededEMA(p.slow), new SeededEMA(p.signal));
    return bar.pipe(
      // A bar without a price of its own is not traded, and has no weight in the means.
      filter(({ isGap }) => isGap !== true),
      map(({ close }) => close),
      indicate(settled(inputs, lines), { keep: { context: ctx, name: 'closes', inputs } }),
      map(({ input: close, value: { histogram } }): HoldSignal => {
        const difference = histogram / close;
        return {
          hold: difference > p.hysteresis ? p.pair.base : difference < -p.hysteresis ? 'cash' : 'same',
          reason: `MACD is ${(100 * difference).toFixed(2)} % of the price off its signal, at ${close.toPrecision(6)}`,
        };
      }),
      followSignal(ctx, { key: 'cross', tokens: [p.pair.base], size: p.size }),
    );
  },
});
