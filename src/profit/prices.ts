import type { Millis } from '../core/time.ts';
import type { Mint } from '../market/token.ts';
import type { HistoryStore } from '../store/history.ts';
import { USD } from '../store/history.ts';

/** Values what is held, and says what its prices are. */
export interface Pricing {
  /** Prices of the running daemon, the last that a daemon kept, or none. */
  readonly source: 'running' | 'last' | 'none';
  /** Returns the value of an amount in a currency, rounded down; undefined without a price. */
  valueOf(mint: Mint, amount: bigint, currency: Mint): bigint | undefined;
  /** When the oldest price was known that was used since; undefined where none was used. */
  usedAt(): Millis | undefined;
}

/**
 * Returns values by the last kept prices: a quote of the sale, else one of the purchase, else both tokens' prices in US
 * dollars.
 */
export function lastPricing(prices: ReturnType<HistoryStore['lastPrices']>): Pricing {
  const byPair = new Map(prices.map((price) => [`${price.input} ${price.output}`, price]));
  let usedAt: Millis | undefined;
  const used = <T>(value: T, ...times: readonly Millis[]): T => {
    usedAt = Math.min(usedAt ?? Infinity, ...times);
    return value;
  };
  return {
    source: prices.length === 0 ? 'none' : 'last',
    valueOf: (mint, amount, currency) => {
      const sale = byPair.get(`${mint} ${currency}`);
      if (sale !== undefined) return used((amount * sale.amountOut) / sale.amountIn, sale.at);
      const purchase = byPair.get(`${currency} ${mint}`);
      if (purchase !== undefined) return used((amount * purchase.amountIn) / purchase.amountOut, purchase.at);
      const [from, to] = [byPair.get(`${mint} ${USD}`), byPair.get(`${currency} ${USD}`)];
      return from === undefined || to === undefined ? undefined
        : used((amount * from.amountOut * to.amountIn) / (from.amountIn * to.amountOut), from.at, to.at);
    },
    usedAt: () => usedAt,
  };
}
