import { filter, map, mergeMap, scan } from 'rxjs';
import type { PricedQuote, Strategy } from '../../../../src/strategy/index.ts';
import type { CheckCode } from '../../../../src/research/strategy-check/check-codes.ts';
import { onPrice } from './frame.ts';

const SLOW_ROUNDS = 500_000;

/** What grows, takes its time, or decides before it has seen enough, each with its code. */
export const UNBOUNDED: Readonly<Record<string, readonly [CheckCode, Strategy]>> = {
  'keeps every price': ['KEEPS_MORE', onPrice(({ price }, _p, ctx) => {
    const all: number[] = [];
    return price.pipe(filter((quote) => all.push(quote.price) % 20 === 0), map((quote) =>
      ctx.alert('info', `${quote.price}`)));
  })],
  'keeps every quote': ['KEEPS_MORE', onPrice(({ price }, _p, ctx) => {
    const all: PricedQuote[] = [];
    return price.pipe(filter((quote) => all.push(quote) % 20 === 0), map((quote) =>
      ctx.alert('info', `${quote.price}`)));
  })],
  'keeps a map by time': ['KEEPS_MORE', onPrice(({ price }, _p, ctx) => {
    const byTime = new Map<number, number>();
    return price.pipe(filter((quote, n) => {
      byTime.set(quote.at, quote.price);
      return n % 20 === 0;
    }), map((quote) => ctx.alert('info', `${byTime.get(quote.at)}`)));
  })],
  'keeps a text of all prices': ['KEEPS_MORE', onPrice(({ price }, _p, ctx) => {
    let text = '';
    return price.pipe(filter((quote, n) => {
      text += `${quote.price};`;
      return n % 20 === 0;
    }), map(() => ctx.alert('info', `${text.length}`)));
  })],
  'computes for long at every event': ['SLOW', onPrice(({ price }, _p, ctx) => price.pipe(
    map((quote) => {
      let sum = 0;
      for (let i = 1; i < SLOW_ROUNDS; i++) sum += Math.sin(quote.price / i);
      return sum;
    }), filter((_, n) => n % 20 === 0), map((sum) => ctx.alert('info', `${sum}`))))],
  'takes the mean of what is there': ['DECIDES_EARLY', onPrice(({ price }, _p, ctx) => price.pipe(
    scan((window: readonly number[], quote) => [...window, quote.price].slice(-30), []),
    mergeMap((window) => {
      const mean = window.reduce((sum, value) => sum + value, 0) / window.length;
      return window.at(-1)! < mean * 0.995 ? [ctx.alert('info', 'below the mean')] : [];
    })))],
  'takes the extreme of what is there': ['DECIDES_EARLY', onPrice(({ price }, _p, ctx) => price.pipe(
    scan((window: readonly number[], quote) => [...window, quote.price].slice(-40), []),
    mergeMap((window) => (window.length > 1 && window.at(-1)! >= Math.max(...window)
      ? [ctx.alert('info', 'the highest price')] : []))))],
};
