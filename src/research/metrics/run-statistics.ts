import { pluralize } from '../../core/text.ts';
import type { Millis } from '../../core/time.ts';
import type { RunRecord } from '../../backtest/record/run-record.ts';
import { deepestDrawdowns, drawdowns } from './drawdown.ts';
import type { DailyReturn } from './daily-returns.ts';
import { dailyReturns, marketFit, omegaRatio, rollingFigures, tailRisk } from './daily-returns.ts';
import type { EquitySeries } from './equity-series.ts';
import { barsOf, DAY_MS, ENOUGH_COVERAGE, YEAR_MS } from './equity-series.ts';
import { shareText } from './figure-text.ts';
import type { MetricWarning, WarningCollector } from './metric-warnings.ts';
import { createWarningCollector } from './metric-warnings.ts';
import { outcomeOf, tradeResults } from './round-trips.ts';
import { benchmarkSeries, seriesOf } from './run-figures.ts';
import { mean } from './statistics.ts';
import type { Percentiles, TradeGroup } from './trade-statistics.ts';
import {
  holdingTimes, kellyFraction, longestStreaks, reasonName, systemQuality, tradeGroups, tradeOrders,
} from './trade-statistics.ts';
import type { Trade } from './trades.ts';
import { profitShare, tradesOf } from './trades.ts';
import { FEW_TRADES } from './trading-record.ts';

const SECOND_MS = 1_000;
const DAYS_PER_YEAR = YEAR_MS / DAY_MS;
/** The worst twentieth of fewer days is less than a day. */
const FEWEST_DAYS = 20;
/** The orders of fewer trades are few, and each trade decides. */
const FEWEST_ORDERED_TRADES = 10;
const MOST_DRAWDOWNS = 5;

type Figure = number | null;

/**
 * The figures of a run beside its metrics, as they are printed: null is what has no meaning or no support. Shares are
 * fractions, amounts in the currency, times ISO 8601, durations in seconds.
 */
export interface RunStatistics {
  readonly trades: TradeFigures;
  readonly by_pair: readonly TradeRow[];
  readonly by_entry_reason: readonly TradeRow[];
  readonly by_exit_reason: readonly TradeRow[];
  readonly days: DayFigures;
  readonly against: { readonly buy_and_hold: HoldingFigures | null; readonly dca: HoldingFigures | null };
  /** The five deepest, the deepest first. */
  readonly drawdowns: readonly DrawdownRow[];
  /** The longest time below a peak, also of one that is not over. */
  readonly longest_drawdown: number;
  readonly rolling: {
    readonly window_days: number; readonly bar_seconds: number;
    readonly times: readonly string[]; readonly sharpe: readonly Figure[]; readonly volatility: readonly number[];
  };
  /** "2026-01-31", by UTC. */
  readonly daily_returns: readonly { readonly day: string; readonly change: number }[];
  readonly trade_order: TradeOrderFigures | null;
  readonly warnings: readonly MetricWarning[];
}

/** Figures of all trades. */
interface TradeFigures {
  readonly count: number;
  readonly duration: {
    readonly mean: Figure; readonly median: Figure; readonly longest: Figure; readonly shortest: Figure;
    readonly winners: Figure; readonly losers: Figure;
  };
  readonly best: NamedTrade | null;
  readonly worst: NamedTrade | null;
  readonly winning_streak: number;
  readonly losing_streak: number;
  readonly sqn: Figure;
  readonly kelly: Figure;
  /** Means of the maximum adverse and favourable excursions. */
  readonly mae: Figure;
  readonly mfe: Figure;
  readonly mae_winners: Figure;
  readonly mfe_losers: Figure;
}

/** A trade that stands out. */
interface NamedTrade {
  readonly pair: string;
  readonly strategy: string;
  readonly opened_at: string;
  readonly closed_at: string;
  readonly profit: number;
  readonly profit_share: Figure;
}

/** The results of trades that share a pair or a reason. */
interface TradeRow {
  readonly name: string;
  readonly trades: number;
  readonly win_rate: Figure;
  readonly profit: number;
  readonly profit_share: Figure;
  readonly profit_factor: Figure;
  readonly duration: Figure;
}

/** Figures of the daily returns. */
interface DayFigures {
  readonly count: number;
  readonly best: { readonly day: string; readonly change: number } | null;
  readonly worst: { readonly day: string; readonly change: number } | null;
  readonly up: number;
  readonly down: number;
  readonly winning_streak: number;
  readonly losing_streak: number;
  readonly value_at_risk_95: Figure;
  readonly expected_shortfall_95: Figure;
  readonly omega: Figure;
}

