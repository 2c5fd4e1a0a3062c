// Copy a wallet with a cap
//
// Each transaction comes once, oldest first, with its changes in smallest units. Anyone can send a wallet tokens, so
// count only what it signed. The copy spends the share of the wallet's purchase that is configured, and at most the
// cap. The signature is the key.
import { address, amount, changeOf, defineStrategy, fractionOf, pair, quotes, walletActivity } from 'gannet';
import { EMPTY, filter, mergeMap, of } from 'rxjs';
import { z } from 'zod';

export default defineStrategy({
  name: 'copied-wallet',
  summary: 'Buys a share of what another wallet buys of a token, up to a cap.',
  losesMoneyWhen: 'The copy comes later, at a worse price, and without the reasons of the wallet.',
  params: z.strictObject({
    wallet: address().describe('the address of the wallet'),
    pair: pair(),
    share: z.number().positive().default(0.1).describe('the share of the wallet’s purchase, as a fraction'),
    cap: amount().describe('the most that one copy costs, in the quote token'),
  }),
  inputs: (p) => ({
    activity: walletActivity(p.wallet, { every: '5s' }), price: quotes(p.pair, { amount: p.cap, every: '10s' }),
  }),
  run: ({ activity }, p, ctx) => activity.pipe(
    filter(({ isSigner, hasFailed }) => isSigner && !hasFailed),
    mergeMap(({ signature, changes }) => {
      const paid = -changeOf({ changes }, p.pair.quote);
      if (paid <= 0n || changeOf({ changes }, p.pair.base) <= 0n) return EMPTY;
      const wanted = fractionOf({ token: p.pair.quote, amount: paid }, p.share);
      const size = wanted.amount < p.cap.amount ? wanted : p.cap;
      return of(ctx.buy(p.pair, size, 'the wallet bought', { key: signature }));
    }),
  ),
});
