import { filter, from, map, merge, mergeMap } from 'rxjs';
import { z } from 'zod';
import {
  amount, defineStrategy, duration, interval, parseDuration, quotes, targetWeights, token,
} from '../src/strategy/index.ts';

/** Threshold rebalancing: holds tokens at target weights, and trades back what has drifted out of its band. */
export default defineStrategy({
  name: 'rebalance',
  summary: 'Holds tokens at target weights, and trades a weight back when it has drifted out of its band.',
  losesMoneyWhen: 'One token falls for long and it buys more of it each time, or one rises for long and it sells. '
    + 'Narrow bands and short intervals pay fees for noise.',
  params: z.strictObject({
    cash: token().describe('the token of the budget, which takes what the weights leave'),
    targets: z.array(z.strictObject({
      token: token().describe('a token to hold'),
      size: amount().describe('the size of it whose sale price is watched'),
      weight: z.number().min(0).max(1).describe('its share of the equity'),
    })).min(1).max(10).describe('the tokens, each with a weight, and a size whose sale price is watched'),
    band: z.number().gt(0).lt(1).default(0.05).describe('how far a weight may drift: 0.05 is 5 points'),
    relative_band: z.number().gt(0).optional()
      .describe('the same as a part of the weight, 0.2 for a fifth; the narrower of both counts'),
    to: z.enum(['target', 'edge']).default('target')
      .describe('what is traded back to: the target, or the edge of the band, which costs less and comes more often'),
    min_interval: duration().default('1h').describe('the least time between the begins of two rebalancings'),
    minimum: amount().describe('the least value of a swap, in the token of the budget'),
    every: duration().default('30s').describe('how often prices are polled and weights are compared'),
  })
    .refine((p) => p.targets.reduce((sum, { weight }) => sum + weight, 0) <= 1 + 1e-9, {
      path: ['targets'], message: 'expected weights that are together at most 1',
    })
    .refine((p) => p.targets.every(({ token: of, size }) => of.mint === size.token.mint && of.mint !== p.cash.mint), {
      path: ['targets'], message: 'expected each size in its own token, and none in the token of the budget',
    })
    .refine((p) => p.minimum.token.mint === p.cash.mint, {
      path: ['minimum'], message: 'expected an amount of the token of the budget',
    }),
  // Sales of at least what is swapped: a backtest abandons an entry above the largest quoted size.
  inputs: (p) => Object.fromEntries(p.targets.map(({ token: base, size }) =>
    [base.symbol, quotes({ base, quote: p.cash }, { amount: size, every: p.every })])),
  run: (prices, p, ctx) => {
    const minMs = parseDuration(p.min_interval);
    // All swaps of a rebalancing, one after the other, count as one.
    const round = ctx.stateful('round', { at: 0, isOpen: false }, (known, { now, isDrifted }: {
      readonly now: number; readonly isDrifted: boolean;
    }) => {
      if (known.isOpen) return isDrifted ? known : { ...known, isOpen: false };
      return isDrifted && now - known.at >= minMs ? { at: now, isOpen: true } : known;
    });
    return merge(...Object.values(prices), interval(ctx, p.every)).pipe(
      filter(() => ctx.openIntents() === 0 && ctx.equity() !== undefined),
      map(() => targetWeights(ctx, p.targets, {
        band: p.band, relative: p.relative_band, to: p.to, minimum: p.minimum, reason: 'rebalance',
      })),
      mergeMap((swaps) => from([swaps]).pipe(
        map((all) => ({ now: ctx.now(), isDrifted: all.length > 0 })), round,
        mergeMap(({ state }) => (state.isOpen ? swaps : [])),
      )),
    );
  },
});
