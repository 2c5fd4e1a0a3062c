import { pluralize } from '../../core/text.ts';
import type { WarningCollector } from './metric-warnings.ts';
import type { EquitySeries } from './equity-series.ts';
import type { QuotedFill } from './trading-measures.ts';
import { exposure, landingRate, realizedSlippageBps, timeInMarket, turnover } from './trading-measures.ts';
import type { TradeFill, TradeResults } from './round-trips.ts';
import { roundTrips, tradeResults } from './round-trips.ts';
import { shareText } from './figure-text.ts';

/** With fewer trades, averages are mostly chance. */
export const FEW_TRADES = 30;
/** Costs of fills are kept to seven digits: a smaller share of all fees is a rounding error. */
const ROUNDING_SHARE = 1e-6;
const OF_TRIPS = ['win_rate', 'profit_factor', 'expectancy', 'payoff_ratio'];

/** The trades behind an equity series. */
export interface TradingRecord {
  readonly fills: readonly TradeFill[];
  /** The value of the tokens held besides money, at each time of the equity. */
  readonly held: readonly number[];
  readonly quoted: readonly QuotedFill[];
  /** Transactions sent to the chain, and those of them that landed and succeeded. */
  readonly sent: number;
  readonly landed: number;
  /** All fees in the currency, including those of failed swaps. */
  readonly feesPaid: number;
}

/** The figures based on trades. */
export interface TradingFigures {
  readonly results: TradeResults;
  readonly exposure: number | undefined;
  readonly timeInMarket: number | undefined;
  readonly turnover: number | undefined;
  readonly feesPaid: number;
  readonly realizedSlippageBps: number | undefined;
  readonly landingRate: number | undefined;
}

/** Returns the figures of trades, and adds warnings about them. */
export function tradingFigures(
  { fills, held, quoted, sent, landed, feesPaid }: TradingRecord, series: EquitySeries, warnings: WarningCollector,
): TradingFigures {
  const { trips, open, unbought } = roundTrips(fills);
  if (unbought.length > 0) warnings.add(
    'unbought_sold',
    `${pluralize(unbought.length, 'sale')} without a purchase ${unbought.length === 1 ? 'is' : 'are'} in no trade`,
    OF_TRIPS,
  );
  if (open.length > 0) warnings.add(
    'still_held',
    `${pluralize(open.length, 'purchase')} ${open.length === 1 ? 'is' : 'are'} not or not fully sold: the gain or loss `
      + `on ${open.length === 1 ? 'it' : 'them'} is in the equity, but in no trade`,
    OF_TRIPS,
  );
  const results = tradeResults(trips);
  warnAboutResults(results, warnings);
  const fruitless = feesPaid - fills.reduce((sum, { costs }) => sum + costs, 0);
  if (fruitless > feesPaid * ROUNDING_SHARE) warnings.add(
    'fees_of_no_trip',
    `${shareText(fruitless / feesPaid)} of all fees belong to failed swaps without a later fill of their token, or to `
      + 'fills without a value: they are in the equity and in the fees paid, but in no trade',
    OF_TRIPS,
  );
  const figures = {
    exposure: exposure({ ...series, held }),
    timeInMarket: timeInMarket({ ...series, held }),
    turnover: turnover(series, fills.map(({ value }) => value)),
    realizedSlippageBps: realizedSlippageBps(quoted),
    landingRate: landingRate({ landed, sent }),
  };
  if (figures.realizedSlippageBps === undefined) warnings.add(
    'nothing_quoted', 'no fill has a quote to compare with: slippage is not given', ['realized_slippage_bps'],
  );
  if (figures.landingRate === undefined)
    warnings.add('nothing_sent', 'no transaction was sent: the landing rate is not given', ['landing_rate']);
  return { results, feesPaid, ...figures };
}

function warnAboutResults({ wins, losses, breakeven }: TradeResults, warnings: WarningCollector): void {
  const decided = wins + losses;
  if (decided === 0) {
    warnings.add('no_trades', 'no trade was won or lost: averages have no meaning', OF_TRIPS);
    return;
  }
  if (losses === 0) warnings.add('no_loss', 'no trade was lost: profit factor and payoff ratio have no meaning', [
    'profit_factor', 'payoff_ratio',
  ]);
  if (wins === 0) warnings.add('no_win', 'no trade was won: the payoff ratio has no meaning', ['payoff_ratio']);
  if (breakeven > 0) warnings.add(
    'breakeven_left_out', `${pluralize(breakeven, 'trade')} came out even and counted neither as won nor as lost`,
    ['win_rate', 'expectancy', 'payoff_ratio'],
  );
  if (decided < FEW_TRADES) warnings.add(
    'few_trades',
    `${pluralize(decided, 'trade')} won or lost ${decided === 1 ? 'is' : 'are'} few: averages are mostly chance`,
    OF_TRIPS,
  );
}
