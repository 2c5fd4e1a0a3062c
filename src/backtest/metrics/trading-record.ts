import type { Doubts } from './doubts.ts';
import type { EquitySeries } from './equity-series.ts';
import { exposure, timeInMarket, turnover } from './exposure.ts';
import type { TradeFill } from './round-trips.ts';
import { roundTrips } from './round-trips.ts';
import type { QuotedFill } from './shortfall.ts';
import { landingRate, realizedSlippageBps } from './shortfall.ts';
import type { TradeResults } from './trade-results.ts';
import { tradeResults } from './trade-results.ts';

const FEW_TRADES = 30;
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
export function tradingFigures({ fills, held, quoted, sent, landed, feesPaid }: TradingRecord, series: EquitySeries, doubts: Doubts): TradingFigures {
  const { trips, open, unbought } = roundTrips(fills);
  if (unbought.length > 0) doubts.tell('unbought_sold', `${unbought.length} sales were of what nothing here bought: they are in no round trip`, OF_TRIPS);
  if (open.length > 0) doubts.tell('still_held', `${open.length} purchases are not sold again, or not all of them: whatever they lost or gained is in no round trip`, OF_TRIPS);
  const results = tradeResults(trips);
  tellResults(results, doubts);
  const figures = {
    exposure: exposure({ ...series, held }),
    timeInMarket: timeInMarket({ ...series, held }),
    turnover: turnover(series, fills.map(({ value }) => value)),
    realizedSlippageBps: realizedSlippageBps(quoted),
    landingRate: landingRate({ landed, sent }),
  };
  if (figures.realizedSlippageBps === undefined) doubts.tell('nothing_quoted', 'no fill has a quote to be held against: realized_slippage_bps is not given', ['realized_slippage_bps']);
  if (figures.landingRate === undefined) doubts.tell('nothing_sent', 'nothing was sent to the chain: landing_rate is not given', ['landing_rate']);
  return { results, feesPaid, ...figures };
}

function tellResults({ wins, losses, breakeven }: TradeResults, doubts: Doubts): void {
  const decided = wins + losses;
  if (decided === 0) {
    doubts.tell('no_trades', 'no round trip was won or lost: win_rate, profit_factor, expectancy and payoff_ratio have no meaning', OF_TRIPS);
    return;
  }
  if (losses === 0) doubts.tell('no_loss', 'no round trip was lost: profit_factor and payoff_ratio have no meaning', ['profit_factor', 'payoff_ratio']);
  if (wins === 0) doubts.tell('no_win', 'no round trip was won: payoff_ratio has no meaning', ['payoff_ratio']);
  if (breakeven > 0) doubts.tell('breakeven_left_out', `${breakeven} round trips came out even: they are in none of win_rate, expectancy and payoff_ratio`, ['win_rate', 'expectancy', 'payoff_ratio']);
  if (decided < FEW_TRADES) doubts.tell('few_trades', `${decided} round trips are few: win_rate, profit_factor, expectancy and payoff_ratio are mostly chance`, OF_TRIPS);
}
