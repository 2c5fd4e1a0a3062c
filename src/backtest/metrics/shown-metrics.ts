import type { Metrics } from './metrics.ts';

/** How a figure is shown to people. */
export interface ShownMetric {
  readonly name: keyof Metrics;
  readonly label: string;
  readonly show: (value: number) => string;
  /** What it is, for those who do not know its name. */
  readonly meaning: string;
}

/** How each figure is shown, in the order in which they are; dates are left out. */
export const SHOWN_METRICS: readonly ShownMetric[] = [
  { name: 'total_return', label: 'total return', show: shareText, meaning: 'what equity came to by what it began with, after all costs' },
  { name: 'cagr', label: 'a year (CAGR)', show: shareText, meaning: 'the same growth, taken over a year of 365.25 days' },
  { name: 'volatility', label: 'volatility a year', show: shareText, meaning: 'how far returns scatter, scaled to a year' },
  { name: 'sharpe', label: 'Sharpe', show: ratioText, meaning: 'mean return by how far returns scatter, scaled to a year' },
  { name: 'sortino', label: 'Sortino', show: ratioText, meaning: 'mean return by how far losing returns fall, over all returns, scaled to a year' },
  { name: 'calmar', label: 'Calmar, whole period', show: ratioText, meaning: 'growth a year by the deepest drawdown' },
  { name: 'max_drawdown', label: 'deepest drawdown', show: shareText, meaning: 'the farthest that equity was below its last peak, by that peak' },
  { name: 'max_drawdown_absolute', label: 'largest drawdown', show: plainText, meaning: 'the same in the currency; it may be another time' },
  { name: 'ulcer_index', label: 'ulcer index', show: shareText, meaning: 'how deep and how long equity was below its peaks: root of the mean square' },
  { name: 'win_rate', label: 'round trips won', show: shareText, meaning: 'of the round trips that were won or lost, first in, first out, after costs' },
  { name: 'profit_factor', label: 'profit factor', show: ratioText, meaning: 'all that was won by all that was lost' },
  { name: 'expectancy', label: 'expectancy', show: plainText, meaning: 'what a round trip came to on average' },
  { name: 'payoff_ratio', label: 'payoff ratio', show: ratioText, meaning: 'the average gain by the average loss' },
  { name: 'exposure', label: 'exposure', show: shareText, meaning: 'the share of equity held in tokens, on average over time' },
  { name: 'turnover', label: 'turnover a year', show: ratioText, meaning: 'how often a year equity was bought and sold' },
  { name: 'fees_paid', label: 'fees paid', show: plainText, meaning: 'network fees of all attempts, failed ones too' },
  { name: 'realized_slippage_bps', label: 'slippage, bps', show: ratioText, meaning: 'by how much fills were worse than quoted, weighted by size' },
  { name: 'landing_rate', label: 'landed', show: shareText, meaning: 'of the transactions sent, those that did their work' },
  { name: 'skewness', label: 'skewness', show: ratioText, meaning: 'below 0: large losses are likelier than large gains' },
  { name: 'kurtosis', label: 'kurtosis', show: ratioText, meaning: '3 for a normal distribution; more: rare returns are larger' },
  { name: 'psr', label: 'P(Sharpe > 0)', show: likelihoodText, meaning: 'how likely the true Sharpe ratio is above 0, counting skewness and kurtosis, not how many variants were tried' },
  { name: 'min_track_record_length', label: 'returns to be sure', show: (value) => String(Math.ceil(value)), meaning: 'how many returns it would take to be 95 % sure of that' },
  { name: 'dsr', label: 'deflated Sharpe', show: likelihoodText, meaning: 'the same likelihood after counting how many variants were tried' },
  { name: 'trials', label: 'trials', show: String, meaning: 'how many variants were tried on these data' },
];

/** Returns a share as a percentage: "12.50 %". */
export function shareText(value: number): string {
  return `${ratioText(value * 100)} %`;
}

/** Returns a probability as a percentage: never a certainty, which no data give. */
export function likelihoodText(value: number): string {
  return value > 0.9999 ? 'over 99.99 %' : value < 0.0001 ? 'under 0.01 %' : shareText(value);
}

/** Returns a ratio with two places; what rounds to nothing has no sign. */
export function ratioText(value: number): string {
  return value.toFixed(2).replace(/^-(?=0\.00$)/, '');
}

/** Returns an amount with eight significant digits at most. */
export function plainText(value: number): string {
  return String(Number(value.toPrecision(8)));
}
