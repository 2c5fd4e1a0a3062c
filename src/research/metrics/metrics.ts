import { pluralize } from '../../core/text.ts';
import { seededRandom } from '../../core/random.ts';
import type { Interval } from './sharpe-confidence.ts';
import { bootstrapInterval } from './sharpe-confidence.ts';
import type { WarningCollector, MetricWarning, Strictness } from './metric-warnings.ts';
import { createWarningCollector } from './metric-warnings.ts';
import { deepestAbsolute, deepestRelative, drawdowns, ulcerIndex } from './drawdown.ts';
import { figuresText, ratioText } from './figure-text.ts';
import type { IrregularEstimates } from './return-statistics.ts';
import { calmar, irregularEstimates, sharpe } from './return-statistics.ts';
import type { MeasuredPath, MeasuredSeries } from './measured-path.ts';
import { measuredPath } from './measured-path.ts';
import type { ReturnFigures } from './return-figures.ts';
import { isScarce, returnFigures } from './return-figures.ts';
import type { TradeResults } from './round-trips.ts';
import type { TradingFigures, TradingRecord } from './trading-record.ts';
import { tradingFigures } from './trading-record.ts';

/**
 * A long series is resampled less often, so that the wait stays at some seconds; fewer than the fewest would say
 * nothing.
 */
const MOST_DRAWS = 20_000_000;
const FEWEST_RESAMPLES = 200;
/** A larger Sharpe ratio is caused by a flaw in the data or the simulation. */
const ABSURD_SHARPE = 10;

type Figure = number | null;
/** ISO 8601, or for a series without times the number of the period, from 0 at its beginning. */
type Moment = string | number | null;

/**
 * The metrics as they are printed; null is what has no meaning or no support. Shares are fractions, amounts in the
 * currency.
 */
export interface Metrics {
  readonly total_return: Figure;
  readonly cagr: Figure;
  readonly volatility: Figure;
  readonly sharpe: Figure;
  readonly sortino: Figure;
  readonly calmar: Figure;
  readonly max_drawdown: Figure;
  readonly max_drawdown_absolute: Figure;
  readonly drawdown_start: Moment;
  readonly drawdown_trough: Moment;
  readonly drawdown_recovered: Moment;
  readonly ulcer_index: Figure;
  readonly win_rate: Figure;
  readonly profit_factor: Figure;
  readonly expectancy: Figure;
  readonly payoff_ratio: Figure;
  readonly exposure: Figure;
  readonly turnover: Figure;
  readonly fees_paid: Figure;
  readonly realized_slippage_bps: Figure;
  readonly landing_rate: Figure;
  readonly skewness: Figure;
  readonly kurtosis: Figure;
  readonly psr: Figure;
  /** In returns. */
  readonly min_track_record_length: Figure;
  readonly dsr: Figure;
  readonly trials: Figure;
}

/** Metrics and the information needed to judge them. */
export interface Assessment {
  readonly metrics: Metrics;
  readonly warnings: readonly MetricWarning[];
  /** The confidence interval of the yearly Sharpe ratio, by resampling. */
  readonly sharpeInterval: Interval | undefined;
  /** Estimates from the points at their irregular distances. */
  readonly irregular: IrregularEstimates | undefined;
  readonly trades: TradeResults | undefined;
  readonly timeInMarket: number | undefined;
  readonly path: MeasuredPath;
  /** The reason why luck cannot be judged; undefined when it can. */
  readonly luckUnknown: string | undefined;
}

/** The options of an assessment. */
export interface AssessmentTerms {
  readonly strictness: Strictness;
  /** Per bar, 0 by default. */
  readonly riskFree?: number | undefined;
  /** Per bar, 0 by default. */
  readonly mar?: number | undefined;
  /** The trades behind an equity series. */
  readonly trading?: TradingRecord | undefined;
  /** Whether the Sharpe ratio is resampled, which takes longer than a trial of a sweep; true by default. */
  readonly interval?: boolean | undefined;
  /** Whether the market was generated: luck there says nothing about a real market. */
  readonly isMadeUp?: boolean | undefined;
}

/**
 * Returns the metrics of a series, with the reasons for missing or unreliable figures. A series does not contain the
 * number of trials before it: a caller that knows it deflates the Sharpe ratio by `withTrials`.
 */
export function assess(
  series: MeasuredSeries, { strictness, riskFree = 0, mar = 0, trading, interval = true, isMadeUp }: AssessmentTerms,
): Assessment {
  const warnings = createWarningCollector(strictness);
  const path = measuredPath(series);
  const figures = returnFigures(path, { riskFree, mar }, warnings);
  const falls = drawdownMetrics(path, figures, warnings);
  const traded = trading === undefined || path.series === undefined ? undefined
    : tradingFigures(trading, path.series, warnings);
  warnings.add(
    'trials_unknown',
    'the number of variants tried on these data is unknown: the Sharpe ratio is not deflated, and P(Sharpe > 0) is '
      + 'too high if there were several',
    ['dsr', 'trials'],
  );
  if (traded === undefined) warnings.add(
    'no_trading_record',
    'a series alone contains no trades: win rate, exposure, fees and slippage are not given',
    Object.keys(tradingMetrics(undefined)),
  );
  const metrics = finiteOf({
    total_return: figures.totalReturn,
    cagr: figures.cagr,
    volatility: figures.volatility,
    sharpe: figures.sharpe,
    sortino: figures.sortino,
    ...falls,
    ...tradingMetrics(traded),
    skewness: figures.skewness,
    kurtosis: figures.kurtosis,
    psr: figures.psr,
    min_track_record_length: figures.minTrackRecordLength,
    dsr: undefined,
    trials: undefined,
  }, warnings);
  return {
    metrics,
    sharpeInterval: metrics.sharpe === null || !interval ? undefined : sharpeInterval(path, riskFree, warnings),
    irregular: path.series === undefined ? undefined : irregularEstimates(path.series),
    trades: traded?.results,
    timeInMarket: traded?.timeInMarket,
    warnings: warnings.all,
    path,
    luckUnknown: luckUnknownBy(metrics, isMadeUp),
  };
}

