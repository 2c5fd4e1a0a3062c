import type { TokenStats } from '../token-stats.ts';
import type { Mint } from '../token.ts';
import type { FeedKind } from './feed-kind.ts';
import { readMint } from './feed-kind.ts';

/** The subjects of the feeds about tokens, by kind. */
export interface TokenSubjects {
  readonly 'token-stats': { readonly mint: Mint };
}

/** The events of the same feeds. */
export interface TokenEvents {
  readonly 'token-stats': TokenStats;
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
    nouns: ['statistics', 'statistics'],
    isKeyedByMint: true,
    reading: ({ values: { usdPrice } }) => (usdPrice === undefined ? 'no price' : `$${usdPrice}`),
  },
};
