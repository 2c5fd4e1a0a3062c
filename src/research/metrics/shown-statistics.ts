import { shortDuration } from '../../core/time.ts';
import { ratioText, shareText } from './figure-text.ts';
import type { RunStatistics } from './run-statistics.ts';

const SECOND_MS = 1_000;

/** How a statistic is presented. */
interface ShownStatistic {
  /** Its place in an answer: "trades.sqn". */
  readonly name: string;
  readonly label: string;
  readonly pick: (statistics: RunStatistics) => number | null;
  readonly show: (value: number) => string;
  /** Its definition in plain words. */
  readonly meaning: string;
}

/** The presentation of the single figures among the statistics, in display order. */
export const SHOWN_STATISTICS: readonly ShownStatistic[] = [
  {
    name: 'trades.count', label: 'trades', pick: ({ trades }) => trades.count, show: String,
    meaning: 'a purchase and its sale, first in, first out',
  },
  {
    name: 'trades.duration.mean', label: 'held, mean', pick: ({ trades }) => trades.duration.mean, show: durationText,
    meaning: 'from the fill of the purchase to the fill of the sale',
  },
  {
    name: 'trades.duration.median', label: 'held, median', pick: ({ trades }) => trades.duration.median,
    show: durationText, meaning: 'half of the trades were held for less',
  },
  {
    name: 'trades.duration.longest', label: 'held, longest', pick: ({ trades }) => trades.duration.longest,
    show: durationText, meaning: 'the longest trade',
  },
  {
    name: 'trades.duration.winners', label: 'held, winners', pick: ({ trades }) => trades.duration.winners,
    show: durationText, meaning: 'mean of the trades that were won',
  },
  {
    name: 'trades.duration.losers', label: 'held, losers', pick: ({ trades }) => trades.duration.losers,
    show: durationText, meaning: 'mean of the trades that were lost; longer than the winners: losses were kept',
  },
  {
    name: 'trades.best.profit_share', label: 'best trade', pick: ({ trades }) => trades.best?.profit_share ?? null,
    show: shareText, meaning: 'the largest result in the currency, after costs, as a share of its entry',
  },
  {
    name: 'trades.worst.profit_share', label: 'worst trade', pick: ({ trades }) => trades.worst?.profit_share ?? null,
    show: shareText, meaning: 'the least result in the currency, after costs, as a share of its entry',
  },
  {
    name: 'trades.winning_streak', label: 'winning streak', pick: ({ trades }) => trades.winning_streak, show: String,
    meaning: 'the most trades won in a row, by their ends',
  },
  {
    name: 'trades.losing_streak', label: 'losing streak', pick: ({ trades }) => trades.losing_streak, show: String,
    meaning: 'the most trades lost in a row, by their ends',
  },
  {
    name: 'trades.mae', label: 'MAE, mean', pick: ({ trades }) => trades.mae, show: shareText,
    meaning: 'maximum adverse excursion: the largest fall of the price below the entry, before costs',
  },
  {
    name: 'trades.mfe', label: 'MFE, mean', pick: ({ trades }) => trades.mfe, show: shareText,
    meaning: 'maximum favourable excursion: the largest rise of the price above the entry, before costs',
  },
  {
    name: 'trades.sqn', label: 'SQN', pick: ({ trades }) => trades.sqn, show: ratioText,
    meaning: 'system quality number: root of the number of trades, times mean by standard deviation of their results',
  },
  {
    name: 'trades.kelly', label: 'Kelly fraction', pick: ({ trades }) => trades.kelly, show: shareText,
    meaning: 'the share of money at risk in each trade that would have grown fastest; below 0: no share grows',
  },
  {
    name: 'days.best', label: 'best day', pick: ({ days }) => days.best?.change ?? null, show: shareText,
    meaning: 'the largest change of equity from one UTC midnight to the next',
  },
  {
    name: 'days.worst', label: 'worst day', pick: ({ days }) => days.worst?.change ?? null, show: shareText,
    meaning: 'the least change of equity from one UTC midnight to the next',
  },
  {
    name: 'days.value_at_risk_95', label: 'value at risk, 95 %', pick: ({ days }) => days.value_at_risk_95,
    show: shareText, meaning: 'the loss of a day that one day in twenty reached or exceeded',
  },
  {
    name: 'days.expected_shortfall_95', label: 'CVaR, 95 %', pick: ({ days }) => days.expected_shortfall_95,
    show: shareText, meaning: 'expected shortfall: the mean loss of these days',
  },
  {
    name: 'days.omega', label: 'Omega ratio', pick: ({ days }) => days.omega, show: ratioText,
    meaning: 'the sum of daily gains divided by the sum of daily losses',
  },
  {
    name: 'against.buy_and_hold.alpha', label: 'alpha a year', show: shareText,
    pick: ({ against }) => against.buy_and_hold?.alpha ?? null,
    meaning: 'the mean daily return that holding does not explain, times 365.25',
  },
  {
    name: 'against.buy_and_hold.beta', label: 'beta', pick: ({ against }) => against.buy_and_hold?.beta ?? null,
    show: ratioText, meaning: 'the change of equity for each change of holding by one, by daily returns',
  },
  {
    name: 'longest_drawdown', label: 'longest drawdown', pick: (statistics) => statistics.longest_drawdown,
    show: durationText, meaning: 'the longest time below a peak of equity',
  },
];

/** Returns a duration of seconds for people: "2.5h". */
export function durationText(seconds: number): string {
  return shortDuration(seconds * SECOND_MS);
}
