import type { LendEarningsEvent } from '../market/lending.ts';
import type {
  EventMarketsEvent, PredictionEventsEvent, PredictionHistoryEvent, PredictionMarketEvent, PredictionPositionsEvent,
} from '../market/prediction.ts';
import { PREDICTION_PAGE } from '../market/prediction.ts';
import type { Input, PollOptions } from './input.ts';
import { eventInput } from './input.ts';

/** The options of inputs that the service gives in pages of 20. */
export interface PageOptions extends PollOptions {
  /** From 0, the page unless another is named. */
  readonly page?: number | undefined;
}

/**
 * Returns the input of a prediction market: its status, its prices, and its result once it is resolved. Markets of one
 * page of one event share a request where their rates agree.
 */
export function predictionMarket(
  { event, market }: { readonly event: string; readonly market: string }, { page = 0, ...options }: PageOptions,
): Input<PredictionMarketEvent> {
  return eventInput({ kind: 'prediction-market', eventId: event, marketId: market, page }, options);
}

/** Returns the input of a page of an event's markets. */
export function predictionEvent(eventId: string, { page = 0, ...options }: PageOptions): Input<EventMarketsEvent> {
  return eventInput({ kind: 'event-markets', eventId, page }, options);
}

/** Returns the input of the events whose title contains a term, or that the service suggests for an order. */
export function predictionEvents(
  which: { readonly search: string; readonly limit?: number | undefined } | { readonly suggestedFor: string },
  options: PollOptions,
): Input<PredictionEventsEvent> {
  return eventInput('search' in which
    ? { kind: 'prediction-events', query: which.search, limit: which.limit ?? PREDICTION_PAGE }
    : { kind: 'prediction-events', suggestedFor: which.suggestedFor }, options);
}

/** Returns the input of a page of an account's prediction positions. */
export function predictionPositions(
  owner: string, { page = 0, ...options }: PageOptions,
): Input<PredictionPositionsEvent> {
  return eventInput({ kind: 'prediction-positions', owner, page }, options);
}

/** Returns the input of the 20 newest entries of an account's prediction ledger. */
export function predictionHistory(owner: string, options: PollOptions): Input<PredictionHistoryEvent> {
  return eventInput({ kind: 'prediction-history', owner }, options);
}

/** Returns the input of what an account earned on lending positions. */
export function lendEarnings(
  owner: string, positions: readonly string[], options: PollOptions,
): Input<LendEarningsEvent> {
  return eventInput({ kind: 'lend-earnings', owner, positions }, options);
}