/** Daily returns against a benchmark's; alpha a year. */
interface HoldingFigures {
  readonly alpha: number;
  readonly beta: number;
  readonly correlation: Figure;
}

/** A drawdown of the equity. */
interface DrawdownRow {
  readonly start: string;
  readonly trough: string;
  /** Null where it is not over at the end. */
  readonly recovered: string | null;
  readonly depth: number;
  readonly amount: number;
  /** From the start to the trough. */
  readonly fall: number;
  /** From the trough to the recovery. */
  readonly recovery: Figure;
  /** From the start to the recovery, or to the end. */
  readonly duration: number;
}

/** What the order and the choice of trades contributed; shares of equity are fractions. */
interface TradeOrderFigures {
  readonly orders: number;
  readonly drawdown: number;
  readonly shuffled: { readonly drawdown: Percentiles };
  readonly resampled: {
    readonly profit: Percentiles; readonly drawdown: Percentiles; readonly losing: number;
  };
}

/** Returns the statistics of a run, and the reasons why some are missing or unreliable. */
export function runStatistics(record: RunRecord): RunStatistics {
  const warnings = createWarningCollector('backtest');
  const series = seriesOf(record, record.strategies);
  const trades = tradesOf(record);
  const days = daysOf(series, warnings);
  return {
    trades: tradeFigures(trades, warnings),
    by_pair: tradeGroups(trades, ({ pair }) => pair).map(tradeRow),
    by_entry_reason: tradeGroups(trades, ({ entryReason }) => reasonName(entryReason)).map(tradeRow),
    by_exit_reason: tradeGroups(trades, ({ exitReason }) => reasonName(exitReason)).map(tradeRow),
    days: dayFigures(days, warnings),
    against: againstHolding(days, record, warnings),
    drawdowns: drawdownRows(series), longest_drawdown: longestDrawdown(series),
    rolling: rollingOf(series, warnings),
    daily_returns: days.all.map(({ day, change }) => ({ day: dayText(day), change })),
    trade_order: tradeOrderOf(trades, series, warnings),
    warnings: warnings.all,
  };
}

/** Returns the longest time below a peak, in seconds, also of one that is not over; 0 where equity never fell. */
function longestDrawdown({ times, values }: EquitySeries): number {
  return drawdowns(values).reduce((longest, { start, recovered }) =>
    Math.max(longest, times[recovered ?? times.length - 1]! - times[start]!), 0) / SECOND_MS;
}

const OF_TRADES = ['duration', 'best', 'worst', 'sqn', 'kelly', 'mae', 'mfe', 'mae_winners', 'mfe_losers'];

function tradeFigures(trades: readonly Trade[], warnings: WarningCollector): TradeFigures {
  const outcomes = trades.map(outcomeOf);
  const { winning, losing } = longestStreaks(outcomes);
  const rising = trades.toSorted((a, b) => a.profit - b.profit);
  const held = holdingTimes(trades);
  const ratios = {
    sqn: systemQuality(trades.map(({ profit }) => profit)) ?? null, kelly: kellyFraction(trades) ?? null,
  };
  warnAboutRatios(ratios, outcomes, warnings);
  const moved = trades.filter(({ excursion }) => excursion !== undefined);
  const missing = trades.length - moved.length;
  if (missing > 0) warnings.add(
    'no_entry_price', `${pluralize(missing, 'trade')} of ${trades.length} began without a recorded price of the `
      + 'token: MAE and MFE leave them out', ['mae', 'mfe', 'mae_winners', 'mfe_losers'],
  );
  return {
    count: trades.length,
    duration: {
      mean: inSeconds(held.mean), median: inSeconds(held.median), longest: inSeconds(held.longest),
      shortest: inSeconds(held.shortest), winners: inSeconds(held.winners), losers: inSeconds(held.losers),
    },
    best: namedTrade(rising.at(-1)), worst: namedTrade(rising[0]), winning_streak: winning, losing_streak: losing,
    ...ratios,
    mae: meanExcursion(moved, 'adverse'), mfe: meanExcursion(moved, 'favourable'),
    mae_winners: meanExcursion(moved.filter((trade) => outcomeOf(trade) > 0), 'adverse'),
    mfe_losers: meanExcursion(moved.filter((trade) => outcomeOf(trade) < 0), 'favourable'),
  };
}

