// Trade a token that a list discovers
//
// `screen` watches the price of each token while the list holds it. A swap into a token that the configuration does
// not name is refused unless `risk.discovered_tokens` allows it, with a budget for each and for all. Members with a
// position stay, so that they can be sold.
import { amount, defineStrategy, quotes, screen, tokenList } from 'gannet';
import { EMPTY, filter, mergeMap, of } from 'rxjs';
import { z } from 'zod';

export default defineStrategy({
  name: 'discovered-token',
  summary: 'Buys the tokens that lead by trading and are verified, and sells each at a gain or a loss.',
  losesMoneyWhen: 'A leader has had its rise: most tokens are found when those who had them sell.',
  params: z.strictObject({
    size: amount().describe('what one purchase costs'),
    most: z.int().min(1).max(10).default(3).describe('how many tokens are watched at once'),
    move: z.number().positive().default(0.1).describe('the gain and the loss at which to sell, as a fraction'),
  }),
  inputs: () => ({ leaders: tokenList({ list: 'toptraded', interval: '1h', limit: 20 }, { every: '1m' }) }),
  run: ({ leaders }, p, ctx) => leaders.pipe(
    screen(ctx, {
      max: p.most, where: ({ isVerified }) => isVerified === true, keep: (held) => ctx.position(held).amount > 0n,
      watch: (base) => quotes({ base, quote: p.size.token }, { amount: p.size, every: '10s' }),
    }),
    filter(({ kind }) => kind === 'event'),
    mergeMap(({ token }) => {
      const { amount: held, gain = 0 } = ctx.position(token);
      if (held === 0n) return of(ctx.swap(p.size.token, token, p.size, 'it leads', { key: `entry-${token.mint}` }));
      return Math.abs(gain) < p.move ? EMPTY : of(ctx.swap(token, p.size.token, 'all', `moved by ${gain.toFixed(2)}`));
    }),
  ),
});
