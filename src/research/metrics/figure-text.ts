import { groupThousands } from '../../core/text.ts';
import { shortDuration } from '../../core/time.ts';
import { amountText } from './value-text.ts';
import type { MeasuredPath } from './measured-path.ts';

/** The names of the figures for people, by their names among the metrics. */
export const FIGURE_NAMES = {
  total_return: 'total return',
  cagr: 'growth a year (CAGR)',
  volatility: 'volatility a year',
  sharpe: 'Sharpe ratio a year',
  sortino: 'Sortino ratio a year',
  calmar: 'Calmar ratio',
  max_drawdown: 'max drawdown',
  max_drawdown_absolute: 'largest drawdown',
  drawdown_start: 'the beginning of the max drawdown',
  drawdown_trough: 'its lowest point',
  drawdown_recovered: 'its end',
  ulcer_index: 'ulcer index',
  win_rate: 'win rate',
  profit_factor: 'profit factor',
  expectancy: 'expectancy of a trade',
  payoff_ratio: 'payoff ratio',
  exposure: 'exposure',
  turnover: 'turnover a year',
  fees_paid: 'fees paid',
  realized_slippage_bps: 'slippage, bps',
  landing_rate: 'transactions that landed',
  skewness: 'skewness',
  kurtosis: 'kurtosis',
  psr: 'P(Sharpe > 0)',
  min_track_record_length: 'returns to be sure',
  dsr: 'deflated Sharpe ratio',
  trials: 'trials',
} as const;

/** The names of the statistics for people, by their names in an answer. */
const STATISTIC_NAMES = {
  value_at_risk_95: 'value at risk',
  expected_shortfall_95: 'expected shortfall (CVaR)',
  omega: 'Omega ratio',
  alpha: 'alpha',
  beta: 'beta',
  correlation: 'correlation with holding',
} as const;

type FigureName = keyof typeof FIGURE_NAMES;

/** Returns figures for people, from their names among the metrics: "Calmar ratio and expectancy of a trade". */
export function figuresText(names: readonly string[]): string {
  const known: Readonly<Record<string, string>> = { ...FIGURE_NAMES, ...STATISTIC_NAMES };
  const texts = names.map((name) => known[name] ?? name);
  return texts.length < 2 ? texts.join('') : `${texts.slice(0, -1).join(', ')} and ${texts.at(-1)!}`;
}

/** How a figure is presented. */
interface ShownMetric {
  readonly name: FigureName;
  readonly label: string;
  readonly show: (value: number) => string;
  /** Its definition in plain words. */
  readonly meaning: string;
  /** Whether it is an amount of the currency. */
  readonly isMoney?: boolean | undefined;
  /** Whether it is scaled to a year. */
  readonly isYearly?: boolean | undefined;
}

type Shown = Omit<ShownMetric, 'name' | 'label'> & { readonly name: FigureName };

const SHOWN: readonly Shown[] = [
  { name: 'total_return', show: shareText, meaning: 'final equity divided by initial equity, minus 1, after costs' },
  { name: 'cagr', show: shareText, meaning: 'the same growth, taken over a year of 365.25 days' },
  { name: 'volatility', show: shareText, isYearly: true, meaning: 'standard deviation of returns, scaled to a year' },
  {
    name: 'sharpe', show: ratioText, isYearly: true,
    meaning: 'mean return divided by the standard deviation of returns, scaled to a year',
  },
  {
    name: 'sortino', show: ratioText, isYearly: true,
    meaning: 'mean return divided by the downside deviation over all returns, scaled to a year',
  },
  { name: 'calmar', show: ratioText, meaning: 'growth a year divided by the max drawdown of the whole period' },
  { name: 'max_drawdown', show: shareText, meaning: 'the largest fall of equity below its last peak, by that peak' },
  {
    name: 'max_drawdown_absolute', show: amountText, isMoney: true,
    meaning: 'the largest fall in the currency; it may be at another time',
  },
  {
    name: 'ulcer_index', show: shareText,
    meaning: 'depth and duration of drawdowns: root of their mean square',
  },
  {
    name: 'win_rate', show: shareText,
    meaning: 'share of trades with a gain, first in, first out, after costs',
  },
  { name: 'profit_factor', show: ratioText, meaning: 'all gains divided by all losses' },
  { name: 'expectancy', show: amountText, isMoney: true, meaning: 'average result of a trade' },
  { name: 'payoff_ratio', show: ratioText, meaning: 'average gain divided by average loss' },
  { name: 'exposure', show: shareText, meaning: 'the share of equity held in tokens, on average over time' },
  { name: 'turnover', show: ratioText, isYearly: true, meaning: 'how often a year equity was bought and sold' },
  { name: 'fees_paid', show: amountText, isMoney: true, meaning: 'network fees, including failed attempts' },
  {
    name: 'realized_slippage_bps', show: ratioText,
    meaning: 'how much worse fills were than quotes, weighted by size',
  },
  { name: 'landing_rate', show: shareText, meaning: 'share of sent transactions that succeeded' },
  { name: 'skewness', show: ratioText, meaning: 'below 0: large losses are likelier than large gains' },
  { name: 'kurtosis', show: ratioText, meaning: '3 for a normal distribution; more: rare returns are larger' },
  { name: 'psr', show: likelihoodText, meaning:
    'probability that the true Sharpe ratio is above 0, given skewness and kurtosis, ignoring other trials' },
  {
    name: 'min_track_record_length', show: (value) => groupThousands(String(Math.ceil(value))),
    meaning: 'number of returns needed for 95 % confidence in that',
  },
  { name: 'dsr', show: likelihoodText, meaning: 'the same probability, given the number of variants tried' },
  { name: 'trials', show: (value) => groupThousands(String(value)), meaning: 'number of variants tried on these data' },
];

