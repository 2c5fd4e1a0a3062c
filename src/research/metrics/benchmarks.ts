import { assert } from '../../core/assert.ts';
import type { Millis } from '../../core/time.ts';
import type { PurchasePlan } from '../../backtest/record/benchmark-wallets.ts';
import type { EquitySeries } from './equity-series.ts';

/** Executable prices of what could have been bought instead, at the times at which equity is looked at. */
interface PriceSeries {
  readonly times: readonly Millis[];
  readonly prices: readonly number[];
}

/** What a purchase or a sale costs a benchmark, and what each purchase costs beside, in the currency. */
export interface BenchmarkCosts {
  readonly costBps?: number | undefined;
  readonly orderCost?: number | undefined;
}

/** What a benchmark begins with and what it pays. */
interface BenchmarkTerms extends BenchmarkCosts {
  readonly cash: number;
}

/** Returns what money would have been worth that was left alone. */
export function cashOnly(times: readonly Millis[], { cash }: BenchmarkTerms): EquitySeries {
  return { times, values: times.map(() => cash) };
}

/**
 * Returns what a purchase for all the money at the first price would have been worth, at what a sale would have
 * brought.
 */
export function buyAndHold(series: PriceSeries, terms: BenchmarkTerms): EquitySeries {
  return dollarCostAveraging(series, { ...terms, orders: 1, everyMs: 1 });
}

/**
 * Returns what purchases for equal parts of the money would have been worth, the first at once and one after each
 * interval, each at the first price from its time on; what is held is marked at what a sale would have brought.
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
    // The first value is what the comparison begins with: costs show after it, as in the series it is compared with.
    return i === 0 ? cash : cash * (1 - bought / orders) + units * price * kept - bought * orderCost;
  });
  return { times, values };
}
