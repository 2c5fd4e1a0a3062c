import type { Observable } from 'rxjs';
import { combineLatest, filter, map } from 'rxjs';
import { z } from 'zod';
import type { OrderBook } from '../src/strategy/index.ts';
import {
  bookTop, bps, costToFill, defineStrategy, duration, hysteresis, ONE_USD, orderBook, parseDuration, quadraticFee,
} from '../src/strategy/index.ts';

/** Watches what YES and NO cost together, for as many contracts of each, with fees; it never trades. */
export default defineStrategy({
  name: 'complement-watch',
  summary: 'Alerts when one YES and one NO together cost less than the dollar that one of them pays.',
  losesMoneyWhen: 'It never trades. Who trades on its alerts loses where a book was stale, where the second half fills '
    + 'at a worse price than the first, or where two markets with similar titles resolve by different rules.',
  params: z.strictObject({
    yes: z.string().min(1).describe('the market whose YES is bought'),
    no: z.string().min(1).optional()
      .describe('the market whose NO is bought, where another one asks the same; left out, the same market'),
    contracts: z.number().gt(0).max(1_000_000).default(100)
      .describe('how many contracts of each, at the prices that the resting orders have for so many'),
    fee_bps: z.int().min(0).max(10_000).default(700)
      .describe('the rate of the taker fee, rate * contracts * p * (1 - p), rounded up to a cent for each order'),
    min_edge: z.number().gt(0).lt(1).default(0.02).describe('the gain of a pair that is told, in dollars, after fees'),
    rearm: z.number().lt(1).default(0).describe('how far the gain must fall back before it is told again, in dollars'),
    max_apart: duration().default('2s').describe('two books that were received further apart are not compared'),
    every: duration().default('5s').describe('how often each book is polled'),
  }).refine((p) => p.rearm < p.min_edge, { path: ['rearm'], message: 'expected less than min_edge' }),
  inputs: (p) => ({
    yes: orderBook(p.yes, { every: p.every }),
    // One book is one input: two of it would be compared between the two halves of an update.
    ...(isOneBook(p) ? {} : { no: orderBook(p.no!, { every: p.every }) }),
  }),
  run: ({ yes, no }, p, ctx) => {
    let cost = Number.NaN;
    const costOf = (book: OrderBook, side: 'yes' | 'no'): number => {
      const contractsMicro = BigInt(Math.round(p.contracts * 1e6));
      // The best prices alone show that the one book is crossed: nothing is to be filled there.
      const price = isOneBook(p) ? bookTop(book, side).bestAsk : costToFill(book, side, p.contracts)?.averageMicroUsd;
      if (price === undefined) return Number.NaN;
      const fee = quadraticFee({ contractsMicro, priceMicroUsd: Math.round(price), rate: bps(p.fee_bps) });
      return (price + Number(fee) / p.contracts) / ONE_USD;
    };
    const pairs: Observable<readonly [OrderBook, OrderBook]> =
      no === undefined ? yes.pipe(map((book) => [book, book])) : combineLatest([yes, no]);
    return pairs.pipe(
      map(([a, b]) => {
        const isApart = Math.abs(a.receivedAt - b.receivedAt) > parseDuration(p.max_apart);
        cost = isApart ? Number.NaN : costOf(a, 'yes') + costOf(b, 'no');
        return 1 - cost;
      }),
      hysteresis(p.min_edge, p.rearm, { start: false, keep: { context: ctx, name: 'edge' } }),
      filter((isGain) => isGain),
      map(() => {
        const pair = `YES of ${p.yes} and NO of ${p.no ?? p.yes} cost $${cost.toFixed(4)} with fees`;
        return isOneBook(p)
          ? ctx.alert('warning', `${pair}: the book is crossed, so its data are stale or broken`, { cost })
          : ctx.alert('info', `${pair}: $${(1 - cost).toFixed(4)} a pair, if both resolve by the same rules`, { cost });
      }),
    );
  },
});

function isOneBook({ yes, no }: { readonly yes: string; readonly no?: string | undefined }): boolean {
  return no === undefined || no === yes;
}
