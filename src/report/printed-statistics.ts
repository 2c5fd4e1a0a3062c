import { shortDuration } from '../core/time.ts';
import { ratioText, shareText } from '../research/metrics/figure-text.ts';
import type { RunStatistics } from '../research/metrics/run-statistics.ts';
import { amountText, valueText } from '../research/metrics/value-text.ts';

/** The trades that share a pair or a reason. */
export type TradeRow = RunStatistics['by_pair'][number];
type DrawdownRow = RunStatistics['drawdowns'][number];
type Orders = NonNullable<RunStatistics['trade_order']>;

/** A statistic as it is printed; a missing one has no text. */
interface ShownStatistic {
  readonly name: string;
  readonly label: string;
  readonly meaning: string;
  readonly text: (statistics: RunStatistics) => string | undefined;
  /** Whether it is an amount of the currency. */
  readonly isMoney?: boolean | undefined;
  /** Its name in the warnings that say why it is missing. */
  readonly figure?: string | undefined;
}

const given = (value: number | null | undefined, show: (value: number) => string): string | undefined =>
  (value === null || value === undefined ? undefined : show(value));
/** Returns a duration for people, from seconds. */
const durationText = (seconds: number): string => shortDuration(seconds * 1_000);
const count = (value: number): string => valueText(value, 'count');

/** Statistics of all trades, in display order. */
export const TRADE_STATISTICS: readonly ShownStatistic[] = [
  { name: 'best', label: 'best trade', isMoney: true, meaning: 'the largest result after costs',
    text: ({ trades: { best } }) => namedText(best) },
  { name: 'worst', label: 'worst trade', isMoney: true, meaning: 'the smallest result after costs',
    text: ({ trades: { worst } }) => namedText(worst) },
  { name: 'winning_streak', label: 'winning streak', meaning: 'the most trades won in a row',
    text: ({ trades }) => count(trades.winning_streak) },
  { name: 'losing_streak', label: 'losing streak', meaning: 'the most trades lost in a row',
    text: ({ trades }) => count(trades.losing_streak) },
  { name: 'duration_mean', label: 'mean duration', meaning: 'from the entry to the exit of a trade',
    text: ({ trades: { duration } }) => given(duration.mean, durationText) },
  { name: 'duration_median', label: 'median duration', meaning: 'half of the trades were shorter',
    text: ({ trades: { duration } }) => given(duration.median, durationText) },
  { name: 'duration_longest', label: 'longest trade', meaning: 'its duration',
    text: ({ trades: { duration } }) => given(duration.longest, durationText) },
  { name: 'duration_shortest', label: 'shortest trade', meaning: 'its duration',
    text: ({ trades: { duration } }) => given(duration.shortest, durationText) },
  { name: 'duration_winners', label: 'mean duration of winners', meaning: 'trades with a gain after costs',
    text: ({ trades: { duration } }) => given(duration.winners, durationText) },
  { name: 'duration_losers', label: 'mean duration of losers', meaning: 'trades with a loss after costs',
    text: ({ trades: { duration } }) => given(duration.losers, durationText) },
  { name: 'sqn', label: 'SQN', figure: 'sqn',
    meaning: 'system quality number: √n · mean result / standard deviation of results',
    text: ({ trades: { sqn } }) => given(sqn, ratioText) },
  { name: 'kelly', label: 'Kelly fraction', figure: 'kelly',
    meaning: 'the share of money that grows fastest at this win rate and payoff ratio; below 0, no stake grows',
    text: ({ trades: { kelly } }) => given(kelly, shareText) },
  { name: 'mae', label: 'mean MAE', figure: 'mae',
    meaning: 'maximum adverse excursion: how far the price fell below the entry',
    text: ({ trades: { mae } }) => given(mae, shareText) },
  { name: 'mfe', label: 'mean MFE', figure: 'mfe',
    meaning: 'maximum favourable excursion: how far the price rose above the entry',
    text: ({ trades: { mfe } }) => given(mfe, shareText) },
  { name: 'mae_winners', label: 'mean MAE of winners', figure: 'mae_winners',
    meaning: 'a stop closer than this would have ended the average winner',
    text: ({ trades }) => given(trades.mae_winners, shareText) },
  { name: 'mfe_losers', label: 'mean MFE of losers', figure: 'mfe_losers',
    meaning: 'what the average loser had gained before it was lost',
    text: ({ trades }) => given(trades.mfe_losers, shareText) },
];

/** Statistics of the days, in display order. */
export const DAY_STATISTICS: readonly ShownStatistic[] = [
  { name: 'day_best', label: 'best day', meaning: 'the largest daily return',
    text: ({ days: { best } }) => best === null ? undefined : `${shareText(best.change)} on ${best.day}` },
  { name: 'day_worst', label: 'worst day', meaning: 'the smallest daily return',
    text: ({ days: { worst } }) => worst === null ? undefined : `${shareText(worst.change)} on ${worst.day}` },
  { name: 'days', label: 'days up and down', meaning: 'days with a gain, and days with a loss',
    text: ({ days }) => (days.count === 0 ? undefined : `${count(days.up)} up, ${count(days.down)} down`) },
  { name: 'day_streaks', label: 'streaks of days', meaning: 'the most days in a row with a gain, and with a loss',
    text: ({ days }) => (days.count === 0 ? undefined
      : `${count(days.winning_streak)} up, ${count(days.losing_streak)} down`) },
  { name: 'value_at_risk', label: 'VaR 95 %, a day', figure: 'value_at_risk_95',
    meaning: 'value at risk: on the worst 5 % of days the loss was this or more',
    text: ({ days }) => given(days.value_at_risk_95, shareText) },
  { name: 'expected_shortfall', label: 'CVaR 95 %, a day', figure: 'expected_shortfall_95',
    meaning: 'expected shortfall: the mean loss of these days',
    text: ({ days }) => given(days.expected_shortfall_95, shareText) },
  { name: 'omega', label: 'Omega ratio', figure: 'omega',
    meaning: 'the gains of all days divided by their losses',
    text: ({ days }) => given(days.omega, ratioText) },
  { name: 'alpha', label: 'alpha, a year', figure: 'alpha',
    meaning: 'the return that buying and holding does not explain',
    text: (statistics) => holding(statistics, 'alpha', shareText) },
  { name: 'beta', label: 'beta', figure: 'beta',
    meaning: 'the change for each change of buying and holding by one',
    text: (statistics) => holding(statistics, 'beta', ratioText) },
  { name: 'correlation', label: 'correlation with holding', figure: 'correlation',
    meaning: '1: the same direction every day; 0: none in common',
    text: (statistics) => holding(statistics, 'correlation', ratioText) },
];

