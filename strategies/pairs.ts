import { combineLatest, filter, map } from 'rxjs';
import { z } from 'zod';
import type { HoldSignal, RegressionResult } from '../src/strategy/index.ts';
import {
  amount, bars, defineStrategy, duration, followSignal, indicate, quotes, Regression,
} from '../src/strategy/index.ts';

/** What is to be held; nothing while the relation counts as broken. */
type Side = 'cash' | 'a' | 'b' | 'broken';

/** Pairs trading without short sales: holds the cheaper one of two related tokens, or neither. */
export default defineStrategy({
  name: 'pairs',
  summary: 'Holds the one of two tokens that is cheap against the other, by a regression of their logarithms.',
  losesMoneyWhen: 'It loses when the relation of the two tokens breaks: the one that was bought as cheap goes on '
    + 'falling until the stop. It cannot sell short, so it also loses when both fall together.',
  params: z.strictObject({
    size: amount().describe('what one purchase costs, "100 USDC"; between two positions this token is held'),
    a: amount().describe('a sale of the first token whose price is watched, "1 SOL"; as large as a position'),
    b: amount().describe('a sale of the second token whose price is watched; as large as a position'),
    bar: duration().default('5m').describe('the length of a bar'),
    poll: duration().default('10s').describe('how often both prices are polled; at most half a bar'),
    lookback: z.int().min(10).max(500).default(300).describe('how many bars make the regression of A on B'),
    enter: z.number().positive().default(2).describe('at how many standard deviations off the line one is cheap'),
    exit: z.number().min(0).default(0.5).describe('at how many standard deviations the difference is over'),
    stop: z.number().positive().default(4)
      .describe('at how many standard deviations the relation counts as broken; then it waits for the exit'),
    between: z.enum(['cash', 'keep']).default('cash').describe('what to hold after the exit. cash: what a purchase is '
      + 'paid with; keep: the same token, until it is swapped directly for the other one'),
  })
    .refine((p) => new Set([p.size, p.a, p.b].map(({ token }) => token.mint)).size === 3, {
      path: ['b'], message: 'expected three different tokens in size, a and b',
    })
    .refine((p) => p.exit < p.enter, { path: ['exit'], message: 'expected less than enter' })
    .refine((p) => p.enter < p.stop, { path: ['enter'], message: 'expected less than stop' })
    .refine((p) => p.stop < Math.sqrt(p.lookback - 1), {
      path: ['stop'], message: 'expected less than the square root of lookback - 1, which no deviation exceeds',
    }),
  inputs: (p) => {
    const barsOf = (sale: typeof p.a) => bars({ base: sale.token, quote: p.size.token }, {
      every: p.bar, poll: p.poll, amount: sale,
    });
    // A backtest can fill the direct swap if the recording has its price.
    const direct = quotes({ base: p.a.token, quote: p.b.token }, { amount: p.a, every: p.poll });
    return { a: barsOf(p.a), b: barsOf(p.b), ...(p.between === 'keep' ? { direct } : {}) };
  },
  run: ({ a, b }, p, ctx) => {
    const side = ctx.stateful<Side, RegressionResult>('side', 'cash', (known, { z }) => {
      if (Math.abs(z) >= p.stop) return 'broken';
      if (known === 'broken') return Math.abs(z) <= p.exit ? 'cash' : known;
      const isOver = known === 'a' ? z >= -p.exit : known === 'b' && z <= p.exit;
      if (isOver && p.between === 'cash') return 'cash';
      return Math.abs(z) < p.enter ? known : z < 0 ? 'a' : 'b';
    });
    return combineLatest([a, b]).pipe(
      // Both closes are of the same moment, and neither bar repeats the close before.
      filter(([ofA, ofB]) => ofA.closeAt === ofB.closeAt && ofA.isGap !== true && ofB.isGap !== true),
      map(([ofA, ofB]) => ({ x: Math.log(ofB.close), y: Math.log(ofA.close) })),
      indicate(() => new Regression(p.lookback), { keep: { context: ctx, name: 'prices', inputs: p.lookback } }),
      map(({ value }) => value),
      side,
      map(({ state, event: { z, beta } }): HoldSignal => ({
        hold: state === 'a' ? p.a.token : state === 'b' ? p.b.token : 'cash',
        reason: `${p.a.token.symbol} is ${z.toFixed(2)} deviations off its line on ${p.b.token.symbol} `
          + `(beta ${beta.toFixed(3)})${state === 'broken' ? ': the relation is broken' : ''}`,
      })),
      followSignal(ctx, { key: 'pair', tokens: [p.a.token, p.b.token], size: p.size, initially: 'cash' }),
    );
  },
});
