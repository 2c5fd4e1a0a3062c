import type { EventSearch, HistoryFilter, PageRange, PositionsFilter } from './prediction-request.ts';
import type { JointRule, RequestRules, Rule } from './request-rules.ts';
import { aFlag, anInteger, oneOf, optionalRule, required } from './request-rules.ts';

const anIndex: Rule = optionalRule('an integer of at least 0', (value) =>
  Number.isSafeInteger(value) && (value as number) >= 0);

const aRecordNumber: Rule = optionalRule('an integer of at least 1', (value) =>
  Number.isSafeInteger(value) && (value as number) >= 1);

const aKey: Rule = optionalRule('at least 1 and at most 200 visible ASCII characters', (value) =>
  typeof value === 'string' && /^[\u0021-\u007e]{1,200}$/.test(value));

/** Dots would climb out of the path. */
const inPath: Rule = required({ ...aKey, holds: (value) => aKey.holds(value) && !/^\.+$/.test(value as string) });

const range = { start: anIndex, end: anIndex };

const inOrder: JointRule<PageRange> = {
  parameter: 'end',
  words: 'expected end, which is exclusive, not to lie before start',
  holds: ({ start = 0, end }) => end === undefined || end >= start,
};

/** What the reference states of `GET /prediction/v1/history`. */
export const HISTORY_RULES: RequestRules<HistoryFilter & PageRange> = {
  endpoint: 'GET /prediction/v1/history',
  parameters: { owner: aKey, eventId: aRecordNumber, positionPubkey: aKey, ...range },
  joint: [inOrder],
};

/** What the reference states of `GET /prediction/v1/positions`. */
export const POSITIONS_RULES: RequestRules<PositionsFilter & PageRange> = {
  endpoint: 'GET /prediction/v1/positions',
  parameters: { owner: aKey, isYes: aFlag, marketId: aKey, marketPubkey: aKey, ...range },
  joint: [inOrder],
};

/** What the reference states of `GET /prediction/v1/positions/{positionPubkey}`. */
export const POSITION_RULES: RequestRules<{ readonly positionPubkey: string }> = {
  endpoint: 'GET /prediction/v1/positions/{positionPubkey}', parameters: { positionPubkey: inPath }, joint: [],
};

/** What the reference states of `GET /prediction/v1/events/{eventId}/markets`. */
export const EVENT_MARKETS_RULES: RequestRules<{ readonly eventId: string } & PageRange> = {
  endpoint: 'GET /prediction/v1/events/{eventId}/markets', parameters: { eventId: inPath, ...range }, joint: [inOrder],
};

/** What the reference states of `GET /prediction/v1/orderbook/{marketId}`. */
export const ORDER_BOOK_RULES: RequestRules<{ readonly marketId: string }> = {
  endpoint: 'GET /prediction/v1/orderbook/{marketId}', parameters: { marketId: inPath }, joint: [],
};

/** Returns what the reference states of `GET /prediction/v1/events/suggested/{pubkey}`. */
export function suggestedRules(
  providers: readonly string[],
): RequestRules<{ readonly pubkey: string; readonly provider?: string | undefined }> {
  return {
    endpoint: 'GET /prediction/v1/events/suggested/{pubkey}',
    parameters: { pubkey: inPath, provider: oneOf(providers) }, joint: [],
  };
}

/** Returns what the reference states of `GET /prediction/v1/events/search`. */
export function eventSearchRules(providers: readonly string[]): RequestRules<EventSearch> {
  return {
    endpoint: 'GET /prediction/v1/events/search',
    parameters: {
      query: required(optionalRule('1 to 200 characters', (value) =>
        typeof value === 'string' && value.length >= 1 && value.length <= 200)),
      provider: oneOf(providers),
      limit: anInteger({ min: 1, max: 20 }),
    },
    joint: [],
  };
}
