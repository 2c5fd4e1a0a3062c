import { counted } from '../../core/counted.ts';
import type { WarningCollector } from './metric-warnings.ts';
import type { EquitySeries } from './equity-series.ts';
import type { QuotedFill } from './trading-measures.ts';
import { exposure, landingRate, realizedSlippageBps, timeInMarket, turnover } from './trading-measures.ts';
import type { TradeFill, TradeResults } from './round-trips.ts';
import { roundTrips, tradeResults } from './round-trips.ts';
import { shareText } from './figure-text.ts';

const FEW_TRADES = 30;
/** Costs of fills are kept to seven digits: a smaller share of all fees is what rounding left. */
const ROUNDING_SHARE = 1e-6;
const OF_TRIPS = ['win_rate', 'profit_factor', 'expectancy', 'payoff_ratio'];

/** What was traded, beside the equity that came of it. */
export interface TradingRecord {
  readonly fills: readonly TradeFill[];
  /** The value of what was held beside money, at each time of the equity. */
  readonly held: readonly number[];
  readonly quoted: readonly QuotedFill[];
  /** Transactions sent to the chain, and those of them that did their work. */
  readonly sent: number;
  readonly landed: number;
  /** All fees, those of failures included, in the currency. */
  readonly feesPaid: number;
}

/** The figures that rest on what was traded. */
export interface TradingFigures {
  readonly results: TradeResults;
  readonly exposure: number | undefined;
  readonly timeInMarket: number | undefined;
  readonly turnover: number | undefined;
  readonly feesPaid: number;
  readonly realizedSlippageBps: number | undefined;
  readonly landingRate: number | undefined;
}

/** Returns the figures of what was traded, and says what is to be known about them. */
export function tradingFigures(
  { fills, held, quoted, sent, landed, feesPaid }: TradingRecord, series: EquitySeries, warnings: WarningCollector,
): TradingFigures {
  const { trips, open, unbought } = roundTrips(fills);
  if (unbought.length > 0) warnings.add(
    'unbought_sold',
    `${counted(unbought.length, 'sale')} ${unbought.length === 1 ? 'was' : 'were'} of what nothing here bought, and in `
      + 'no round trip',
    OF_TRIPS,
  );
  if (open.length > 0) warnings.add(
    'still_held',
    `${counted(open.length, 'purchase')} ${open.length === 1 ? 'is' : 'are'} not sold again, or not whole: what is `
      + `lost or gained on ${open.length === 1 ? 'it' : 'them'} is in the equity, and in no round trip`,
    OF_TRIPS,
  );
  const results = tradeResults(trips);
  tellResults(results, warnings);
  const fruitless = feesPaid - fills.reduce((sum, { costs }) => sum + costs, 0);
  if (fruitless > feesPaid * ROUNDING_SHARE) warnings.add(
    'fees_of_no_trip',
    `${shareText(fruitless / feesPaid)} of all fees were paid for swaps that failed and were followed by no fill of `
      + 'their token, or for fills without a value: they are in the equity and in the fees paid, and in no round trip',
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
    'nothing_quoted', 'no fill has a quote to be held against: slippage is not given', ['realized_slippage_bps'],
  );
  if (figures.landingRate === undefined)
    warnings.add('nothing_sent', 'nothing was sent to the chain: how much of it landed is not given', ['landing_rate']);
  return { results, feesPaid, ...figures };
}

function tellResults({ wins, losses, breakeven }: TradeResults, warnings: WarningCollector): void {
  const decided = wins + losses;
  if (decided === 0) {
    warnings.add('no_trades', 'no round trip was won or lost: what they bring on average has no meaning', OF_TRIPS);
    return;
  }
  if (losses === 0) warnings.add('no_loss', 'no round trip was lost: profit factor and payoff ratio have no meaning', [
    'profit_factor', 'payoff_ratio',
  ]);
  if (wins === 0) warnings.add('no_win', 'no round trip was won: the payoff ratio has no meaning', ['payoff_ratio']);
  if (breakeven > 0) warnings.add(
    'breakeven_left_out', `${counted(breakeven, 'round trip')} came out even, and count neither as won nor as lost`,
    ['win_rate', 'expectancy', 'payoff_ratio'],
  );
  if (decided < FEW_TRADES) warnings.add(
    'few_trades',
    `${counted(decided, 'round trip')} won or lost ${decided === 1 ? 'is' : 'are'} few: what they bring on average is `
      + 'mostly chance',
    OF_TRIPS,
  );
}
