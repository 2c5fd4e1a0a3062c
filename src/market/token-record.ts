import type { Millis } from '../core/time.ts';
import type { MarketEventBase } from './event-base.ts';
import type { TokenStats, WindowField } from './token-stats.ts';
import type { Mint } from './token.ts';

/** The service's audit of a token; an absent member is unknown, which is not the same as safe. */
interface TokenAudit {
  readonly isSus?: boolean | undefined;
  readonly mintAuthorityDisabled?: boolean | undefined;
  readonly freezeAuthorityDisabled?: boolean | undefined;
  /** Percent, 0 to 100. */
  readonly topHoldersPercentage?: number | undefined;
  readonly devBalancePercentage?: number | undefined;
  readonly devMints?: number | undefined;
}

/**
 * A token as the service describes it. Its texts are the token's own claims: hostile until printed through `printable`.
 */
export interface TokenRecord {
  readonly id: Mint;
  readonly symbol: string;
  readonly name: string;
  readonly decimals: number;
  readonly tokenProgram?: string | undefined;
  readonly mintAuthority?: string | undefined;
  readonly freezeAuthority?: string | undefined;
  readonly dev?: string | undefined;
  readonly icon?: string | undefined;
  readonly twitter?: string | undefined;
  readonly telegram?: string | undefined;
  readonly website?: string | undefined;
  readonly discord?: string | undefined;
  readonly instagram?: string | undefined;
  readonly tiktok?: string | undefined;
  readonly otherUrl?: string | undefined;
  readonly issuer?: string | undefined;
  readonly launchpad?: string | undefined;
  readonly partnerConfig?: string | undefined;
  readonly graduatedPool?: string | undefined;
  readonly graduatedAt?: Millis | undefined;
  readonly createdAt?: Millis | undefined;
  readonly updatedAt?: Millis | undefined;
  readonly firstPool?: { readonly id?: string | undefined; readonly createdAt?: Millis | undefined } | undefined;
  readonly audit: TokenAudit;
  readonly organicScoreLabel?: string | undefined;
  /** Undefined where the service does not state it, which means no. */
  readonly isVerified?: boolean | undefined;
  readonly tags: readonly string[];
  /** Percent per year of the lending product, where the token is listed in it. */
  readonly platformEarn?: number | undefined;
  /** All its numbers; one that is missing or cannot be is absent. */
  readonly values: TokenStats['values'];
  /** The two long windows, undefined where nothing is known of them; mostly they hold the price change alone. */
  readonly stats7d?: WindowStats | undefined;
  readonly stats30d?: WindowStats | undefined;
}

/** The counts over one window; a number that the service did not give is absent, never zero. */
export type WindowStats = { readonly [name in WindowField]?: number };

/** Everything that the service says about a token at one poll. Its texts are safe to print. */
export interface TokenRecordEvent extends MarketEventBase {
  readonly kind: 'token-record';
  readonly mint: Mint;
  readonly record: TokenRecord;
}

/** The lists of leading tokens, by their measure. */
export const TOKEN_CATEGORIES = ['toporganicscore', 'toptraded', 'toptrending'] as const;
/** The times over which tokens lead. */
export const TOKEN_INTERVALS = ['5m', '1h', '6h', '24h'] as const;
/** The longest list of tokens. */
export const TOKEN_LIST_MAX = 100;

/**
 * A list of tokens: those whose first pool was created last, the leaders by a measure over a time, those with a tag, or
 * those that a search by name, symbol or mint finds.
 */
export type TokenListName =
  | { readonly list: 'recent' }
  | { readonly list: (typeof TOKEN_CATEGORIES)[number]; readonly interval: (typeof TOKEN_INTERVALS)[number] }
  | { readonly list: 'tag'; readonly tag: string }
  | { readonly list: 'search'; readonly query: string };

/** A list of tokens at one poll, in the service's order. Texts are safe to print. */
export interface TokenListEvent extends MarketEventBase {
  readonly kind: 'token-list';
  /** Which list it is: "recent", "toptraded 1h". */
  readonly list: string;
  readonly tokens: readonly TokenRecord[];
}
