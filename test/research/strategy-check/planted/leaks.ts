import { filter, ignoreElements, map, merge, mergeMap, shareReplay, Subject, tap } from 'rxjs';
import type { Strategy } from '../../../../src/strategy/index.ts';
import { quotes } from '../../../../src/strategy/index.ts';
import type { CheckCode } from '../../../../src/research/strategy-check/check-codes.ts';
import { onPrice } from './frame.ts';

/** What is left after the end, and what is lost at a restart, each with its code. */
export const LEAKS: Readonly<Record<string, readonly [CheckCode, Strategy]>> = {
  'replays a price without counting': ['SUBSCRIPTION_LEFT', onPrice(({ price }, _p, ctx) => price.pipe(
    shareReplay(1), filter((_, n) => n % 20 === 0), map((quote) => ctx.alert('info', `${quote.price}`))))],
  'subscribes to its outcomes': ['SUBSCRIPTION_LEFT', onPrice(({ price }, _p, ctx) => {
    let filled = 0;
    ctx.outcomes$.subscribe(() => { filled += 1; });
    return price.pipe(filter((_, n) => n % 20 === 0), map(() => ctx.alert('info', `${filled > 0}`)));
  })],
  'pumps a subject': ['ACTS_AFTER_END', onPrice(({ price }, _p, ctx) => {
    const pumped = new Subject<number>();
    price.subscribe((quote) => { ctx.log('a price'); pumped.next(quote.price); });
    return pumped.pipe(filter((_, n) => n % 20 === 0), map((value) => ctx.alert('info', `${value}`)));
  })],
  'leaves a timer': ['TIMER_LEFT', onPrice(({ price }, _p, ctx) => price.pipe(filter((_, n) => n % 20 === 0),
    tap(() => { ctx.clock.schedule(() => { ctx.log('an hour later'); }, 3_600_000); }),
    map((quote) => ctx.alert('info', `${quote.price}`))))],
  'keeps a watch open': ['WATCH_LEFT', onPrice(({ price }, p, ctx) => {
    const other = ctx.watch(quotes(p.pair, { amount: p.size, every: '5s' })).pipe(shareReplay(1));
    return merge(price.pipe(filter((_, n) => n % 20 === 0), map((quote) => ctx.alert('info', `${quote.price}`))),
      other.pipe(ignoreElements()));
  })],
  'remembers its entry price in a variable': ['FORGETS', onPrice(({ price }, p, ctx) => {
    let entry: number | undefined;
    let last = 0;
    return merge(
      ctx.outcomes$.pipe(filter(({ state }) => state === 'confirmed'), tap(() => { entry = last; }), ignoreElements()),
      price.pipe(mergeMap((quote, n) => {
        last = quote.price;
        if (entry === undefined) return n % 50 === 10 ? [ctx.buy(p.pair, p.size, 'entry')] : [];
        return n % 20 === 0 ? [ctx.alert('info', `the entry was at ${entry}`)] : [];
      })));
  })],
  'counts its fills in a variable': ['FORGETS', onPrice(({ price }, p, ctx) => {
    let fills = 0;
    return merge(
      ctx.outcomes$.pipe(filter(({ state }) => state === 'confirmed'), tap(() => { fills += 1; }), ignoreElements()),
      price.pipe(mergeMap((_, n) => (n % 60 === 0 && fills < 3 ? [ctx.buy(p.pair, p.size, `fill ${fills}`)] : []))));
  })],
  'notes a refusal in a variable': ['FORGETS', onPrice(({ price }, p, ctx) => {
    let isRefused = false;
    return merge(ctx.denials$.pipe(tap(() => { isRefused = true; }), ignoreElements()),
      price.pipe(filter((_, n) => n % 30 === 0), map(() => (isRefused ? ctx.alert('info', 'it was refused')
        : ctx.sell(p.pair, 'all', 'there is nothing to sell')))));
  })],
};
