import { pluralize } from '../../core/text.ts';
import { ENOUGH_COVERAGE } from './equity-series.ts';
import type { WarningCollector } from './metric-warnings.ts';
import { figuresText, spanOfYears } from './figure-text.ts';
import {
  annualGrowth, correlatedScale, markedAutocorrelation, sharpe, sortino, totalReturn, volatility,
} from './return-statistics.ts';
import type { MeasuredPath } from './measured-path.ts';
import { deviation, kurtosis, skewness } from './statistics.ts';
import { minimumTrackRecord, probabilisticSharpe } from './sharpe-confidence.ts';

/** With fewer returns, a deviation and the figures based on it are mostly chance. */
const FEW_RETURNS = 30;
/** With fewer returns, yearly figures and confidence intervals are never given, not even by an analysis. */
const SCARCE_RETURNS = 9;
const SHORT_YEARS = 30 / 365.25;
/** The correlation of one lag is extrapolated as if it decayed geometrically; later lags are negligible. */
const FADING_LAGS = 100;

interface ReturnTerms {
  /** The risk-free return per bar. */
  readonly riskFree: number;
  /** The least acceptable return per bar. */
  readonly mar: number;
}

/** The figures based on the returns of a series; undefined when a figure has no meaning or no support. */
export interface ReturnFigures {
  readonly totalReturn: number | undefined;
  readonly cagr: number | undefined;
  readonly volatility: number | undefined;
  readonly sharpe: number | undefined;
  readonly sortino: number | undefined;
  readonly skewness: number | undefined;
  readonly kurtosis: number | undefined;
  readonly psr: number | undefined;
  readonly minTrackRecordLength: number | undefined;
}

const BY_DEVIATION = ['volatility', 'sharpe', 'sortino', 'skewness', 'kurtosis', 'psr', 'min_track_record_length'];
const BY_POINTS = [
  'total_return', 'cagr', 'calmar', 'max_drawdown', 'max_drawdown_absolute', 'drawdown_start', 'drawdown_trough',
  'drawdown_recovered', 'ulcer_index', 'exposure', 'turnover',
];
const BY_BARS = ['cagr', 'volatility', 'sharpe', 'sortino', 'calmar', 'psr', 'min_track_record_length'];

/** Returns whether there are too few returns for yearly figures and for a confidence interval. */
export function isScarce({ returns = [], points }: Pick<MeasuredPath, 'returns' | 'points'>): boolean {
  // A bar that repeats a point adds no return.
  return Math.min(returns.length, points.length - 1) < SCARCE_RETURNS;
}

/** Returns the figures of a path's returns, and adds warnings about them. */
export function returnFigures(path: MeasuredPath, terms: ReturnTerms, warnings: WarningCollector): ReturnFigures {
  const scarce = scarceOf(path, warnings);
  const growth = growthOf(path, warnings);
  const returns = path.returns ?? [];
  if (path.returns === undefined) {
    warnings.add(
      'equity_not_positive', 'equity is not always above 0: returns and all figures based on them are undefined',
      [...BY_POINTS, ...BY_DEVIATION],
    );
  } else if (returns.length < 2) {
    warnings.add(
      'too_short',
      `${returns.length === 0 ? 'no return' : 'one return'} at equal distances: risk is undefined`,
      [...BY_POINTS, ...BY_DEVIATION],
    );
  }
  const enough = returns.length < 2 || returns.length >= FEW_RETURNS || warnings.addThinData(
    'few_returns', `${pluralize(returns.length, 'return')} at equal distances are fewer than ${FEW_RETURNS}`,
    BY_DEVIATION,
  );
  const covered = path.coverage >= ENOUGH_COVERAGE
    || warnings.addThinData(
      'coverage_low',
      `only ${Math.floor(path.coverage * 100)} % of the bars have their own point, the others repeat the previous one`,
      BY_BARS,
    );
  const trusted = enough ? returns : [];
  return {
    ...growth,
    cagr: covered && !scarce.has('cagr') ? growth.cagr : undefined,
    ...(scarce.has('sharpe') ? { volatility: undefined, sharpe: undefined, sortino: undefined }
      : yearly(path, covered ? trusted : [], terms, warnings)),
    skewness: skewness(trusted),
    kurtosis: kurtosis(trusted),
    ...confidence(covered ? trusted : [], terms, warnings),
  };
}

