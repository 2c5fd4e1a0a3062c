import type { OperatorFunction } from 'rxjs';
import { map, mergeMap, of } from 'rxjs';
import type { LendEarningsEvent } from '../market/lending.ts';
import { ONE_USD } from '../market/order-book.ts';
import type {
  EventMarketsEvent, HistoryRecord, PredictionEventsEvent, PredictionHistoryEvent, PredictionMarketEvent,
  PredictionPositionsEvent,
} from '../market/prediction.ts';
import { PREDICTION_PAGE } from '../market/prediction.ts';
import type { StrategyContext } from './context.ts';
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

/** An entry of an account's prediction ledger. */
export interface LedgerEntry {
  readonly owner: string;
  readonly entry: HistoryRecord;
}

/**
 * Emits the entries of prediction ledgers that are newer than all before, oldest first, over restarts too. The first
 * page of an account is its past. Call it in `run` itself; several accounts may share it.
 */
export function newEntries(
  ctx: Pick<StrategyContext, 'stateful'>, name: string,
): OperatorFunction<PredictionHistoryEvent, LedgerEntry> {
  // Ids grow. A page that shifts repeats entries.
  const initial: Readonly<Record<string, number>> = {};
  const newest = ctx.stateful(name, initial, (known, { owner, entries }: PredictionHistoryEvent) =>
    ({ ...known, [owner]: Math.max(known[owner] ?? 0, ...entries.map(({ id }) => id)) }));
  return (pages) => pages.pipe(
    map((page) => ({ page, before: newest.value[page.owner] ?? Infinity })),
    mergeMap(({ page, before }) => of(page).pipe(newest, mergeMap(() => page.entries
      .filter(({ id }) => id > before).toReversed().map((entry) => ({ owner: page.owner, entry }))))),
  );
}

/** Returns what an entry of a ledger is about, in US dollars; 0 where it states none of its figures. */
export function entryUsd(entry: Partial<HistoryRecord>): number {
  return Math.max(...[entry.totalCostUsd, entry.depositAmountUsd, entry.netProceedsUsd, entry.payoutAmountUsd]
    .map((figure) => Number(figure ?? 0n))) / ONE_USD;
}

/** Returns the input of what an account earned on lending positions. */
export function lendEarnings(
  owner: string, positions: readonly string[], options: PollOptions,
): Input<LendEarningsEvent> {
  return eventInput({ kind: 'lend-earnings', owner, positions }, options);
}