/** Adds why SQN and the Kelly fraction are missing, and that those of few trades are chance. */
function warnAboutRatios(
  { sqn, kelly }: Pick<TradeFigures, 'sqn' | 'kelly'>, outcomes: readonly number[], warnings: WarningCollector,
): void {
  const count = outcomes.length;
  if (count === 0) {
    warnings.add('no_trades', 'no trade ended: figures of trades are not given', OF_TRADES);
    return;
  }
  if (sqn === null) warnings.add('no_variance', count === 1 ? 'the results of 1 trade do not vary: SQN is not given'
    : `the results of ${count} trades do not vary: SQN is not given`, ['sqn']);
  if (kelly === null) {
    const isMissing = (sign: number): boolean => !outcomes.some((outcome) => outcome === sign);
    const which = isMissing(1) ? isMissing(-1) ? 'won or lost' : 'won' : 'lost';
    warnings.add(
      isMissing(1) ? 'no_win' : 'no_loss', `no trade was ${which}: the Kelly fraction is not given`, ['kelly'],
    );
  }
  const given = [...(sqn === null ? [] : ['sqn']), ...(kelly === null ? [] : ['kelly'])];
  if (count >= FEW_TRADES || given.length === 0) return;
  const names = given.map((name) => (name === 'sqn' ? 'SQN' : 'the Kelly fraction')).join(' and ');
  warnings.add(
    'few_trades', `${pluralize(count, 'trade')} ${count === 1 ? 'is' : 'are'} few: ${names} `
      + `${given.length === 1 ? 'is' : 'are'} mostly chance`, given,
  );
}

function meanExcursion(moved: readonly Trade[], pick: 'adverse' | 'favourable'): Figure {
  return moved.length === 0 ? null : mean(moved.map(({ excursion }) => excursion![pick]));
}

function namedTrade(trade: Trade | undefined): NamedTrade | null {
  return trade === undefined ? null : {
    pair: trade.pair, strategy: trade.strategy, opened_at: isoOf(trade.openedAt), closed_at: isoOf(trade.closedAt),
    profit: trade.profit, profit_share: profitShare(trade) ?? null,
  };
}

function tradeRow({ name, trades }: TradeGroup<Trade>): TradeRow {
  const { winRate, profitFactor } = tradeResults(trades);
  const profit = trades.reduce((sum, trade) => sum + trade.profit, 0);
  const entered = trades.reduce((sum, { entryValue }) => sum + entryValue, 0);
  return {
    name, trades: trades.length, win_rate: winRate ?? null, profit,
    profit_share: profitShare({ profit, entryValue: entered }) ?? null, profit_factor: profitFactor ?? null,
    duration: inSeconds(holdingTimes(trades).mean),
  };
}

/** The daily returns, and whether their figures are given. */
interface Days {
  readonly all: readonly DailyReturn[];
  readonly areEnough: boolean;
}

const OF_DAYS = ['value_at_risk_95', 'expected_shortfall_95', 'omega', 'alpha', 'beta', 'correlation'];

function daysOf(series: EquitySeries, warnings: WarningCollector): Days {
  const all = dailyReturns(series);
  if (all === undefined) {
    warnings.addThinData('equity_not_positive', 'equity was at 0 or less: daily returns have no meaning', OF_DAYS);
    return { all: [], areEnough: false };
  }
  const { coverage } = barsOf(series, DAY_MS);
  if (all.length < FEWEST_DAYS) {
    warnings.addThinData('few_days', `${pluralize(all.length, 'day')} ${all.length === 1 ? 'is' : 'are'} too few to `
      + `judge a bad day; it takes ${FEWEST_DAYS}`, OF_DAYS);
  } else if (coverage < ENOUGH_COVERAGE) {
    warnings.addThinData(
      'coverage_low', `only ${shareText(coverage)} of the days have a price of their own: daily risk would appear `
        + 'smaller than it is', OF_DAYS,
    );
  }
  return { all, areEnough: all.length >= FEWEST_DAYS && coverage >= ENOUGH_COVERAGE };
}

