import type { TokenListEvent, TokenListName, TokenRecordEvent } from '../token-record.ts';
import { TOKEN_CATEGORIES, TOKEN_INTERVALS, TOKEN_LIST_MAX } from '../token-record.ts';
import type { TokenStats } from '../token-stats.ts';
import type { Mint } from '../token.ts';
import type { Declared, FeedKind, Reading } from './feed-kind.ts';
import { isTerm, isWithin, readMint } from './feed-kind.ts';

/** The subjects of the feeds about tokens, by kind. */
export interface TokenSubjects {
  readonly 'token-stats': { readonly mint: Mint };
  readonly 'token-record': { readonly mint: Mint };
  readonly 'token-list': TokenListSubject;
}

/** A list and its length at most. */
type TokenListSubject = TokenListName & { readonly limit: number };

/** The events of the same feeds. */
export interface TokenEvents {
  readonly 'token-stats': TokenStats;
  readonly 'token-record': TokenRecordEvent;
  readonly 'token-list': TokenListEvent;
}

/** The most tokens that the service answers for in one request. */
const TOKENS_PER_REQUEST = 100;

/** The feeds about tokens. */
export const TOKEN_FEEDS: { readonly [K in keyof TokenSubjects]: FeedKind<TokenSubjects[K], TokenEvents[K]> } = {
  'token-stats': {
    input: 'tokenStats',
    keyOf: ({ mint }) => mint,
    read: ({ mint }, reading) => readMint(mint, reading),
    feedsPerRequest: TOKENS_PER_REQUEST,
    mints: ({ mint }) => [mint],
    hasColumns: true,
    nouns: ['statistics', 'statistics'],
    isKeyedByMint: true,
    reading: ({ values: { usdPrice } }) => (usdPrice === undefined ? 'no price' : `$${usdPrice}`),
  },
  'token-record': {
    input: 'tokenRecord',
    keyOf: ({ mint }) => mint,
    read: ({ mint }, reading) => readMint(mint, reading),
    feedsPerRequest: TOKENS_PER_REQUEST,
    mints: ({ mint }) => [mint],
    nouns: ['record', 'records'],
    isKeyedByMint: true,
    reading: ({ record: { values: { usdPrice, holderCount } } }) =>
      `${usdPrice === undefined ? 'no price' : `$${usdPrice}`}, ${holderCount ?? 'unknown'} holders`,
  },
  'token-list': {
    input: 'tokenList',
    keyOf: (subject) => [...listWords(subject), subject.limit].map(encodeURIComponent).join(':'),
    read: readTokenList,
    feedsPerRequest: 1,
    mints: () => [],
    nouns: ['token list', 'token lists'],
    reading: ({ list, tokens }) => `${tokens.length} tokens in the list ${list}`,
  },
};

/** Returns what names a list of tokens. */
export function listWords(name: TokenListName): readonly string[] {
  if (name.list === 'recent') return [name.list];
  if (name.list === 'tag') return [name.list, name.tag];
  return name.list === 'search' ? [name.list, name.query] : [name.list, name.interval];
}

function readTokenList({ list, interval, tag, query, limit }: Declared, { shown }: Reading): TokenListSubject | string {
  if (!isWithin(limit, 1, TOKEN_LIST_MAX))
    return `asks for ${shown(limit)} tokens: expected a whole number of 1 to ${TOKEN_LIST_MAX}`;
  if (list === 'recent') return { list, limit };
  if (list === 'tag') {
    return typeof tag === 'string' && /^[\w-]{1,40}$/.test(tag) ? { list, tag, limit }
      : `names the tag ${shown(tag)}: expected 1 to 40 letters, digits, dashes and underscores`;
  }
  if (list === 'search') {
    return isTerm(query) && query.trim() !== '' && !query.includes(',') && query.isWellFormed() ? { list, query, limit }
      : `searches for ${shown(query)}: expected 1 to 200 characters without a comma`;
  }
  const category = TOKEN_CATEGORIES.find((known) => known === list);
  if (category === undefined)
    return `names the list ${shown(list)}: expected recent, tag, search, ${TOKEN_CATEGORIES.join(', ')}`;
  const over = TOKEN_INTERVALS.find((known) => known === interval);
  return over === undefined ? `names the interval ${shown(interval)}: expected ${TOKEN_INTERVALS.join(', ')}`
    : { list: category, interval: over, limit };
}
