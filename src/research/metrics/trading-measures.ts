import { assert } from '../../core/assert.ts';
import type { EquitySeries } from './equity-series.ts';
import { yearsOf } from './equity-series.ts';

const BPS = 10_000;

/** An order from decision to end: prices in the currency for one unit, quantities in units. */
interface WorkedOrder {
  readonly side: 'buy' | 'sell';
  readonly quantity: number;
  readonly decisionPrice: number;
  /** The price at the quote; left out, the decision price, so that no delay is measured. */
  readonly quotePrice?: number | undefined;
  readonly fills: readonly { readonly price: number; readonly quantity: number }[];
  /** The price when the order was done or given up. */
  readonly endPrice: number;
  readonly fees: number;
}

/**
 * The shortfall of an order against its ideal execution, in basis points of the ideal value; positive is worse. The
 * parts sum up to the total.
 */
export interface Shortfall {
  readonly total: number;
  /** From decision to quote, on the filled quantity. */
  readonly delay: number;
  /** From quote to fill. */
  readonly slippage: number;
  readonly fees: number;
  /** From decision to end, on the quantity that was not filled. */
  readonly opportunity: number;
}

/**
 * Returns the implementation shortfall of an order (A. Perold, 1988); undefined when the ideal value is not above 0.
 */
export function implementationShortfall(
  { side, quantity, decisionPrice, quotePrice = decisionPrice, fills, endPrice, fees }: WorkedOrder,
): Shortfall | undefined {
  const paper = quantity * decisionPrice;
  if (!(paper > 0)) return undefined;
  const sign = side === 'buy' ? 1 : -1;
  let filled = 0;
  let slipped = 0;
  for (const fill of fills) {
    filled += fill.quantity;
    slipped += (fill.price - quotePrice) * fill.quantity;
  }
  const inBps = (amount: number): number => (amount / paper) * BPS;
  const delay = inBps(sign * (quotePrice - decisionPrice) * filled);
  const slippage = inBps(sign * slipped);
  const opportunity = inBps(sign * (endPrice - decisionPrice) * (quantity - filled));
  return { total: delay + slippage + inBps(fees) + opportunity, delay, slippage, fees: inBps(fees), opportunity };
}

/** The quoted and the filled output of a swap in smallest units, and its value in the currency. */
export interface QuotedFill {
  readonly quoted: number;
  readonly filled: number;
  readonly notional: number;
}

/**
 * Returns the mean shortfall of fills against their quotes in basis points, weighted by value; positive is worse.
 * Undefined without fills.
 */
export function realizedSlippageBps(fills: readonly QuotedFill[]): number | undefined {
  let weighted = 0;
  let weight = 0;
  for (const { quoted, filled, notional } of fills) {
    if (!(quoted > 0) || !(notional > 0)) continue;
    weighted += ((quoted - filled) / quoted) * notional;
    weight += notional;
  }
  return weight === 0 ? undefined : (weighted / weight) * BPS;
}

/** Returns the share of sent transactions that landed and succeeded; undefined when none was sent. */
export function landingRate({ landed, sent }: { readonly landed: number; readonly sent: number }): number | undefined {
  return sent > 0 ? landed / sent : undefined;
}

/** Equity with the value of the tokens held besides money at the same times; each value holds until the next. */
interface HeldSeries extends EquitySeries {
  readonly held: readonly number[];
}

/**
 * Returns the mean share of equity held in tokens, over time; undefined without a time span, and unless equity is
 * always above 0.
 */
export function exposure(series: HeldSeries): number | undefined {
  return overTime(series, (i) => (series.values[i]! > 0 ? series.held[i]! / series.values[i]! : undefined));
}

/** Returns the share of time with tokens held; undefined without a time span. */
export function timeInMarket(series: HeldSeries): number | undefined {
  return overTime(series, (i) => (series.held[i] === 0 ? 0 : 1));
}

/** Returns the mean of equity over time; undefined without a time span. */
function meanEquity(series: EquitySeries): number | undefined {
  return overTime(series, (i) => series.values[i]);
}

/**
 * Returns the yearly turnover of equity, where a purchase and a sale make one turn: Σ|notional| / (2 · mean equity) /
 * years.
 */
export function turnover(series: EquitySeries, notionals: readonly number[]): number | undefined {
  const equity = meanEquity(series);
  if (equity === undefined || equity <= 0) return undefined;
  let traded = 0;
  for (const notional of notionals) traded += Math.abs(notional);
  return traded / (2 * equity) / yearsOf(series);
}

/** Returns costs divided by the gross profit; undefined without one. */
export function costRatio(costs: number, grossProfit: number): number | undefined {
  return grossProfit > 0 ? costs / grossProfit : undefined;
}

function overTime({ times }: EquitySeries, valueAt: (i: number) => number | undefined): number | undefined {
  if (times.length < 2) return undefined;
  let sum = 0;
  for (let i = 0; i + 1 < times.length; i++) {
    const value = valueAt(i);
    if (value === undefined) return undefined;
    assert(Number.isFinite(value), () => `a series has a number for each time, got ${value} at ${times[i]}`);
    sum += value * (times[i + 1]! - times[i]!);
  }
  return sum / (times.at(-1)! - times[0]!);
}
