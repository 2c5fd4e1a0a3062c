import { assert } from '../../core/assert.ts';
import type { EquitySeries } from './equity-series.ts';
import { yearsOf } from './equity-series.ts';

/** Equity with the value of what is held beside money at the same times; each holds until the next. */
export interface HeldSeries extends EquitySeries {
  readonly held: readonly number[];
}

/** Returns the mean over time of what is held by equity; undefined where no time passed or equity is not above 0 throughout. */
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

/** Returns how often a year equity was turned over, a purchase and a sale being one turn: Σ|notional| / (2 · mean equity) / years. */
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
