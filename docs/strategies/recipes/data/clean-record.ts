// Buy only a token with a clean record
//
// `tokenRecord` carries the audit, the tags and the holders of a token. What the service does not say is undefined,
// which is not the same as safe: compare with `=== true`. The texts are claims of the token itself.
// `risk.token_safety` checks authorities and liquidity on every entry anyway; ask here for what it does not ask for.
import { amount, defineStrategy, pair, quotes, tokenRecord, when } from 'gannet';
import { withLatestFrom } from 'rxjs';
import { z } from 'zod';

export default defineStrategy({
  name: 'clean-record',
  summary: 'Buys a token once below a price, if its record is verified, widely held and not suspicious.',
  losesMoneyWhen: 'The price falls: a clean record says nothing about it.',
  params: z.strictObject({
    pair: pair(),
    size: amount().describe('what the purchase costs, in the quote token'),
    below: z.number().positive().describe('the price to be below'),
    holders: z.int().min(0).default(1_000).describe('the least number of holders'),
  }),
  inputs: (p) => ({
    price: quotes(p.pair, { amount: p.size, every: '10s' }), token: tokenRecord(p.pair.base, { every: '1m' }),
  }),
  run: ({ price: quoted, token }, p, ctx) => quoted.pipe(
    withLatestFrom(token),
    when(ctx, 'entry', ([{ price }, { record: { audit, isVerified, values } }]) => price < p.below
      && isVerified === true && audit.isSus !== true && audit.mintAuthorityDisabled === true
      && (values.holderCount ?? 0) >= p.holders,
    () => ctx.buy(p.pair, p.size, 'a clean record')),
  ),
});
