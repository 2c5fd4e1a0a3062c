import type { MarketEventBase } from './event-base.ts';
import type { Mint } from './token.ts';

/** The windows over which the service counts activity. */
export const STATS_WINDOWS = ['5m', '1h', '6h', '24h'] as const;
type StatsWindow = (typeof STATS_WINDOWS)[number];

/** The numbers per window; percent for the changes, US dollars for the volumes. */
export const WINDOW_FIELDS = [
  'priceChange', 'holderChange', 'liquidityChange', 'volumeChange',
  'buyVolume', 'sellVolume', 'buyOrganicVolume', 'sellOrganicVolume',
  'numBuys', 'numSells', 'numTraders', 'numOrganicBuyers', 'numNetBuyers',
] as const;
/** The name of a number per window. */
export type WindowField = (typeof WINDOW_FIELDS)[number];

/** The numbers per token; prices in US dollars, scores of 0 to 100. */
export const TOKEN_FIELDS = [
  'usdPrice', 'priceBlockId', 'liquidity', 'fees', 'mcap', 'fdv', 'holderCount', 'circSupply', 'totalSupply',
  'organicScore',
] as const;
type TokenField = (typeof TOKEN_FIELDS)[number];

/** Every number of a token record by one flat name: `usdPrice`, `5m.buyVolume`. */
export type TokenStatName = TokenField | `${StatsWindow}.${WindowField}`;

/** All flat names in a fixed order: the columns of a recording. */
export const TOKEN_STAT_NAMES: readonly TokenStatName[] = [
  ...TOKEN_FIELDS,
  ...STATS_WINDOWS.flatMap((window) => WINDOW_FIELDS.map((field) => `${window}.${field}` as const)),
];

/** A token's statistics at one poll; a number the service did not give is absent, never zero. */
export interface TokenStats extends MarketEventBase {
  readonly kind: 'token-stats';
  readonly mint: Mint;
  readonly values: { readonly [name in TokenStatName]?: number };
}
