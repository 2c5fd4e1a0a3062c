/** The authors' SDK: everything a strategy may import besides rxjs and zod. */
export { defineStrategy } from './define.ts';
export type { Strategy, StrategyDefinition, Streams } from './define.ts';
export type { AlertData, DeniedSwap, FilledSwap, Position, StrategyContext, SwapOptions } from './context.ts';
export { DetailedQuote, orderBook, PricedQuote, quotes, signals, tokenStats } from './input.ts';
export type { Input, PollOptions } from './input.ts';
export { bars, chainedOutput, quoteLadder, quoteRound, roundSpan, twoSided } from './quote-inputs.ts';
export type { QuoteLadder, TwoSidedQuote } from './quote-inputs.ts';
export { statOf, tokenList, tokenOf, tokenRecord } from './token-inputs.ts';
export { screen } from './screen.ts';
export type { ScreenEvent, ScreenOptions } from './screen.ts';
export {
  entryUsd, lendEarnings, newEntries, predictionEvent, predictionEvents, predictionHistory, predictionMarket,
  predictionPositions,
} from './prediction-inputs.ts';
export { changeOf, portfolio, walletActivity } from './wallet-inputs.ts';
export type { LedgerEntry, PageOptions } from './prediction-inputs.ts';
export { address, amount, duration, instant, pair, token } from './params.ts';
export type { Folded, Stateful, StatefulOptions } from './stateful.ts';
export {
  amountOf, atLeast, cooldown, coversCosts, fixedSize, fractionalKelly, fractionOf, hysteresis, levelsBetween,
  numberOf, percentOfBudget, percentOfEquity, roundTripBps, sliceOf, targetWeights, unseen, volatilityWeight, whenFlat,
} from './sizing.ts';
export type { HysteresisOptions, RebalanceOptions, TargetWeight } from './sizing.ts';
export {
  bracketOrder, followSignal, limitOrder, oneCancelsOther, stopOrder, trailingOrder, when,
} from './orders.ts';
export type { HoldSignal, OcoSide } from './orders.ts';
export { oncePerSlot, scheduled, twap } from './schedules.ts';
export type { MissedRuns } from './schedules.ts';
export {
  auditTime, bufferTime, debounceTime, delay, interval, repeat, retry, sampleTime, slots, slotStart,
  throttleTime, timeout, timer,
} from './time.ts';
export { bollinger, Regression } from './indicators.ts';
export type { BollingerBands, RegressionInput, RegressionResult } from './indicators.ts';
export { indicate, over, previous, settled } from './indicate.ts';
export type { IndicateOptions, Indicator, IndicatorInput, KeepInputs } from './indicate.ts';
export { smaCrossover } from './indicators.ts';
export type { Trend } from './indicators.ts';
export { Sma } from './indicators.ts';

export type { Amount, Bps, Lamports, MicroUsd } from '../core/amount.ts';
export { bps, formatDecimal, mulDiv } from '../core/amount.ts';
export { formatDuration, parseDuration, timeOfDay } from '../core/time.ts';
export type { Millis } from '../core/time.ts';
export { breakEvenProbability, kellyFraction, quadraticFee } from '../market/binary-contract.ts';
export {
  bookTop, costToFill, depthImbalance, depthWithin, impliedProbability, isCrossed, isEmpty, ONE_USD,
  probabilityInterval,
} from '../market/order-book.ts';
export type {
  BookDepth, BookLevel, BookSide, BookTop, FillCost, OrderBook, ProbabilityInterval,
} from '../market/order-book.ts';
export type { Bar } from '../market/bar.ts';
export type { Quote, QuoteDetail } from '../market/quote.ts';
export type { Mint, Pair, Token, TokenAmount } from '../market/token.ts';
export { formatTokenAmount } from '../market/token.ts';
export type { SignalBody, SignalEvent, SignalValue } from '../market/signal.ts';
export type { TokenStatName, TokenStats } from '../market/token-stats.ts';
export type { TokenListEvent, TokenListName, TokenRecord, TokenRecordEvent } from '../market/token-record.ts';
export type {
  EventMarketsEvent, HistoryRecord, PredictionEvent, PredictionEventsEvent, PredictionHistoryEvent, PredictionMarket,
  PredictionMarketEvent, PredictionPosition, PredictionPositionsEvent,
} from '../market/prediction.ts';
export type { LendEarningsEvent } from '../market/lending.ts';
export type { OwnedToken, PortfolioEvent } from '../market/feeds/portfolio.ts';
export type { WalletChange, WalletTransaction } from '../market/wallet-activity.ts';
export type { Fill, IntentState, Outcome } from '../trading/intent.ts';
export type { DenialCode } from '../trading/limits.ts';
export type { AlertLevel, AlertProposal, Proposal, Route, SwapProposal } from '../trading/proposal.ts';