function dayFigures({ all, areEnough }: Days, warnings: WarningCollector): DayFigures {
  const changes = all.map(({ change }) => change);
  const { winning, losing } = longestStreaks(changes);
  const rising = all.toSorted((a, b) => a.change - b.change);
  const tail = areEnough ? tailRisk(changes) : undefined;
  const omega = areEnough ? omegaRatio(changes) : undefined;
  if (areEnough && omega === undefined)
    warnings.add('no_loss', 'no day ended with a loss: the Omega ratio has no meaning', ['omega']);
  return {
    count: all.length, best: namedDay(rising.at(-1)), worst: namedDay(rising[0]),
    up: changes.filter((change) => change > 0).length, down: changes.filter((change) => change < 0).length,
    winning_streak: winning, losing_streak: losing,
    value_at_risk_95: tail?.valueAtRisk ?? null, expected_shortfall_95: tail?.expectedShortfall ?? null,
    omega: omega ?? null,
  };
}

function namedDay(day: DailyReturn | undefined): DayFigures['best'] {
  return day === undefined ? null : { day: dayText(day.day), change: day.change };
}

function againstHolding(
  { all, areEnough }: Days, record: RunRecord, warnings: WarningCollector,
): RunStatistics['against'] {
  if (!areEnough) return { buy_and_hold: null, dca: null };
  const { buy_and_hold: holding, dca } = benchmarkSeries(record);
  const fit = (benchmark: EquitySeries | undefined): HoldingFigures | null => {
    const market = benchmark === undefined ? undefined : dailyReturns(benchmark);
    const found = market === undefined ? undefined
      : marketFit(all.map(({ change }) => change), market.map(({ change }) => change));
    return found === undefined ? null
      : { alpha: found.alpha * DAYS_PER_YEAR, beta: found.beta, correlation: found.correlation ?? null };
  };
  const figures = { buy_and_hold: fit(holding), dca: fit(dca) };
  if (figures.buy_and_hold === null) {
    warnings.add('no_benchmark', 'holding has no value, or does not vary: alpha and beta are not given', [
      'alpha', 'beta', 'correlation',
    ]);
  } else if (figures.buy_and_hold.correlation === null) {
    warnings.add('no_variance', 'the daily returns do not vary: the correlation with holding is not given', [
      'correlation',
    ]);
  }
  return figures;
}

function drawdownRows({ times, values }: EquitySeries): DrawdownRow[] {
  return deepestDrawdowns(values, MOST_DRAWDOWNS).map(({ start, trough, recovered, depth, amount }) => {
    const [from, lowest, until] = [times[start]!, times[trough]!, recovered === undefined ? null : times[recovered]!];
    return {
      start: isoOf(from), trough: isoOf(lowest), recovered: until === null ? null : isoOf(until), depth: depth!, amount,
      fall: (lowest - from) / SECOND_MS, recovery: until === null ? null : (until - lowest) / SECOND_MS,
      duration: ((until ?? times.at(-1)!) - from) / SECOND_MS,
    };
  });
}

function rollingOf(series: EquitySeries, warnings: WarningCollector): RunStatistics['rolling'] {
  const { windowMs, barMs, times, sharpe, volatility } = rollingFigures(series);
  if (times.length === 0) {
    if (series.values.some((value) => value <= 0))
      warnings.add('equity_not_positive', 'equity was at 0 or less: rolling figures are not given', ['rolling']);
    else warnings.add(
      'few_days', `no ${windowMs / DAY_MS} days in a row can be measured: rolling figures are not given`, ['rolling'],
    );
  }
  return {
    window_days: windowMs / DAY_MS, bar_seconds: barMs / SECOND_MS, times: times.map(isoOf), sharpe, volatility,
  };
}

function tradeOrderOf(
  trades: readonly Trade[], { values }: EquitySeries, warnings: WarningCollector,
): TradeOrderFigures | null {
  const orders = trades.length < FEWEST_ORDERED_TRADES ? undefined
    : tradeOrders(trades.map(({ profit }) => profit), values[0] ?? 0);
  if (orders !== undefined) return orders;
  warnings.add('no_trade_order', trades.length < FEWEST_ORDERED_TRADES
    ? `${pluralize(trades.length, 'trade')} cannot be drawn in other orders: it takes ${FEWEST_ORDERED_TRADES}`
    : 'the trades are too many to be drawn in other orders, or the equity began at 0', ['trade_order']);
  return null;
}

function inSeconds(span: Millis | undefined): Figure {
  return span === undefined ? null : span / SECOND_MS;
}

function isoOf(at: Millis): string {
  return new Date(at).toISOString();
}

function dayText(day: Millis): string {
  return isoOf(day).slice(0, 10);
}
