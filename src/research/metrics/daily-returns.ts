import type { Millis } from '../../core/time.ts';
import type { EquitySeries } from './equity-series.ts';
import { barsOf, DAY_MS, equalBars, YEAR_MS } from './equity-series.ts';
import { sharpe, simpleReturns, volatility } from './return-statistics.ts';
import { deviation, mean, quantile } from './statistics.ts';

/** The return of one day, by UTC. */
export interface DailyReturn {
  /** Its beginning. */
  readonly day: Millis;
  readonly change: number;
}

/**
 * Returns each day's change from the last value before it, the first day's from the first value. A day without a point
 * has no change, and a part of less than half a day at either end counts to the day beside it. Undefined when equity
 * was at 0 or less.
 */
export function dailyReturns(series: EquitySeries): DailyReturn[] | undefined {
  const { closes, values } = barsOf(series, DAY_MS);
  return simpleReturns(values)?.map((change, i) => ({ day: closes[i + 1]! - DAY_MS, change }));
}

/** The worst returns of so many equal periods. */
interface TailRisk {
  /** The loss that a share of the periods reached or exceeded; negative where even those gained. */
  readonly valueAtRisk: number;
  /** The mean loss of these periods. */
  readonly expectedShortfall: number;
}

/**
 * Returns the historical value at risk and the expected shortfall of the worst `share` of returns, as positive losses.
 * The value at risk lies between two returns as `quantile` says; the shortfall is the mean of the returns up to it.
 * Undefined without returns.
 */
export function tailRisk(returns: readonly number[], share = 0.05): TailRisk | undefined {
  const worst = quantile(returns.toSorted((a, b) => a - b), share);
  return worst === undefined ? undefined
    : { valueAtRisk: -worst, expectedShortfall: -mean(returns.filter((change) => change <= worst)) };
}

/**
 * Returns the Omega ratio: gains above a threshold divided by losses below it (C. Keating and W. Shadwick, "A Universal
 * Performance Measure", 2002); undefined without a loss.
 */
export function omegaRatio(returns: readonly number[], threshold = 0): number | undefined {
  let [gains, losses] = [0, 0];
  for (const change of returns) {
    if (change > threshold) gains += change - threshold;
    else losses += threshold - change;
  }
  return losses === 0 ? undefined : gains / losses;
}

/** Returns against those of a market in the same periods. */
interface MarketFit {
  /** Per period: the mean return that the market's returns do not explain. */
  readonly alpha: number;
  /** The change for each change of the market by one. */
  readonly beta: number;
  /** Undefined where the returns do not vary. */
  readonly correlation: number | undefined;
}

/**
 * Returns alpha, beta and correlation by least squares, without a risk-free return (M. Jensen, "The Performance of
 * Mutual Funds", 1968). Undefined when the market does not vary.
 */
export function marketFit(returns: readonly number[], market: readonly number[]): MarketFit | undefined {
  const [own, others] = [deviation(returns), deviation(market)];
  if (own === undefined || others === undefined || others === 0) return undefined;
  const [middle, center] = [mean(returns), mean(market)];
  let products = 0;
  for (const [i, change] of returns.entries()) products += (change - middle) * (market[i]! - center);
  const covariance = products / (returns.length - 1);
  const beta = covariance / others ** 2;
  return { beta, alpha: middle - beta * center, correlation: own === 0 ? undefined : covariance / (own * others) };
}

/** Sharpe ratio and volatility of a moving window, both a year. */
interface RollingFigures {
  readonly windowMs: Millis;
  readonly barMs: Millis;
  /** The end of each window. */
  readonly times: readonly Millis[];
  /** Null where the returns of a window do not vary. */
  readonly sharpe: readonly (number | null)[];
  readonly volatility: readonly number[];
}

const HOURLY_WINDOW_MS: Millis = 7 * DAY_MS;
const DAILY_WINDOW_MS: Millis = 30 * DAY_MS;

/**
 * Returns figures of moving windows over the bars of `equalBars`: of 7 days where these are hours, of 30 days where
 * they are days. Without times where no window is full, or equity was at 0 or less.
 */
export function rollingFigures(series: EquitySeries): RollingFigures {
  const { barMs, closes, values } = equalBars(series);
  const windowMs = barMs < DAY_MS ? HOURLY_WINDOW_MS : DAILY_WINDOW_MS;
  const length = windowMs / barMs;
  const perYear = YEAR_MS / barMs;
  const returns = simpleReturns(values) ?? [];
  const rolling = {
    windowMs, barMs, times: [] as Millis[], sharpe: [] as (number | null)[], volatility: [] as number[],
  };
  for (let end = length; end <= returns.length; end++) {
    const window = returns.slice(end - length, end);
    rolling.times.push(closes[end]!);
    rolling.sharpe.push(sharpe(window, { perYear }) ?? null);
    rolling.volatility.push(volatility(window, perYear)!);
  }
  return rolling;
}
