import type { Observable } from 'rxjs';
import { distinctUntilChanged, EMPTY, filter, map, mergeMap, of } from 'rxjs';
import type { Bar, OrderBook, PricedQuote, Proposal, StrategyContext } from '../../../src/strategy/index.ts';
import {
  bollinger, costToFill, depthImbalance, indicate, kellyFraction, over, previous, probabilityInterval,
} from '../../../src/strategy/index.ts';
import { ATR, DonchianChannels, EMA, MACD, RSI } from '../../../src/strategy/technical-indicators.ts';

// The examples of docs/indicators.md, word for word: a test compares them and runs them.

/** Whether the fast mean is above the slow one, at each change. */
export function crosses(price: Observable<PricedQuote>): Observable<boolean> {
  return price.pipe(
    indicate({ fast: () => new EMA(12), slow: () => new EMA(26) }),
    filter(({ fast, slow }) => Math.abs(fast / slow - 1) > 0.001),
    map(({ fast, slow }) => fast > slow),
    distinctUntilChanged(),
  );
}

/** Breakouts from the channel of the twenty bars before. */
export function breakouts(bars: Observable<Bar>): Observable<string> {
  return bars.pipe(
    indicate({ channel: previous(() => new DonchianChannels(20)), range: () => new ATR(20) }),
    filter(({ input, channel }) => input.close > channel.upper),
    map(({ channel, range }) => `above ${channel.upper}, with a stop ${2 * range} lower`),
  );
}

/** Bars whose index is low while the momentum rises again. */
export function turns(bars: Observable<Bar>): Observable<Bar> {
  return bars.pipe(
    filter(({ isGap }) => isGap !== true),
    indicate({
      rsi: over('close', () => new RSI(14)),
      macd: over('close', () => new MACD(new EMA(12), new EMA(26), new EMA(9))),
    }),
    filter(({ rsi, macd }) => rsi < 40 && macd.histogram > 0),
    map(({ input }) => input),
  );
}

/** How far the price is from its mean, in population deviations. */
export function distances(price: Observable<PricedQuote>): Observable<number> {
  return price.pipe(bollinger(20, 2), map(({ z }) => z));
}

/** Says how many values are missing. */
export function progress(price: Observable<PricedQuote>, ctx: StrategyContext): Observable<Proposal> {
  let seen = 0;
  return price.pipe(
    indicate(() => new RSI(14), { emit: 'always' }),
    mergeMap(({ isStable, value }) => {
      seen += 1;
      if (!isStable) return EMPTY;
      return of(ctx.alert('info', `${seen} prices, an index of ${value.toFixed(1)}`));
    }),
  );
}

/** The same results whether or not the bot was restarted. */
export function restartSafe(bars: Observable<Bar>, ctx: Pick<StrategyContext, 'stateful'>): Observable<number> {
  return bars.pipe(
    indicate(() => new ATR(14), { keep: { context: ctx, name: 'range', inputs: 100 } }),
    map(({ value }) => value),
  );
}

/** The part of the capital to stake on YES, where buyers outweigh sellers and the book holds the size. */
export function stakes(book: Observable<OrderBook>, belief: number): Observable<number> {
  return book.pipe(mergeMap((latest) => {
    const interval = probabilityInterval(latest);
    const cost = costToFill(latest, 'yes', 100);
    if (interval === undefined || cost === undefined || interval.upper - interval.lower > 0.05) return EMPTY;
    if ((depthImbalance(latest, 'yes', 0.02) ?? 0) < 0.2) return EMPTY;
    const priceMicroUsd = Math.ceil(cost.averageMicroUsd);
    return of(0.25 * kellyFraction({ probability: belief, priceMicroUsd, feePerContract: 17_500 }));
  }));
}
