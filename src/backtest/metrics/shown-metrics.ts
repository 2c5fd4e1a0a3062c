import type { Metrics } from './metrics.ts';

/** How a figure is shown to people. */
export interface ShownMetric {
  readonly name: keyof Metrics;
  readonly label: string;
  readonly show: (value: number) => string;
}

/** How each figure is shown, in the order in which they are; dates are left out. */
export const SHOWN_METRICS: readonly ShownMetric[] = [
  { name: 'total_return', label: 'total return', show: shareText },
  { name: 'cagr', label: 'a year (CAGR)', show: shareText },
  { name: 'volatility', label: 'volatility a year', show: shareText },
  { name: 'sharpe', label: 'Sharpe', show: ratioText },
  { name: 'sortino', label: 'Sortino', show: ratioText },
  { name: 'calmar', label: 'Calmar, whole period', show: ratioText },
  { name: 'max_drawdown', label: 'deepest drawdown', show: shareText },
  { name: 'max_drawdown_absolute', label: 'largest drawdown', show: plainText },
  { name: 'ulcer_index', label: 'ulcer index', show: shareText },
  { name: 'win_rate', label: 'round trips won', show: shareText },
  { name: 'profit_factor', label: 'profit factor', show: ratioText },
  { name: 'expectancy', label: 'expectancy', show: plainText },
  { name: 'payoff_ratio', label: 'payoff ratio', show: ratioText },
  { name: 'exposure', label: 'exposure', show: shareText },
  { name: 'turnover', label: 'turnover a year', show: ratioText },
  { name: 'fees_paid', label: 'fees paid', show: plainText },
  { name: 'realized_slippage_bps', label: 'slippage, bps', show: ratioText },
  { name: 'landing_rate', label: 'landed', show: shareText },
  { name: 'skewness', label: 'skewness', show: ratioText },
  { name: 'kurtosis', label: 'kurtosis', show: ratioText },
  { name: 'psr', label: 'P(Sharpe > 0)', show: shareText },
  { name: 'min_track_record_length', label: 'returns to be sure', show: (value) => String(Math.ceil(value)) },
  { name: 'dsr', label: 'deflated Sharpe', show: shareText },
  { name: 'trials', label: 'trials', show: String },
];

/** Returns a share as a percentage: "12.50 %". */
export function shareText(value: number): string {
  return `${ratioText(value * 100)} %`;
}

/** Returns a ratio with two places; what rounds to nothing has no sign. */
export function ratioText(value: number): string {
  return value.toFixed(2).replace(/^-(?=0\.00$)/, '');
}

/** Returns an amount with eight significant digits at most. */
export function plainText(value: number): string {
  return String(Number(value.toPrecision(8)));
}
