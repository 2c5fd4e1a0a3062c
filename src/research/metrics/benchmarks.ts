import { assert } from '../../core/assert.ts';
import type { Millis } from '../../core/time.ts';
import type { PurchasePlan } from '../../backtest/record/benchmark-wallets.ts';
import type { EquitySeries } from './equity-series.ts';

/** Executable prices of an alternative investment, at the times of the equity samples. */
interface PriceSeries {
  readonly times: readonly Millis[];
  readonly prices: readonly number[];
}

/** The proportional costs of a purchase or sale, and the fixed cost of each purchase in the currency. */
export interface BenchmarkCosts {
  readonly costBps?: number | undefined;
  readonly orderCost?: number | undefined;
}

/** The initial money and the costs of a benchmark. */
interface BenchmarkTerms extends BenchmarkCosts {
  readonly cash: number;
}

/** Returns the value of money that is not invested. */
export function cashOnly(times: readonly Millis[], { cash }: BenchmarkTerms): EquitySeries {
  return { times, values: times.map(() => cash) };
}

/** Returns the value of one purchase for all the money at the first price, at the proceeds of a sale. */
export function buyAndHold(series: PriceSeries, terms: BenchmarkTerms): EquitySeries {
  return dollarCostAveraging(series, { ...terms, orders: 1, everyMs: 1 });
}

/**
 * Returns the value of purchases for equal parts of the money, the first at once and one after each interval, each at
 * the first price from its time on. Holdings count at the proceeds of a sale.
 */
export function dollarCostAveraging(
  { times, prices }: PriceSeries, { cash, costBps = 0, orderCost = 0, orders, everyMs }: BenchmarkTerms & PurchasePlan,
): EquitySeries {
  assert(times.length === prices.length, 'a series has a price for each time');
  assert(orders >= 1 && everyMs > 0, 'there is at least one order, and time between them');
  const kept = 1 - costBps / 10_000;
  let bought = 0;
  let units = 0;
  const values = prices.map((price, i) => {
    assert(price > 0, () => `a price is above 0, got ${price} at ${times[i]}`);
    const due = Math.min(orders, Math.floor((times[i]! - times[0]!) / everyMs) + 1);
    units += (((due - bought) * cash) / orders) * (kept / price);
    bought = due;
    // The first value is the initial money. Costs appear after it, as in the series that it is compared with.
    return i === 0 ? cash : cash * (1 - bought / orders) + units * price * kept - bought * orderCost;
  });
  return { times, values };
}
