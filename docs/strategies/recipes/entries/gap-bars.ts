// Avoid trading on gap bars
//
// An interval without a price is a bar with `isGap`: all four prices are the close before. A rule for falling or
// narrow bars takes it for a calm market, although nothing is known. Leave out each decision whose bars include a
// gap.
import { amount, bars, defineStrategy, pair, whenFlat } from 'gannet';
import { bufferCount, filter, map } from 'rxjs';
import { z } from 'zod';

export default defineStrategy({
  name: 'gap-bars',
  summary: 'Buys after several rising bars in a row, none of which is a gap.',
  losesMoneyWhen: 'The rise is over when it is seen, as in a market without a trend.',
  params: z.strictObject({
    pair: pair(),
    size: amount().describe('what one purchase costs, in the quote token'),
    rising: z.int().min(2).default(3).describe('how many bars in a row must not fall'),
  }),
  inputs: (p) => ({ bar: bars(p.pair, { every: '1m', poll: '10s', amount: p.size }) }),
  run: ({ bar }, p, ctx) => bar.pipe(
    bufferCount(p.rising, 1),
    filter((last) => !last.some(({ isGap }) => isGap === true) && last.every(({ open, close }) => close >= open)),
    whenFlat(ctx, p.pair.base),
    map((last) => ctx.buy(p.pair, p.size, `${last.length} bars rose`)),
  ),
});
