import { filter, ignoreElements, map, merge, mergeMap, tap } from 'rxjs';
import { z } from 'zod';
import type { Outcome, TwoSidedQuote } from '../src/strategy/index.ts';
import {
  amount, amountOf, defineStrategy, duration, levelsBetween, numberOf, pair, twoSided,
} from '../src/strategy/index.ts';

type Levels = Readonly<{ low: number; high: number; levels: number; type: 'geometric' | 'arithmetic' }>;
/** Returns the prices of a grid from the lowest to the highest: one more than there are levels that buy. */
const linesOf = (p: Levels): number[] => levelsBetween({ ...p, steps: p.levels });

/** A grid between two prices: each level buys a lot where the price falls to it, and sells that lot one level up. */
export default defineStrategy({
  name: 'grid',
  summary: 'Buys a lot at each level that the price falls to, and sells each lot one level up, between two prices.',
  losesMoneyWhen: 'The price leaves the grid: below it, every lot is held at a loss, and the stop makes the loss real. '
    + 'Above it, the grid holds nothing, and levels closer than the costs of a round trip lose on each one.',
  params: z.strictObject({
    pair: pair().describe('what to trade, "SOL/USDC"'),
    low: z.number().positive().describe('the lowest level, in quote tokens for one base token'),
    high: z.number().positive().describe('the highest level, which only sells'),
    levels: z.int().min(1).max(50).default(10).describe('how many levels buy'),
    type: z.enum(['geometric', 'arithmetic']).default('geometric')
      .describe('whether levels have the same ratio or the same distance'),
    lot: amount().describe('what the purchase of one level costs, in the quote token'),
    min_step: z.number().gt(0).lt(1).default(0.004)
      .describe('the least distance of two levels, which must exceed the costs of a round trip: 0.004 is 0.4 %'),
    stop_loss: z.number().positive().optional().describe('at this price it sells all and ends; left out, it holds'),
    take_profit: z.number().positive().optional().describe('at this price it sells all and ends; left out, it waits'),
    every: duration().default('5s').describe('how often both prices are polled'),
  })
    .refine((p) => p.lot.token.mint === p.pair.quote.mint, {
      path: ['lot'], message: 'expected an amount of the pair’s quote token',
    })
    .refine((p) => p.low < p.high, { path: ['low'], message: 'expected less than high' })
    .refine((p) => p.low >= p.high || linesOf(p).at(-1)! / linesOf(p).at(-2)! - 1 >= p.min_step, {
      path: ['levels'], message: 'expected levels further apart than min_step: fewer of them, or a wider range',
    })
    .refine((p) => (p.stop_loss ?? 0) < p.low && (p.take_profit ?? Infinity) > p.high, {
      path: ['stop_loss'], message: 'expected less than low, and take_profit more than high',
    }),
  inputs: (p) => {
    // A little more than the lowest level buys, so that each lot can be sold at once.
    const sell = amountOf(p.pair.base, Number((numberOf(p.lot) / p.low * 1.01).toPrecision(3)));
    return { both: twoSided(p.pair, { buy: p.lot, sell, every: p.every }) };
  },
  run: ({ both }, p, ctx) => {
    const lines = linesOf(p);
    const proposed = new Set<string | undefined>();
    // A level buys where the price falls to it, so it must have been above: the highest price is kept.
    const seen = ctx.stateful('seen', { highest: 0, hasEnded: false }, (known, { buy, sell }: TwoSidedQuote) => ({
      highest: Math.max(known.highest, buy.price),
      hasEnded: known.hasEnded || sell.price <= (p.stop_loss ?? 0) || sell.price >= (p.take_profit ?? Infinity),
    }));
    // A sale may go in parts, each with an outcome.
    const lots = ctx.stateful('lots', Array.from({ length: p.levels }, () => ({ round: 0, held: 0n, isCut: false })),
      (known, { tag, state, fill }: Outcome) => known.map((lot, level) => {
        if (tag !== String(level)) return lot;
        const round = lot.round + 1;
        if (fill === undefined) return state === 'failed' || state === 'expired' ? { ...lot, round } : lot;
        const held = fill.inputMint === p.pair.base.mint ? lot.held - fill.amountIn : lot.held + fill.amountOut;
        return { round, held, isCut: held > 0n && held < lot.held };
      }));
    // A level is proposed again after a refusal, and after a swap that was given up before its signature.
    const givenUp = ctx.outcomes$.pipe(lots, map(({ event }) => event), filter(({ state }) => state === 'abandoned'));
    const forgotten = merge(ctx.denials$, givenUp).pipe(tap(({ key }) => { proposed.delete(key); }), ignoreElements());
    return merge(forgotten, both.pipe(seen, mergeMap(({ state: { highest, hasEnded }, event: { buy, sell } }) => {
      if (hasEnded) {
        return ctx.openIntents() > 0 || ctx.available(p.pair.base) === 0n ? []
          : [ctx.sell(p.pair, 'all', `the grid has ended at ${sell.price.toPrecision(6)}`)];
      }
      return lots.value.flatMap(({ round, held, isCut }, level) => {
        const [at, up] = [lines[level]!, lines[level + 1]!];
        const key = `${level}-${round}`;
        const isDue = held > 0n ? sell.price >= up : buy.price <= at && highest > at;
        if (!isDue || proposed.has(key) || (isCut && ctx.openIntents() > 0)) return [];
        proposed.add(key);
        const options = { key, tag: String(level), retry: { until: '10m', every: '5s' } };
        return [held > 0n
          ? ctx.sell(p.pair, { token: p.pair.base, amount: held }, `up to ${up.toPrecision(6)}`, options)
          : ctx.buy(p.pair, p.lot, `down to ${at.toPrecision(6)}`, options)];
      });
    })));
  },
});
