import { counted } from '../../core/counted.ts';
import { seededRandom } from '../../core/random.ts';
import type { Interval } from './block-bootstrap.ts';
import { bootstrapInterval } from './block-bootstrap.ts';
import type { Doubts, MetricWarning, Strictness } from './doubts.ts';
import { createDoubts } from './doubts.ts';
import { deepestAbsolute, deepestRelative, drawdowns, ulcerIndex } from './drawdown.ts';
import { figuresText } from './figure-names.ts';
import { ratioText } from './figure-text.ts';
import type { IrregularEstimates } from './irregular-time.ts';
import { irregularEstimates } from './irregular-time.ts';
import type { MeasuredPath, MeasuredSeries } from './measured-path.ts';
import { measuredPath } from './measured-path.ts';
import { calmar, sharpe } from './ratios.ts';
import type { ReturnFigures } from './return-figures.ts';
import { returnFigures } from './return-figures.ts';
import type { TradeResults } from './trade-results.ts';
import type { TradingFigures, TradingRecord } from './trading-record.ts';
import { tradingFigures } from './trading-record.ts';

/** A long series is resampled less often, so that the wait stays at some seconds; fewer than the fewest would say nothing. */
const MOST_DRAWS = 20_000_000;
const FEWEST_RESAMPLES = 200;
/** Beyond it a result is a flaw in the data or the simulation. */
const ABSURD_SHARPE = 10;

type Figure = number | null;
/** ISO 8601, or the number of the period where the series has no times, from 0 for its beginning. */
type Moment = string | number | null;

/** The metrics as they are printed; null is what has no meaning or no support. Shares are fractions, amounts in the currency. */
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

/** Metrics with what it takes to judge them. */
export interface Assessment {
  readonly metrics: Metrics;
  readonly warnings: readonly MetricWarning[];
  /** Where the Sharpe ratio a year may well be, by resampling; undefined where it has none. */
  readonly sharpeInterval: Interval | undefined;
  /** By the points as they are, at whatever distances. */
  readonly irregular: IrregularEstimates | undefined;
  readonly trades: TradeResults | undefined;
  readonly timeInMarket: number | undefined;
  readonly path: MeasuredPath;
  /** Why nothing can be said of luck; undefined where it can. */
  readonly luckUnknown: string | undefined;
}

/** What to measure, and by what. */
export interface AssessmentTerms {
  readonly strictness: Strictness;
  /** Per bar, 0 by default. */
  readonly riskFree?: number | undefined;
  /** Per bar, 0 by default. */
  readonly mar?: number | undefined;
  /** What was traded, at the times of an equity series. */
  readonly trading?: TradingRecord | undefined;
  /** Whether the Sharpe ratio is resampled; true by default. Where thousands of runs are compared nobody looks at it, and it takes longer than they do. */
  readonly interval?: boolean | undefined;
  /** Whether the market was made up: what is luck there says nothing of any other one. */
  readonly isMadeUp?: boolean | undefined;
}

/**
 * Returns the metrics of a series with the reasons for what is missing or thin. A series does not say how many were tried
 * before it: whoever knows deflates its Sharpe ratio by `withTrials`.
 */
export function assess(series: MeasuredSeries, { strictness, riskFree = 0, mar = 0, trading, interval = true, isMadeUp }: AssessmentTerms): Assessment {
  const doubts = createDoubts(strictness);
  const path = measuredPath(series);
  const figures = returnFigures(path, { riskFree, mar }, doubts);
  const falls = drawdownMetrics(path, figures, doubts);
  const traded = trading === undefined || path.series === undefined ? undefined : tradingFigures(trading, path.series, doubts);
  doubts.tell('trials_unknown', 'how many variants were tried on these data is not known: the Sharpe ratio is not deflated, and P(Sharpe > 0) is too high where there were several', ['dsr', 'trials']);
  if (traded === undefined) doubts.tell('no_trading_record', 'a series alone does not say what was traded: nothing is given of round trips, exposure, fees and slippage', Object.keys(tradingMetrics(undefined)));
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
  }, doubts);
  return {
    metrics,
    sharpeInterval: metrics.sharpe === null || !interval ? undefined : sharpeInterval(path, riskFree, doubts),
    irregular: path.series === undefined ? undefined : irregularEstimates(path.series),
    trades: traded?.results,
    timeInMarket: traded?.timeInMarket,
    warnings: doubts.warnings,
    path,
    luckUnknown: luckUnknownBy(metrics, isMadeUp),
  };
}

/**
 * Returns why nothing can be said of luck: the market was made up, or the Sharpe ratio is so large that a flaw explains it
 * better than luck or skill. Undefined where something can be said.
 */
export function luckUnknownBy({ sharpe: ratio }: Pick<Metrics, 'sharpe'>, isMadeUp = false): string | undefined {
  if (isMadeUp) return 'the market is made up';
  return ratio !== null && ratio > ABSURD_SHARPE ? `no real market pays a Sharpe ratio of ${ratioText(ratio)} a year` : undefined;
}

/** Metrics before what has no meaning becomes null. */
type Loose = { readonly [Name in keyof Metrics]: Metrics[Name] | undefined };

function drawdownMetrics({ points, bars, when }: MeasuredPath, { cagr }: ReturnFigures, doubts: Doubts): Pick<Loose,
  'calmar' | 'max_drawdown' | 'max_drawdown_absolute' | 'drawdown_start' | 'drawdown_trough' | 'drawdown_recovered' | 'ulcer_index'> {
  const episodes = drawdowns(points);
  // One point alone has neither risen nor fallen.
  const measured = points.length > 1;
  const positive = measured && points[0]! > 0;
  const worst = positive ? deepestRelative(episodes) : undefined;
  const depth = worst === undefined ? 0 : worst.depth;
  if (positive && depth === 0) doubts.tell('no_drawdown', 'nothing was ever lost: the Calmar ratio and the dates of a drawdown have no meaning', ['calmar', 'drawdown_start', 'drawdown_trough', 'drawdown_recovered']);
  if (worst !== undefined && worst.recovered === undefined) doubts.tell('drawdown_open', 'the deepest drawdown is not over at the end', ['drawdown_recovered']);
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
  'win_rate' | 'profit_factor' | 'expectancy' | 'payoff_ratio' | 'exposure' | 'turnover' | 'fees_paid' | 'realized_slippage_bps' | 'landing_rate'> {
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

/** JSON has no infinity, and nobody has any use for one. */
function finiteOf(loose: Loose, doubts: Doubts): Metrics {
  const beyond = Object.entries(loose).filter(([, value]) => typeof value === 'number' && !Number.isFinite(value)).map(([name]) => name);
  if (beyond.length > 0) doubts.tell('not_finite', `beyond what a number can hold: ${figuresText(beyond)}`, beyond);
  const given = Object.entries(loose).map(([name, value]): [string, Moment] => [name, value === undefined || beyond.includes(name) ? null : value]);
  return Object.fromEntries(given) as Record<keyof Metrics, Moment> as Metrics;
}

function sharpeInterval({ returns = [], perYear = 1 }: MeasuredPath, riskFree: number, doubts: Doubts): Interval | undefined {
  const resamples = Math.min(1_000, Math.floor(MOST_DRAWS / returns.length));
  if (resamples < FEWEST_RESAMPLES) {
    doubts.tell('interval_left_out', `${counted(returns.length, 'return')} take too long to resample: the interval of the Sharpe ratio is not given`, []);
    return undefined;
  }
  return bootstrapInterval(returns, (resample) => sharpe(resample, { perYear, riskFree }), { random: seededRandom('sharpe-interval'), resamples });
}
