import { from, map, mergeMap, withLatestFrom } from 'rxjs';
import { z } from 'zod';
import {
  amount, defineStrategy, duration, indicate, quotes, targetWeights, token,
} from '../../../src/strategy/index.ts';
import { BollingerBands } from '../../../src/strategy/technical-indicators.ts';

/** Holds the one of two tokens that is cheap against the other, and changes when the relation is at its other end. */
export default defineStrategy({
  name: 'pairs',
  summary: 'Holds the cheaper of two tokens, by the standard deviations of the logarithm of their price ratio.',
  params: z.strictObject({
    cash: token(), a: amount(), b: amount(), every: duration().default('30s'), minimum: amount(),
    window: z.int().min(2).max(400).default(60), k: z.number().gt(0).default(2),
    weight: z.number().gt(0).max(1).default(0.9), band: z.number().gt(0).lt(1).default(0.1),
  }),
  // Sales of at least what is swapped: a backtest abandons an entry above the largest quoted size.
  inputs: (p) => ({
    a: quotes({ base: p.a.token, quote: p.cash }, { amount: p.a, every: p.every }),
    b: quotes({ base: p.b.token, quote: p.cash }, { amount: p.b, every: p.every }),
  }),
  run: ({ a, b }, p, ctx) => {
    const cheap = ctx.stateful('cheap', 'none', (known, { input, value }: {
      readonly input: number; readonly value: { readonly lower: number; readonly upper: number };
    }) => (input < value.lower ? 'a' : input > value.upper ? 'b' : known));
    return b.pipe(
      withLatestFrom(a),
      map(([ofB, ofA]) => Math.log(ofA.price / ofB.price)),
      indicate(() => new BollingerBands(p.window, p.k), { keep: { context: ctx, name: 'ratios', inputs: p.window } }),
      cheap,
      mergeMap(({ state }) => from(targetWeights(ctx, [
        { token: p.a.token, weight: state === 'a' ? p.weight : 0 },
        { token: p.b.token, weight: state === 'b' ? p.weight : 0 },
      ], { band: p.band, minimum: p.minimum, reason: 'pairs' }))),
    );
  },
});
