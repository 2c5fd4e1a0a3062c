import type { Observable } from 'rxjs';
import { EMPTY, filter, map, merge, mergeMap, of } from 'rxjs';
import { z } from 'zod';
import type {
  HistoryRecord, Input, Pair, PredictionHistoryEvent, PricedQuote, WalletChange, WalletTransaction,
} from '../src/strategy/index.ts';
import {
  amount, defineStrategy, duration, formatDecimal, pair, predictionHistory, quotes, unseen, walletActivity,
} from '../src/strategy/index.ts';

const address = () => z.string().regex(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/, 'expected a base58 address');

/** A transaction of a wallet; `side` is 1 for a copied purchase and -1 for a copied sale. */
type Move = Pick<WalletTransaction, 'signature' | 'changes'> & { readonly wallet: string; readonly side: number };

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
      map(({ signature, changes }) => ({ wallet, signature, changes, side: sideOf(changes, p.copy?.pair) })),
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
    // Ids grow. What is older than the first page is the past, and a page that shifts repeats entries.
    const initial: Readonly<Record<string, number>> = {};
    const newest = ctx.stateful('newest', initial, (known, { owner, entries }: PredictionHistoryEvent) =>
      ({ ...known, [owner]: Math.max(known[owner] ?? 0, ...entries.map(({ id }) => id)) }));
    const orders = merge(...p.owners.map((name) => (inputs[`owner ${name}`] as Observable<PredictionHistoryEvent>).pipe(
      mergeMap((page) => {
        const before = newest.value[name] ?? Infinity;
        return of(page).pipe(newest, mergeMap(() => page.entries.filter(({ id }) => id > before).toReversed()));
      }),
      filter((entry) => usdOf(entry) >= p.min_usd),
      map((entry) => ctx.alert('info', `${short(name)}: ${orderText(entry)}`, { owner: name, id: entry.id })),
    )));
    return merge(activity, exits, orders);
  },
});

/** Returns 1 where a pair's base token was bought for its quote token, -1 where it was sold, else 0. */
function sideOf(changes: readonly WalletChange[], copied: Pair | undefined): number {
  const [base, quote] = [copied?.base.mint, copied?.quote.mint].map((wanted) =>
    changes.find(({ mint }) => mint === wanted)?.amount ?? 0n);
  return base! > 0n && quote! < 0n ? 1 : base! < 0n && quote! > 0n ? -1 : 0;
}

function changeText({ mint, amount, decimals = 0 }: WalletChange): string {
  return `${amount > 0n ? '+' : ''}${formatDecimal(amount, decimals)} ${short(mint)}`;
}

/** Returns the ends of an address. */
function short(text: string): string {
  return `${text.slice(0, 4)}…${text.slice(-4)}`;
}

function orderText({ eventType, isYes, marketId, ...entry }: HistoryRecord): string {
  const side = isYes === true ? 'YES' : 'NO';
  return `${eventType.replaceAll('_', ' ')}, ${side} of ${marketId}, $${usdOf(entry).toFixed(2)}`;
}

/** Returns what an entry is about, in US dollars; most kinds of entries have one of these figures. */
function usdOf(entry: Partial<HistoryRecord>): number {
  return Math.max(...[entry.totalCostUsd, entry.depositAmountUsd, entry.netProceedsUsd, entry.payoutAmountUsd]
    .map((figure) => Number(figure ?? 0n))) / 1e6;
}