/** The presentation of each figure, in display order, without dates. */
export const SHOWN_METRICS: readonly ShownMetric[] = SHOWN.map((shown) =>
  ({ ...shown, label: FIGURE_NAMES[shown.name] }));

const YEAR_DAYS = 365.25;
/** Over a shorter span, growth a year is meaningless: one more day would change it completely. */
const FEWEST_DAYS_OF_GROWTH = 90;
/** Yearly figures from a shorter span carry a note. */
const FEWEST_DAYS_OF_YEARLY = 30;
/** Figures that tell luck from skill. */
const OF_LUCK = new Set<FigureName>(['psr', 'min_track_record_length', 'dsr']);
const YEARLY = new Set<string>(SHOWN.filter(({ isYearly }) => isYearly).map(({ name }) => name));

/**
 * Returns why a figure is not shown to people although it can be computed: growth over a few weeks compounded to a
 * year, and any figure scaled to a year from hours, has no meaning.
 */
export function notMeaningful(name: FigureName, {
  path: { years }, luckUnknown,
}: { readonly path: Pick<MeasuredPath, 'years'>; readonly luckUnknown?: string | undefined }): string | undefined {
  if (luckUnknown !== undefined && OF_LUCK.has(name)) return `not meaningful: ${luckUnknown}`;
  if (years === undefined) return undefined;
  const days = years * YEAR_DAYS;
  const isGrowth = name === 'cagr' || name === 'calmar';
  // Over hours, no yearly figure is shown, and all share one reason.
  if (days < 1) {
    return isGrowth || YEARLY.has(name)
      ? `not meaningful: a span of ${spanOfYears(years)} says nothing about a year` : undefined;
  }
  if (!isGrowth || days >= FEWEST_DAYS_OF_GROWTH) return undefined;
  return `not meaningful: growth over ${spanOfYears(years)} says nothing about a year; `
    + `it takes ${FEWEST_DAYS_OF_GROWTH} days`;
}

/**
 * Returns a note on figures that are scaled to a year from a short span; undefined when the span is long enough, or so
 * short that no yearly figure is shown.
 */
export function scaledNote({ years }: Pick<MeasuredPath, 'years'>): string | undefined {
  if (years === undefined || years * YEAR_DAYS < 1 || years * YEAR_DAYS >= FEWEST_DAYS_OF_YEARLY) return undefined;
  return `yearly figures are scaled up from ${spanOfYears(years)}: they hold only if the rest of the year is alike`;
}

/** Returns the name of a figure with its unit. */
export function labelIn({ label, isMoney }: Pick<ShownMetric, 'label' | 'isMoney'>, currency: string): string {
  return isMoney === true ? `${label}, ${currency}` : label;
}

const DAY_MS = 86_400_000;

/** Returns a share as a percentage: "12.50 %". */
export function shareText(value: number): string {
  return `${ratioText(value * 100)} %`;
}

/** Returns a probability as a percentage, never as certainty. */
export function likelihoodText(value: number): string {
  return value > 0.9999 ? 'over 99.99 %' : value < 0.0001 ? 'under 0.01 %' : shareText(value);
}

/** Returns a ratio with two decimals and grouped thousands; a value that rounds to 0 has no sign. */
export function ratioText(value: number): string {
  return groupThousands(value.toFixed(2).replace(/^-(?=0\.00$)/, ''));
}

/** Returns the absolute size of a share for a sentence: "12.50 %". A share other than 0 is never shown as 0. */
export function sizeText(share: number): string {
  return share !== 0 && Math.abs(share) < 0.00005 ? 'less than 0.01 %' : shareText(Math.abs(share));
}

/** Returns a span of years for people: "30.1s", "one day", "29.9 days". Rounded down: 29.99 days never read 30. */
export function spanOfYears(years: number): string {
  const days = years * YEAR_DAYS;
  if (days < 1 - 1e-9) return shortDuration(days * DAY_MS);
  const rounded = Math.floor(days * 10 + 1e-6) / 10;
  return rounded === 1 ? 'one day' : `${rounded} days`;
}
