import type { Observable } from 'rxjs';
import { EMPTY, filter, map, merge, mergeMap } from 'rxjs';
import { z } from 'zod';
import type {
  HistoryRecord, Input, Pair, PredictionHistoryEvent, PricedQuote, WalletChange, WalletTransaction,
} from '../src/strategy/index.ts';
import {
  address, amount, changeOf, defineStrategy, duration, entryUsd, formatDecimal, newEntries, pair, predictionHistory,
  quotes, unseen, walletActivity,
} from '../src/strategy/index.ts';

/** A transaction of a wallet; `side` is 1 for a copied purchase and -1 for a copied sale. */
type Move = WalletTransaction & { readonly wallet: string; readonly side: number };

/** How long a copied purchase waits for a refusal that passes. */
const RETRY = { until: '30s', every: '5s' };

/** Tells what other accounts do, and copies the swaps of wallets in one pair where a size is given. */
export default defineStrategy({
  name: 'copy-watch',
  summary: 'Alerts at the transactions of wallets and at prediction orders of accounts; copies swaps where told to.',
  losesMoneyWhen: 'Copies come seconds after the original, at a worse price and without its reasons: the wallet may '
    + 'hedge elsewhere, trade with itself to be copied, or sell into the purchases of those who copy it.',
  params: z.strictObject({
    wallets: z.array(address()).max(20).default([]).describe('the wallets whose transactions are told'),
    owners: z.array(address()).max(20).default([]).describe('the accounts whose prediction orders are told'),
    min_usd: z.number().min(0).default(10).describe('prediction orders of less, in US dollars, are not told'),
    copy: z.strictObject({
      pair: pair().describe('only swaps between these two tokens are copied'),
      size: amount().describe('what each copied purchase costs, whatever the wallet spent'),
    }).optional().describe('left out, it alerts alone. The first wallet that sells ends the position'),
    every: duration().default('5s').describe('how often wallets, and the price of a copied pair, are polled'),
    history_every: duration().default('30s').describe('how often the orders of each account are polled'),
  }).refine((p) => p.wallets.length + p.owners.length > 0, {
    path: ['wallets'], message: 'expected a wallet here, or an account in owners',
  }),
  inputs: (p): Readonly<Record<string, Input<unknown>>> => ({
    ...Object.fromEntries(p.wallets.map((wallet) => [`wallet ${wallet}`, walletActivity(wallet, { every: p.every })])),
    ...Object.fromEntries(p.owners.map((owner) =>
      [`owner ${owner}`, predictionHistory(owner, { every: p.history_every })])),
    ...(p.copy === undefined ? {} : { price: quotes(p.copy.pair, { amount: p.copy.size, every: p.every }) }),
  }),
  run: (inputs, p, ctx) => {
    const moves = merge(...p.wallets.map((wallet) => (inputs[`wallet ${wallet}`] as Observable<WalletTransaction>).pipe(
      // Anyone can send a wallet tokens, or name it.
      filter(({ isSigner, hasFailed, changes }) => isSigner && !hasFailed && changes.length > 0),
      map((transaction): Move => (
        { ...transaction, wallet, side: p.copy === undefined ? 0 : sideOf(transaction, p.copy.pair) })),
    ))).pipe(unseen(ctx, 'seen', ({ wallet, signature }) => `${short(wallet)}/${signature}`, 300));
    const isIn = ctx.stateful('is-in', false, (before, { side }: Move) => (side === 0 ? before : side > 0));
    const activity = moves.pipe(isIn, mergeMap(({ event: { wallet, signature, changes, side } }) => {
      const told = `${short(wallet)}: ${changes.map(changeText).join(', ')}`;
      const alert = ctx.alert('info', told, { wallet, signature });
      return p.copy === undefined || side <= 0 ? [alert]
        : [alert, ctx.buy(p.copy.pair, p.copy.size, `copies ${told}`, { key: signature, retry: RETRY })];
    }));
    const exits = p.copy === undefined ? EMPTY : (inputs['price'] as Observable<PricedQuote>).pipe(
      filter(() => !isIn.value && ctx.available(p.copy!.pair.base) > 0n),
      map(() => ctx.sell(p.copy!.pair, 'all', 'a copied wallet has sold')),
    );
    const pages = merge(...p.owners.map((owner) => inputs[`owner ${owner}`] as Observable<PredictionHistoryEvent>));
    const orders = pages.pipe(
      newEntries(ctx, 'newest'),
      filter(({ entry }) => entryUsd(entry) >= p.min_usd),
      map(({ owner, entry }) => ctx.alert('info', `${short(owner)}: ${orderText(entry)}`, { owner, id: entry.id })),
    );
    return merge(activity, exits, orders);
  },
});

/** Returns 1 where a pair's base token was bought for its quote token, -1 where it was sold, else 0. */
function sideOf(transaction: WalletTransaction, { base, quote }: Pair): number {
  const [bought, paid] = [changeOf(transaction, base), -changeOf(transaction, quote)];
  return bought > 0n && paid > 0n ? 1 : bought < 0n && paid < 0n ? -1 : 0;
}

function changeText({ mint, amount, decimals = 0 }: WalletChange): string {
  return `${amount > 0n ? '+' : ''}${formatDecimal(amount, decimals)} ${short(mint)}`;
}

/** Returns the ends of an address. */
function short(text: string): string {
  return `${text.slice(0, 4)}…${text.slice(-4)}`;
}

function orderText(entry: HistoryRecord): string {
  const { eventType, isYes, marketId } = entry;
  const side = isYes === true ? 'YES' : 'NO';
  return `${eventType.replaceAll('_', ' ')}, ${side} of ${marketId}, $${entryUsd(entry).toFixed(2)}`;
}
