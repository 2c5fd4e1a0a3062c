import type { TokenListEvent, TokenListName, TokenRecord, TokenRecordEvent } from '../market/token-record.ts';
import type { TokenStatName } from '../market/token-stats.ts';
import type { Token } from '../market/token.ts';
import type { Input, PollOptions } from './input.ts';
import { eventInput } from './input.ts';

/** The length of a list of tokens unless a strategy names another. */
const LIST_DEFAULT = 50;

/**
 * Returns the input of everything that the service says about a token: all windows, audit, tags, verification, first
 * pool, holders and label. Polled together with other tokens' where their rates agree.
 */
export function tokenRecord(token: Token, options: PollOptions): Input<TokenRecordEvent> {
  return eventInput({ kind: 'token-record', mint: token.mint }, options);
}

/**
 * Returns the input of a list of tokens: `{ list: 'recent' }`, `{ list: 'toptraded', interval: '1h' }`,
 * `{ list: 'tag', tag: 'verified' }` or `{ list: 'search', query: 'cat' }`. One request each; `limit` is 1 to 100.
 */
export function tokenList(
  list: TokenListName & { readonly limit?: number | undefined }, options: PollOptions,
): Input<TokenListEvent> {
  return eventInput({ kind: 'token-list', ...list, limit: list.limit ?? LIST_DEFAULT }, options);
}

/** Returns a statistic of a record; NaN, which passes no comparison, where the service does not state it. */
export function statOf({ values }: Pick<TokenRecord, 'values'>, name: TokenStatName): number {
  return values[name] ?? Number.NaN;
}

/** Returns the token of a record, by its own symbol: for `quotes` of a token that the configuration does not name. */
export function tokenOf({ id, symbol, decimals }: TokenRecord): Token {
  return { mint: id, symbol, decimals };
}
