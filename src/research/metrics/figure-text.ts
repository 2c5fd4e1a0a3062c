import { grouped } from '../../core/counted.ts';
import { shortDuration } from '../../core/time.ts';
import { amountText } from './value-text.ts';
import type { MeasuredPath } from './measured-path.ts';
import type { Assessment, Metrics } from './metrics.ts';

/** What each figure is called by people, by its name among the metrics. */
export const FIGURE_NAMES = {
  total_return: 'total return',
  cagr: 'growth a year (CAGR)',
  volatility: 'volatility a year',
  sharpe: 'Sharpe ratio a year',
  sortino: 'Sortino ratio a year',
  calmar: 'Calmar ratio',
  max_drawdown: 'deepest drawdown',
  max_drawdown_absolute: 'largest drawdown',
  drawdown_start: 'the beginning of the deepest drawdown',
  drawdown_trough: 'its lowest point',
  drawdown_recovered: 'its end',
  ulcer_index: 'ulcer index',
  win_rate: 'round trips won',
  profit_factor: 'profit factor',
  expectancy: 'expectancy of a round trip',
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

/** Returns figures for people, from their names among the metrics: "Calmar ratio and expectancy of a round trip". */
export function figuresText(names: readonly string[]): string {
  const known: Readonly<Record<string, string>> = FIGURE_NAMES;
  const texts = names.map((name) => known[name] ?? name);
  return texts.length < 2 ? texts.join('') : `${texts.slice(0, -1).join(', ')} and ${texts.at(-1)!}`;
}

/** How a figure is shown to people. */
interface ShownMetric {
  readonly name: keyof Metrics;
  readonly label: string;
  readonly show: (value: number) => string;
  /** What it is, for those who do not know its name. */
  readonly meaning: string;
  /** It is counted in the currency, which stands beside it. */
  readonly isMoney?: boolean | undefined;
  /** It is scaled up to a year from what the data span. */
  readonly isYearly?: boolean | undefined;
}

type Shown = Omit<ShownMetric, 'name' | 'label'> & { readonly name: keyof typeof FIGURE_NAMES };

const SHOWN: readonly Shown[] = [
  { name: 'total_return', show: shareText, meaning: 'what equity came to by what it began with, after all costs' },
  { name: 'cagr', show: shareText, meaning: 'the same growth, taken over a year of 365.25 days' },
  { name: 'volatility', show: shareText, isYearly: true, meaning: 'how far returns scatter, scaled to a year' },
  {
    name: 'sharpe', show: ratioText, isYearly: true,
    meaning: 'mean return by how far returns scatter, scaled to a year',
  },
  {
    name: 'sortino', show: ratioText, isYearly: true,
    meaning: 'mean return by how far losing returns fall, over all returns, scaled to a year',
  },
  { name: 'calmar', show: ratioText, meaning: 'growth a year by the deepest drawdown of the whole period' },
  { name: 'max_drawdown', show: shareText, meaning: 'the farthest that equity was below its last peak, by that peak' },
  {
    name: 'max_drawdown_absolute', show: amountText, isMoney: true,
    meaning: 'the same in the currency; it may be another time',
  },
  {
    name: 'ulcer_index', show: shareText,
    meaning: 'how deep and how long equity was below its peaks: root of the mean square',
  },
  {
    name: 'win_rate', show: shareText,
    meaning: 'of the round trips that were won or lost, first in, first out, after costs',
  },
  { name: 'profit_factor', show: ratioText, meaning: 'all that was won by all that was lost' },
  { name: 'expectancy', show: amountText, isMoney: true, meaning: 'what a round trip came to on average' },
  { name: 'payoff_ratio', show: ratioText, meaning: 'the average gain by the average loss' },
  { name: 'exposure', show: shareText, meaning: 'the share of equity held in tokens, on average over time' },
  { name: 'turnover', show: ratioText, isYearly: true, meaning: 'how often a year equity was bought and sold' },
  { name: 'fees_paid', show: amountText, isMoney: true, meaning: 'network fees of all attempts, failed ones too' },
  {
    name: 'realized_slippage_bps', show: ratioText,
    meaning: 'by how much fills were worse than quoted, weighted by size',
  },
  { name: 'landing_rate', show: shareText, meaning: 'of the transactions sent, those that did their work' },
  { name: 'skewness', show: ratioText, meaning: 'below 0: large losses are likelier than large gains' },
  { name: 'kurtosis', show: ratioText, meaning: '3 for a normal distribution; more: rare returns are larger' },
  { name: 'psr', show: likelihoodText, meaning:
    'how likely the true Sharpe ratio is above 0, counting skewness and kurtosis, not how many variants were tried' },
  {
    name: 'min_track_record_length', show: (value) => grouped(String(Math.ceil(value))),
    meaning: 'how many returns it would take to be 95 % sure of that',
  },
  { name: 'dsr', show: likelihoodText, meaning: 'the same likelihood after counting how many variants were tried' },
  { name: 'trials', show: (value) => grouped(String(value)), meaning: 'how many variants were tried on these data' },
];

/** How each figure is shown, in the order in which they are; dates are left out. */
export const SHOWN_METRICS: readonly ShownMetric[] = SHOWN.map((shown) =>
  ({ ...shown, label: FIGURE_NAMES[shown.name] }));

const YEAR_DAYS = 365.25;
/** What grew over less is no year's growth: one day more would make it quite another. */
const FEWEST_DAYS_OF_GROWTH = 90;
/** What is scaled to a year from less is said to be. */
const FEWEST_DAYS_OF_YEARLY = 30;
/** What tells luck from skill. */
const OF_LUCK = new Set<keyof Metrics>(['psr', 'min_track_record_length', 'dsr']);
const YEARLY = new Set<string>(SHOWN.filter(({ isYearly }) => isYearly).map(({ name }) => name));

/**
 * Returns why a figure is not shown to people though it can be computed: what a few weeks bring, compounded to a year,
 * and anything scaled to one from hours, is a number without a meaning.
 */
export function notMeaningful(name: keyof Metrics, {
  path: { years }, luckUnknown,
}: Partial<Pick<Assessment, 'luckUnknown'>> & { readonly path: Pick<MeasuredPath, 'years'> }): string | undefined {
  if (luckUnknown !== undefined && OF_LUCK.has(name)) return `not meaningful: ${luckUnknown}`;
  if (years === undefined) return undefined;
  const days = years * YEAR_DAYS;
  const isGrowth = name === 'cagr' || name === 'calmar';
  // Of hours nothing by the year is shown, and one reason is enough for all of it.
  if (days < 1) return isGrowth || YEARLY.has(name)
    ? `not meaningful: what comes to pass in ${spanOfYears(years)} says nothing of a year` : undefined;
  return isGrowth && days < FEWEST_DAYS_OF_GROWTH ? `not meaningful: what grew in ${spanOfYears(years)} says nothing `
    + `of a year; it takes ${FEWEST_DAYS_OF_GROWTH} days` : undefined;
}

/**
 * Returns what is to be known of figures that are scaled up to a year from much less; undefined where the span is long
 * enough, or so short that none is shown.
 */
export function scaledNote({ years }: Pick<MeasuredPath, 'years'>): string | undefined {
  if (years === undefined || years * YEAR_DAYS < 1 || years * YEAR_DAYS >= FEWEST_DAYS_OF_YEARLY) return undefined;
  return `what is given by the year is scaled up from ${spanOfYears(years)}: it holds where the rest of the year is `
    + `like ${years * YEAR_DAYS < 2 ? 'it' : 'them'}`;
}

/** Returns the name of a figure with what it is counted in. */
export function labelIn({ label, isMoney }: Pick<ShownMetric, 'label' | 'isMoney'>, currency: string): string {
  return isMoney === true ? `${label}, ${currency}` : label;
}

const DAY_MS = 86_400_000;

/** Returns a share as a percentage: "12.50 %". */
export function shareText(value: number): string {
  return `${ratioText(value * 100)} %`;
}

/** Returns a probability as a percentage: never a certainty, which no data give. */
export function likelihoodText(value: number): string {
  return value > 0.9999 ? 'over 99.99 %' : value < 0.0001 ? 'under 0.01 %' : shareText(value);
}

/** Returns a ratio with two places, its thousands apart; what rounds to nothing has no sign. */
export function ratioText(value: number): string {
  return grouped(value.toFixed(2).replace(/^-(?=0\.00$)/, ''));
}

/** Returns how far a number is from nothing, for a sentence: "12.50 %", and never 0 of what is not. */
export function sizeText(share: number): string {
  return share !== 0 && Math.abs(share) < 0.00005 ? 'less than 0.01 %' : shareText(Math.abs(share));
}

/**
 * Returns a span of years for people: "30.1s", "one day", "29.9 days". Rounded down: what is said to be less than 30
 * may not read as 30.
 */
export function spanOfYears(years: number): string {
  const days = years * YEAR_DAYS;
  if (days < 1 - 1e-9) return shortDuration(days * DAY_MS);
  const rounded = Math.floor(days * 10 + 1e-6) / 10;
  return rounded === 1 ? 'one day' : `${rounded} days`;
}
