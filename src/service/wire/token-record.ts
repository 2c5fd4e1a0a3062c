import { z } from 'zod';
import type { Json } from '../../core/json.ts';
import type { Millis } from '../../core/time.ts';
import type { TokenStatName, TokenStats, WindowField } from '../../market/token-stats.ts';
import { STATS_WINDOWS, TOKEN_FIELDS, WINDOW_FIELDS } from '../../market/token-stats.ts';
import type { Mint } from '../../market/token.ts';
import {
  lenientFlag, lenientInstant, lenientNumber, lenientProse, lenientText, lenientTexts, optional, wireAddress,
  wireInteger, wireMint, wireText,
} from './fields.ts';
import type { RecordKind, Records } from './read.ts';
import { membersOf, readRecords, readWire } from './read.ts';

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
type WindowStats = { readonly [name in WindowField]?: number };

/** The tokens of an answer, and the elements that are none. */
export type TokenRecords = Records<TokenRecord>;

const WHAT = 'token record';

const WireToken = z.object({
  id: wireMint,
  symbol: wireText,
  name: wireText,
  decimals: wireInteger.refine((value) => value >= 0 && value <= 255, { error: 'expected 0 to 255 decimals' }),
  tokenProgram: optional(wireAddress),
  mintAuthority: optional(wireAddress),
  freezeAuthority: optional(wireAddress),
  dev: lenientText,
  icon: lenientProse,
  twitter: lenientProse,
  telegram: lenientProse,
  website: lenientProse,
  discord: lenientProse,
  instagram: lenientProse,
  tiktok: lenientProse,
  otherUrl: lenientProse,
  issuer: lenientText,
  launchpad: lenientText,
  partnerConfig: lenientText,
  graduatedPool: lenientText,
  graduatedAt: lenientInstant,
  createdAt: lenientInstant,
  updatedAt: lenientInstant,
  firstPool: optional(z.object({ id: lenientText, createdAt: lenientInstant })).catch(undefined),
  audit: optional(
    z.object({
      isSus: lenientFlag,
      mintAuthorityDisabled: lenientFlag,
      freezeAuthorityDisabled: lenientFlag,
      topHoldersPercentage: lenientNumber,
      devBalancePercentage: lenientNumber,
      devMints: lenientNumber,
    }),
  ),
  organicScoreLabel: lenientText,
  isVerified: optional(z.boolean()),
  tags: lenientTexts,
  apy: optional(z.object({ platformEarn: lenientNumber })).catch(undefined),
});

const TOKENS: RecordKind<TokenRecord> = { what: 'tokens', idMember: 'id', read: readTokenRecord };

/** Returns the tokens of an answer. Throws SERVICE_MALFORMED unless it is a list. */
export function readTokenRecords(answer: Json): TokenRecords {
  return readRecords(TOKENS, answer);
}

/** Returns one token. Throws SERVICE_MALFORMED. */
function readTokenRecord(element: Json): TokenRecord {
  const { apy, audit, ...record } = readWire(WireToken, element, WHAT);
  const members = membersOf(element);
  return {
    ...record,
    audit: audit ?? {},
    platformEarn: apy?.platformEarn,
    values: readTokenValues(element),
    stats7d: readLongWindow(members['stats7d']),
    stats30d: readLongWindow(members['stats30d']),
  };
}

/**
 * Returns the numbers of one token. They are read without a schema for speed: each poll has sixty of them for each of
 * a hundred tokens.
 */
export function readTokenValues(element: Json): TokenStats['values'] {
  const token = membersOf(element);
  const values: { [name in TokenStatName]?: number } = {};
  for (const field of TOKEN_FIELDS) keep(values, field, token[field], field);
  for (const window of STATS_WINDOWS) {
    const stats = membersOf(token[`stats${window}`]);
    for (const field of WINDOW_FIELDS) keep(values, `${window}.${field}`, stats[field], field);
  }
  return values;
}

/** Returns a window that is not among the columns of recordings; mostly its price change is all there is. */
function readLongWindow(stats: Json | undefined): WindowStats | undefined {
  const window: { [name in WindowField]?: number } = {};
  const members = membersOf(stats);
  for (const field of WINDOW_FIELDS) keep(window, field, members[field], field);
  return Object.keys(window).length === 0 ? undefined : window;
}

/** The numbers that may be below zero; all others are counts or values, and a negative one is invalid. */
const SIGNED: ReadonlySet<string> =
  new Set(['priceChange', 'holderChange', 'liquidityChange', 'volumeChange', 'numNetBuyers']);

/** A number as text; other forms are not read. */
const DECIMAL = /^-?\d{1,30}(\.\d{1,30})?([eE][+-]?\d{1,3})?$/;

function keep<Name extends string>(
  values: { [name in Name]?: number }, name: Name, value: Json | undefined, field: string,
): void {
  const number = typeof value === 'bigint' || (typeof value === 'string' && DECIMAL.test(value))
    ? Number(value) : value;
  // Adding 0 turns -0 into 0.
  if (typeof number === 'number' && Number.isFinite(number) && (number >= 0 || SIGNED.has(field)))
    values[name] = number + 0;
}