/** Returns the figures that so few returns do not support: those that are scaled up to a year. */
function scarceOf(path: MeasuredPath, warnings: WarningCollector): ReadonlySet<string> {
  const { returns = [], perYear = 0, years = 0 } = path;
  if (returns.length === 0 || !isScarce(path)) return new Set();
  const scaled =
    [...(years < 1 ? ['cagr', 'calmar'] : []), ...(perYear > 1 ? ['volatility', 'sharpe', 'sortino'] : [])];
  const count = Math.min(returns.length, path.points.length - 1);
  warnings.add(
    'scarce_returns',
    `${pluralize(count, 'return')} ${count === 1 ? 'is' : 'are'} too few for yearly figures and confidence intervals, `
      + `which need ${SCARCE_RETURNS}; not given: ${figuresText([...scaled, 'the interval of the Sharpe ratio'])}`,
    scaled,
  );
  return new Set(scaled);
}

function growthOf(
  { points, years }: MeasuredPath, warnings: WarningCollector,
): Pick<ReturnFigures, 'totalReturn' | 'cagr'> {
  const total = totalReturn(points);
  if (total === undefined) return { totalReturn: undefined, cagr: undefined };
  if (years === undefined) {
    warnings.add('no_time_span', 'the number of periods in a year is unknown: yearly figures are not given', [
      'cagr', 'volatility', 'sharpe', 'sortino', 'calmar',
    ]);
    return { totalReturn: total, cagr: undefined };
  }
  const long = years >= SHORT_YEARS
    || warnings.addThinData('short_span', `the data span ${spanOfYears(years)}, less than 30 days`, ['cagr', 'calmar']);
  return { totalReturn: total, cagr: long ? annualGrowth(total, years) : undefined };
}

function yearly(
  { perYear }: MeasuredPath, returns: readonly number[], { riskFree, mar }: ReturnTerms, warnings: WarningCollector,
): Pick<ReturnFigures, 'volatility' | 'sharpe' | 'sortino'> {
  if (deviation(returns) === 0) warnings.add(
    'no_variance',
    'the returns do not vary: the Sharpe ratio and all figures based on it, skewness and kurtosis have no meaning',
    ['sharpe', 'skewness', 'kurtosis', 'psr', 'min_track_record_length', 'dsr'],
  );
  if (perYear === undefined || returns.length < 2)
    return { volatility: undefined, sharpe: undefined, sortino: undefined };
  const figures = {
    volatility: volatility(returns, perYear),
    sharpe: sharpe(returns, { perYear, riskFree }),
    sortino: sortino(returns, { perYear, mar }),
  };
  if (figures.sortino === undefined) warnings.add(
    'nothing_below_mar', 'no return is below the least acceptable one: the Sortino ratio has no meaning', ['sortino'],
  );
  tellCorrelation(returns, { perYear, riskFree }, warnings);
  return figures;
}

function tellCorrelation(
  returns: readonly number[], { perYear, riskFree }: { readonly perYear: number; readonly riskFree: number },
  warnings: WarningCollector,
): void {
  const correlation = markedAutocorrelation(returns);
  const perBar = sharpe(returns, { riskFree });
  if (correlation === undefined || perBar === undefined) return;
  const scale = correlatedScale(Array.from({ length: FADING_LAGS }, (_, i) => correlation ** (i + 1)), perYear);
  const corrected = scale === undefined ? '' : `; corrected for it, the Sharpe ratio is ${(perBar * scale).toFixed(2)}`;
  warnings.add(
    'autocorrelation',
    `returns are autocorrelated (${correlation.toFixed(2)}): figures scaled to a year by the square root of time are `
      + `wrong${corrected}`,
    ['volatility', 'sharpe', 'sortino'],
  );
}

function confidence(
  returns: readonly number[], { riskFree }: ReturnTerms, warnings: WarningCollector,
): Pick<ReturnFigures, 'psr' | 'minTrackRecordLength'> {
  const perBar = sharpe(returns, { riskFree });
  if (perBar === undefined) return { psr: undefined, minTrackRecordLength: undefined };
  const measured =
    { sharpe: perBar, returns: returns.length, skewness: skewness(returns)!, kurtosis: kurtosis(returns)! };
  if (perBar <= 0)
    warnings.add('not_above_benchmark', 'the Sharpe ratio is not above 0: no track record can prove that it is', [
      'min_track_record_length',
    ]);
  return { psr: probabilisticSharpe(measured), minTrackRecordLength: minimumTrackRecord(measured) };
}
