import { counted } from '../../core/counted.ts';
import { ENOUGH_COVERAGE } from './bars.ts';
import type { Doubts } from './doubts.ts';
import { figuresText } from './figure-names.ts';
import { correlatedScale, markedAutocorrelation } from './irregular-time.ts';
import { spanOfYears } from './figure-text.ts';
import type { MeasuredPath } from './measured-path.ts';
import { deviation, kurtosis, skewness } from './moments.ts';
import { sharpe, sortino, volatility } from './ratios.ts';
import { annualGrowth, totalReturn } from './returns.ts';
import { minimumTrackRecord, probabilisticSharpe } from './sharpe-confidence.ts';

/** Below so many returns a deviation, and all that rests on it, is mostly chance. */
const FEW_RETURNS = 30;
/** Below so many nothing is scaled to a year, and no interval is given, however thin data are met. */
const SCARCE_RETURNS = 9;
const SHORT_YEARS = 30 / 365.25;
/** A year's correlation is taken from one lag, as if it faded from there: so many lags hold all that is left of it. */
const FADING_LAGS = 100;

export interface ReturnTerms {
  /** The return per bar that no risk would have brought. */
  readonly riskFree: number;
  /** The least acceptable return per bar. */
  readonly mar: number;
}

/** The figures that rest on the returns of a series; undefined is what has no meaning, or no support. */
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
  'total_return', 'cagr', 'calmar', 'max_drawdown', 'max_drawdown_absolute', 'drawdown_start', 'drawdown_trough', 'drawdown_recovered', 'ulcer_index', 'exposure', 'turnover',
];
const BY_BARS = ['cagr', 'volatility', 'sharpe', 'sortino', 'calmar', 'psr', 'min_track_record_length'];

/** Returns whether there are too few returns to say anything by the year, or how sure a figure is. */
export function isScarce({ returns = [], points }: Pick<MeasuredPath, 'returns' | 'points'>): boolean {
  // Bars that repeat a point are no returns of their own.
  return Math.min(returns.length, points.length - 1) < SCARCE_RETURNS;
}

/** Returns the figures of a path's returns, and says what is to be known about them. */
export function returnFigures(path: MeasuredPath, terms: ReturnTerms, doubts: Doubts): ReturnFigures {
  const scarce = scarceOf(path, doubts);
  const growth = growthOf(path, doubts);
  const returns = path.returns ?? [];
  if (path.returns === undefined) {
    doubts.tell('equity_not_positive', 'equity is not above 0 throughout: no returns are defined, and nothing that rests on them', [...BY_POINTS, ...BY_DEVIATION]);
  } else if (returns.length < 2) {
    doubts.tell('too_short', `${returns.length === 0 ? 'no return' : 'one return'} at equal distances: there is nothing to say about risk`, [...BY_POINTS, ...BY_DEVIATION]);
  }
  const enough = returns.length < 2 || returns.length >= FEW_RETURNS || doubts.thin('few_returns', `${counted(returns.length, 'return')} at equal distances are fewer than ${FEW_RETURNS}`, BY_DEVIATION);
  const covered = path.coverage >= ENOUGH_COVERAGE
    || doubts.thin('coverage_low', `only ${Math.floor(path.coverage * 100)} % of the bars hold a point of their own, the others repeat the one before`, BY_BARS);
  const trusted = enough ? returns : [];
  return {
    ...growth,
    cagr: covered && !scarce.has('cagr') ? growth.cagr : undefined,
    ...(scarce.has('sharpe') ? { volatility: undefined, sharpe: undefined, sortino: undefined } : yearly(path, covered ? trusted : [], terms, doubts)),
    skewness: skewness(trusted),
    kurtosis: kurtosis(trusted),
    ...confidence(covered ? trusted : [], terms, doubts),
  };
}