/**
 * Returns why luck cannot be judged: the market was generated, or the Sharpe ratio is so large that a flaw explains it
 * better than luck or skill. Undefined when luck can be judged.
 */
export function luckUnknownBy({ sharpe: ratio }: Pick<Metrics, 'sharpe'>, isMadeUp = false): string | undefined {
  if (isMadeUp) return 'the market is generated';
  return ratio !== null && ratio > ABSURD_SHARPE
    ? `no real market pays a Sharpe ratio of ${ratioText(ratio)} a year` : undefined;
}

/** Metrics in which an undefined figure is not yet null. */
type Loose = { readonly [Name in keyof Metrics]: Metrics[Name] | undefined };

function drawdownMetrics(
  { points, bars, when }: MeasuredPath, { cagr }: ReturnFigures, warnings: WarningCollector,
): Pick<Loose,
  'calmar' | 'max_drawdown' | 'max_drawdown_absolute' | 'drawdown_start' | 'drawdown_trough' | 'drawdown_recovered'
      | 'ulcer_index'> {
  const episodes = drawdowns(points);
  // A single point has neither risen nor fallen.
  const measured = points.length > 1;
  const positive = measured && points[0]! > 0;
  const worst = positive ? deepestRelative(episodes) : undefined;
  const depth = worst === undefined ? 0 : worst.depth;
  if (positive && depth === 0)
    warnings.add('no_drawdown', 'equity never fell: the Calmar ratio and the dates of a drawdown have no meaning', [
      'calmar', 'drawdown_start', 'drawdown_trough', 'drawdown_recovered',
    ]);
  if (worst !== undefined && worst.recovered === undefined)
    warnings.add('drawdown_open', 'the max drawdown is not over at the end', ['drawdown_recovered']);
  return {
    calmar: cagr === undefined || depth === undefined ? undefined : calmar(cagr, depth),
    max_drawdown: positive ? depth : undefined,
    max_drawdown_absolute: !measured ? undefined : deepestAbsolute(episodes)?.amount ?? 0,
    drawdown_start: worst && when(worst.start),
    drawdown_trough: worst && when(worst.trough),
    drawdown_recovered: worst?.recovered === undefined ? undefined : when(worst.recovered),
    ulcer_index: measured ? ulcerIndex(bars) : undefined,
  };
}

function tradingMetrics(traded: TradingFigures | undefined): Pick<Loose,
  'win_rate' | 'profit_factor' | 'expectancy' | 'payoff_ratio' | 'exposure' | 'turnover' | 'fees_paid'
      | 'realized_slippage_bps' | 'landing_rate'> {
  return {
    win_rate: traded?.results.winRate,
    profit_factor: traded?.results.profitFactor,
    expectancy: traded?.results.expectancy,
    payoff_ratio: traded?.results.payoffRatio,
    exposure: traded?.exposure,
    turnover: traded?.turnover,
    fees_paid: traded?.feesPaid,
    realized_slippage_bps: traded?.realizedSlippageBps,
    landing_rate: traded?.landingRate,
  };
}

/** JSON has no infinity. */
function finiteOf(loose: Loose, warnings: WarningCollector): Metrics {
  const beyond = Object.entries(loose).filter(([, value]) => typeof value === 'number' && !Number.isFinite(value))
    .map(([name]) => name);
  if (beyond.length > 0) warnings.add('not_finite', `too large for a number: ${figuresText(beyond)}`, beyond);
  const given = Object.entries(loose)
    .map(([name, value]): [string, Moment] => [name, value === undefined || beyond.includes(name) ? null : value]);
  return Object.fromEntries(given) as Record<keyof Metrics, Moment> as Metrics;
}

function sharpeInterval(path: MeasuredPath, riskFree: number, warnings: WarningCollector): Interval | undefined {
  const { returns = [], perYear = 1 } = path;
  if (isScarce(path)) return undefined;
  const resamples = Math.min(1_000, Math.floor(MOST_DRAWS / returns.length));
  if (resamples < FEWEST_RESAMPLES) {
    warnings.add(
      'interval_left_out',
      `${pluralize(returns.length, 'return')} take too long to resample: the interval of the Sharpe ratio is not given`,
      [],
    );
    return undefined;
  }
  const found = bootstrapInterval(returns, (resample) => sharpe(resample, { perYear, riskFree }), {
    random: seededRandom('sharpe-interval'), resamples,
  });
  if (found === undefined) warnings.add(
    'interval_left_out',
    'most resamples of the returns have no Sharpe ratio, or all have the same one: its interval is not given', [],
  );
  return found;
}
