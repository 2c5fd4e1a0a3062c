import { assert } from '../../core/assert.ts';
import type { EquitySeries } from './equity-series.ts';
import { yearsOf } from './equity-series.ts';

const BPS = 10_000;

/** An order from decision to end: prices in the currency for one unit, quantities in units. */
interface WorkedOrder {
  readonly side: 'buy' | 'sell';
  readonly quantity: number;
  readonly decisionPrice: number;
  /** The price when it was quoted or sent; left out, the decision's: no delay is told apart then. */
  readonly quotePrice?: number | undefined;
  readonly fills: readonly { readonly price: number; readonly quantity: number }[];
  /** The price when it was given up or done. */
  readonly endPrice: number;
  readonly fees: number;
}

/**
 * What an order fell short of its paper twin by, in basis points of the paper value; positive is worse. The parts make
 * the total.
 */
export interface Shortfall {
  readonly total: number;
  /** From decision to quote, on what was filled. */
  readonly delay: number;
  /** From quote to fill. */
  readonly slippage: number;
  readonly fees: number;
  /** From decision to end, on what was not filled. */
  readonly opportunity: number;
}

/**
 * Returns the implementation shortfall of an order (A. Perold, 1988); undefined where the paper value is not above 0.
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

/**
 * What a swap was quoted and what it brought, in the output's smallest units, and what it was worth in the currency.
 */
export interface QuotedFill {
  readonly quoted: number;
  readonly filled: number;
  readonly notional: number;
}

/**
 * Returns how far fills were below their quotes in basis points, weighted by what they were worth; positive is worse,
 * undefined of none.
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

/** Returns the share of what was sent to the chain that landed and did its work; undefined where nothing was sent. */
export function landingRate({ landed, sent }: { readonly landed: number; readonly sent: number }): number | undefined {
  return sent > 0 ? landed / sent : undefined;
}

/** Equity with the value of what is held beside money at the same times; each holds until the next. */
interface HeldSeries extends EquitySeries {
  readonly held: readonly number[];
}

/**
 * Returns the mean over time of what is held by equity; undefined where no time passed or equity is not above 0
 * throughout.
 */
export function exposure(series: HeldSeries): number | undefined {
  return overTime(series, (i) => (series.values[i]! > 0 ? series.held[i]! / series.values[i]! : undefined));
}

/** Returns the share of time in which anything is held; undefined where no time passed. */
export function timeInMarket(series: HeldSeries): number | undefined {
  return overTime(series, (i) => (series.held[i] === 0 ? 0 : 1));
}

/** Returns the mean of equity over time; undefined where no time passed. */
export function meanEquity(series: EquitySeries): number | undefined {
  return overTime(series, (i) => series.values[i]);
}

/**
 * Returns how often a year equity was turned over, a purchase and a sale being one turn: Σ|notional| / (2 · mean
 * equity) / years.
 */
export function turnover(series: EquitySeries, notionals: readonly number[]): number | undefined {
  const equity = meanEquity(series);
  if (equity === undefined || equity <= 0) return undefined;
  let traded = 0;
  for (const notional of notionals) traded += Math.abs(notional);
  return traded / (2 * equity) / yearsOf(series);
}

/** Returns costs by what was gained before them; undefined where nothing was. */
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
