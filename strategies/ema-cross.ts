import { filter, map } from 'rxjs';
import { z } from 'zod';
import type { HoldSignal } from '../src/strategy/index.ts';
import {
  amount, bars, defineStrategy, duration, followSignal, indicate, pair, settled,
} from '../src/strategy/index.ts';
import { SeededEMA } from '../src/strategy/technical-indicators.ts';

/** After so many windows, nothing is left of what a mean was seeded with. */
const SETTLED_WINDOWS = 4;

/** Trend following on two exponential means of closed bars. It trades crossings, not where the means stand. */
export default defineStrategy({
  name: 'ema-cross',
  summary: 'Buys when the fast exponential mean of closed bars crosses above the slow one, sells when below.',
  losesMoneyWhen: 'It loses in a market that moves sideways, where the means cross again and again and each pair of '
    + 'crossings costs a round trip. After a sudden turn it sells late, because the means follow the price.',
  params: z.strictObject({
    pair: pair().describe('what to trade, "SOL/USDC"'),
    size: amount().describe('what one purchase costs, in the quote token; also the size whose price is watched'),
    bar: duration().default('5m').describe('the length of a bar'),
    poll: duration().default('10s').describe('how often the price is polled; at most half a bar'),
    fast: z.int().min(1).max(200).default(12).describe('how many bars make the fast mean'),
    slow: z.int().min(2).max(200).default(26)
      .describe('how many bars make the slow mean; it decides after 4 times as many'),
    hysteresis: z.number().min(0).lt(1).default(0.001)
      .describe('by which fraction the means must differ before a crossing counts: 0.001 is 0.1 %'),
  })
    .refine((p) => p.size.token.mint === p.pair.quote.mint, {
      path: ['size'], message: 'expected an amount of the pair’s quote token',
    })
    .refine((p) => p.fast < p.slow, { path: ['fast'], message: 'expected less than slow' }),
  inputs: (p) => ({ bar: bars(p.pair, { every: p.bar, poll: p.poll, amount: p.size }) }),
  run: ({ bar }, p, ctx) => {
    const inputs = SETTLED_WINDOWS * p.slow;
    return bar.pipe(
      // A bar without a price of its own is not traded, and has no weight in the means.
      filter(({ isGap }) => isGap !== true),
      map(({ close }) => close),
      indicate({ fast: () => new SeededEMA(p.fast), slow: settled(inputs, () => new SeededEMA(p.slow)) }, {
        keep: { context: ctx, name: 'closes', inputs },
      }),
      map(({ fast, slow }): HoldSignal => {
        const difference = fast / slow - 1;
        return {
          hold: difference > p.hysteresis ? p.pair.base : difference < -p.hysteresis ? 'cash' : 'same',
          reason: `the ${p.fast}-bar mean is ${(100 * difference).toFixed(2)} % off the ${p.slow}-bar mean, `
            + slow.toPrecision(6),
        };
      }),
      followSignal(ctx, { key: 'cross', tokens: [p.pair.base], size: p.size }),
    );
  },
});