function holding(
  { against }: RunStatistics, name: 'alpha' | 'beta' | 'correlation', show: (value: number) => string,
): string | undefined {
  return given(against.buy_and_hold?.[name], show);
}

function namedText(trade: RunStatistics['trades']['best']): string | undefined {
  if (trade === null) return undefined;
  const share = given(trade.profit_share, shareText);
  return `${amountText(trade.profit)}${share === undefined ? '' : ` (${share})`}`;
}

/** The columns of tables by pair and by reason. */
export const GROUP_COLUMNS = {
  trades: ({ trades }: TradeRow) => count(trades),
  win_rate: ({ win_rate }: TradeRow) => given(win_rate, shareText),
  profit: ({ profit }: TradeRow) => amountText(profit),
  profit_share: ({ profit_share }: TradeRow) => given(profit_share, shareText),
  profit_factor: ({ profit_factor }: TradeRow) => given(profit_factor, ratioText),
  duration: ({ duration }: TradeRow) => given(duration, durationText),
} as const;

/** The columns of the table of drawdowns. */
export const DRAWDOWN_COLUMNS = {
  depth: ({ depth }: DrawdownRow) => shareText(depth),
  amount: ({ amount }: DrawdownRow) => amountText(amount),
  start: ({ start }: DrawdownRow) => momentText(start),
  trough: ({ trough }: DrawdownRow) => momentText(trough),
  recovered: ({ recovered }: DrawdownRow) => (recovered === null ? 'not yet' : momentText(recovered)),
  duration: ({ duration }: DrawdownRow) => durationText(duration),
} as const;

/** The percentiles of a drawing, and its kinds. */
export const PERCENTILES = ['p5', 'p25', 'p50', 'p75', 'p95'] as const;
/** The rows of the table of trade orders. */
export const ORDER_ROWS = {
  shuffled_drawdown: ({ shuffled }: Orders) => [shuffled.drawdown, shareText] as const,
  resampled_drawdown: ({ resampled }: Orders) => [resampled.drawdown, shareText] as const,
  resampled_profit: ({ resampled }: Orders) => [resampled.profit, amountText] as const,
} as const;

/** Returns the printed statistics of a run by name; undefined where one is missing. */
export function printedStatistics(statistics: RunStatistics): [name: string, text: string | undefined][] {
  const { trade_order: order, daily_returns: days } = statistics;
  return [
    ...[...TRADE_STATISTICS, ...DAY_STATISTICS]
      .map(({ name, text }): [string, string | undefined] => [`statistic.${name}`, text(statistics)]),
    ...rows('pair', statistics.by_pair, GROUP_COLUMNS),
    ...rows('entry reason', statistics.by_entry_reason, GROUP_COLUMNS),
    ...rows('exit reason', statistics.by_exit_reason, GROUP_COLUMNS),
    ...rows('drawdown', statistics.drawdowns, DRAWDOWN_COLUMNS),
    ...days.map(({ day, change }): [string, string] => [`day ${day}`, shareText(change)]),
    ...(order === null ? [] : [
      ['order.drawdown', shareText(order.drawdown)] as [string, string],
      ['order.orders', count(order.orders)] as [string, string],
      ['order.losing', shareText(order.resampled.losing)] as [string, string],
      ...Object.entries(ORDER_ROWS).flatMap(([row, of]) => {
        const [values, show] = of(order);
        return PERCENTILES.map((name): [string, string] => [`order.${row}.${name}`, show(values[name])]);
      }),
    ]),
  ];
}

function rows<Row>(
  name: string, all: readonly Row[], columns: Readonly<Record<string, (row: Row) => string | undefined>>,
): [string, string | undefined][] {
  return all.flatMap((row, i) => Object.entries(columns)
    .map(([column, text]): [string, string | undefined] => [`${name} ${i + 1}.${column}`, text(row)]));
}

/** Returns an instant of the statistics to the minute. */
function momentText(iso: string): string {
  return iso.slice(0, 16).replace('T', ' ');
}

/** The numbers and texts of statistics by their path, without long series, for a comparison by name. */
export function flatStatistics(
  { rolling: _rolling, warnings: _warnings, daily_returns: _days, ...statistics }: RunStatistics,
): Readonly<Record<string, unknown>> {
  const flat: Record<string, unknown> = {};
  const add = (path: string, value: unknown): void => {
    if (typeof value !== 'object' || value === null) flat[path] = value;
    else for (const [name, inner] of Object.entries(value)) add(path === '' ? name : `${path}.${name}`, inner);
  };
  add('', statistics);
  return flat;
}