/** Returns the figures that so few returns do not support: what is scaled up to a year. Where a period is a year, nothing is scaled. */
function scarceOf(path: MeasuredPath, doubts: Doubts): ReadonlySet<string> {
  const { returns = [], perYear = 0, years = 0 } = path;
  if (returns.length === 0 || !isScarce(path)) return new Set();
  const scaled = [...(years < 1 ? ['cagr', 'calmar'] : []), ...(perYear > 1 ? ['volatility', 'sharpe', 'sortino'] : [])];
  const count = Math.min(returns.length, path.points.length - 1);
  doubts.tell('scarce_returns', `${counted(count, 'return')} ${count === 1 ? 'is' : 'are'} too few to say anything of a year, or how sure a figure is: it takes ${SCARCE_RETURNS}; not given: ${figuresText([...scaled, 'the interval of the Sharpe ratio'])}`, scaled);
  return new Set(scaled);
}

function growthOf({ points, years }: MeasuredPath, doubts: Doubts): Pick<ReturnFigures, 'totalReturn' | 'cagr'> {
  const total = totalReturn(points);
  if (total === undefined) return { totalReturn: undefined, cagr: undefined };
  if (years === undefined) {
    doubts.tell('no_time_span', 'it is not known how many periods make a year: nothing is given by the year', ['cagr', 'volatility', 'sharpe', 'sortino', 'calmar']);
    return { totalReturn: total, cagr: undefined };
  }
  const long = years >= SHORT_YEARS || doubts.thin('short_span', `the data span ${spanOfYears(years)}, less than 30 days`, ['cagr', 'calmar']);
  return { totalReturn: total, cagr: long ? annualGrowth(total, years) : undefined };
}

function yearly({ perYear }: MeasuredPath, returns: readonly number[], { riskFree, mar }: ReturnTerms, doubts: Doubts): Pick<ReturnFigures, 'volatility' | 'sharpe' | 'sortino'> {
  if (deviation(returns) === 0) doubts.tell('no_variance', 'the returns do not vary: the Sharpe ratio and all that rests on it, skewness and kurtosis have no meaning', ['sharpe', 'skewness', 'kurtosis', 'psr', 'min_track_record_length', 'dsr']);
  if (perYear === undefined || returns.length < 2) return { volatility: undefined, sharpe: undefined, sortino: undefined };
  const figures = {
    volatility: volatility(returns, perYear),
    sharpe: sharpe(returns, { perYear, riskFree }),
    sortino: sortino(returns, { perYear, mar }),
  };
  if (figures.sortino === undefined) doubts.tell('nothing_below_mar', 'no return is below the least acceptable one: the Sortino ratio has no meaning', ['sortino']);
  tellCorrelation(returns, { perYear, riskFree }, doubts);
  return figures;
}

function tellCorrelation(returns: readonly number[], { perYear, riskFree }: { readonly perYear: number; readonly riskFree: number }, doubts: Doubts): void {
  const correlation = markedAutocorrelation(returns);
  const perBar = sharpe(returns, { riskFree });
  if (correlation === undefined || perBar === undefined) return;
  const scale = correlatedScale(Array.from({ length: FADING_LAGS }, (_, i) => correlation ** (i + 1)), perYear);
  const corrected = scale === undefined ? '' : `; corrected for it, the Sharpe ratio is ${(perBar * scale).toFixed(2)}`;
  doubts.tell('autocorrelation', `each return goes with the one before it (${correlation.toFixed(2)}): what is scaled to a year by the square root of time is off${corrected}`, ['volatility', 'sharpe', 'sortino']);
}

function confidence(returns: readonly number[], { riskFree }: ReturnTerms, doubts: Doubts): Pick<ReturnFigures, 'psr' | 'minTrackRecordLength'> {
  const perBar = sharpe(returns, { riskFree });
  if (perBar === undefined) return { psr: undefined, minTrackRecordLength: undefined };
  const measured = { sharpe: perBar, returns: returns.length, skewness: skewness(returns)!, kurtosis: kurtosis(returns)! };
  if (perBar <= 0) doubts.tell('not_above_benchmark', 'the Sharpe ratio is not above 0: no length of record would prove it to be', ['min_track_record_length']);
  return { psr: probabilisticSharpe(measured), minTrackRecordLength: minimumTrackRecord(measured) };
}
