// Write an indicator of your own
//
// Any object with `add` and `isStable` works with `indicate`: it is silent until the indicator is stable, and
// several see the same element. Read neither clock nor chance in it, and keep its memory bounded. Pass a function
// that makes it, so that each run begins with an indicator of its own.
import { amount, defineStrategy, indicate, pair, quotes } from 'gannet';
import { distinctUntilChanged, filter, map } from 'rxjs';
import { z } from 'zod';

/** How many prices in a row were each above the one before. */
const createStreak = () => {
  let [last, length, seen] = [Infinity, 0, 0];
  return {
    add(price: number): number {
      length = price > last ? length + 1 : 0;
      [last, seen] = [price, seen + 1];
      return length;
    },
    get isStable() { return seen > 1; },
  };
};

export default defineStrategy({
  name: 'own-indicator',
  summary: 'Alerts when the price has risen at several polls in a row.',
  losesMoneyWhen: 'It never trades. Who buys after a streak buys late.',
  params: z.strictObject({
    pair: pair(),
    size: amount().describe('the size whose price is watched'),
    streak: z.int().min(1).default(5).describe('how many rises in a row'),
  }),
  inputs: (p) => ({ price: quotes(p.pair, { amount: p.size, every: '10s' }) }),
  run: ({ price }, p, ctx) => price.pipe(
    indicate(createStreak),
    map(({ value }) => value >= p.streak), distinctUntilChanged(), filter((isLong) => isLong),
    map(() => ctx.alert('info', `${p.streak} rises in a row`)),
  ),
});
