import { z } from 'zod';
import { messageOf } from '../../core/errors.ts';
import type { Json } from '../../core/json.ts';
import type { Millis } from '../../core/time.ts';
import type { TokenStatName, TokenStats } from '../../market/token-stats.ts';
import { STATS_WINDOWS, TOKEN_FIELDS, WINDOW_FIELDS } from '../../market/token-stats.ts';
import type { Mint } from '../../market/token.ts';
import { optional, wireAddress, wireInstant, wireMint, wireText } from './fields.ts';
import { malformed, readWire } from './read.ts';

/** What the service found out about a token; a member that is absent is not known, which is not the same as safe. */
export interface TokenAudit {
  readonly isSus?: boolean | undefined;
  readonly mintAuthorityDisabled?: boolean | undefined;
  readonly freezeAuthorityDisabled?: boolean | undefined;
  /** Percent, 0 to 100. */
  readonly topHoldersPercentage?: number | undefined;
  readonly devBalancePercentage?: number | undefined;
  readonly devMints?: number | undefined;
}

/** A token as the service describes it. Its texts are the token's own claims: hostile until printed through `printable`. */
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
  /** Undefined where the service does not say, which is how it says no. */
  readonly isVerified?: boolean | undefined;
  readonly tags: readonly string[];
  /** Percent per year of the lending product, where the token is listed in it. */
  readonly platformEarn?: number | undefined;
  /** All its numbers; one that is missing or cannot be is absent. */
  readonly values: TokenStats['values'];
}

/** The records of an answer, and the elements that could not be read as one: they spoil nothing but themselves. */
export interface TokenRecords {
  readonly records: readonly TokenRecord[];
  readonly rejected: readonly { readonly id: string | undefined; readonly message: string }[];
}

const WHAT = 'token record';

/** Decoration must not make a token unreadable: what has the wrong form is not known. */
const lenientText = optional(wireText).catch(undefined);
const lenientInstant = optional(wireInstant).catch(undefined);
const lenientFlag = optional(z.boolean()).catch(undefined);
const lenientNumber = optional(z.number()).catch(undefined);

const WireToken = z.object({
  id: wireMint,
  symbol: wireText,
  name: wireText,
  decimals: z.int().min(0).max(255),
  tokenProgram: optional(wireAddress),
  mintAuthority: optional(wireAddress),
  freezeAuthority: optional(wireAddress),
  dev: lenientText,
  icon: lenientText,
  twitter: lenientText,
  telegram: lenientText,
  website: lenientText,
  discord: lenientText,
  instagram: lenientText,
  tiktok: lenientText,
  otherUrl: lenientText,
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
  tags: optional(z.array(wireText).max(100)).catch(undefined),
  apy: optional(z.object({ platformEarn: lenientNumber })).catch(undefined),
});

/** Returns the tokens in an answer of the search. Throws SERVICE_MALFORMED unless it is a list. */
export function readTokenRecords(answer: Json): TokenRecords {
  if (!Array.isArray(answer)) throw malformed('token search: expected a list of records', answer);
  const records: TokenRecord[] = [];
  const rejected: { id: string | undefined; message: string }[] = [];
  for (const element of answer as readonly Json[]) {
    try {
      records.push(readTokenRecord(element));
    } catch (thrown) {
      const id = membersOf(element)['id'];
      rejected.push({ id: typeof id === 'string' ? id.slice(0, 44) : undefined, message: messageOf(thrown) });
    }
  }
  return { records, rejected };
}

/** Returns one token. Throws SERVICE_MALFORMED. */
export function readTokenRecord(element: Json): TokenRecord {
  const { apy, audit, tags, ...record } = readWire(WireToken, element, WHAT);
  return { ...record, audit: audit ?? {}, tags: tags ?? [], platformEarn: apy?.platformEarn, values: readValues(element) };
}

/** By hand rather than by schema: these are sixty numbers for each of a hundred tokens in every poll. */
function readValues(element: Json): TokenStats['values'] {
  const token = membersOf(element);
  const values: { [name in TokenStatName]?: number } = {};
  for (const field of TOKEN_FIELDS) keep(values, field, token[field], field);
  for (const window of STATS_WINDOWS) {
    const stats = membersOf(token[`stats${window}`]);
    for (const field of WINDOW_FIELDS) keep(values, `${window}.${field}`, stats[field], field);
  }
  return values;
}

/** What may be below zero; everything else counts or values something, and a negative one is no number to act on. */
const SIGNED: ReadonlySet<string> = new Set(['priceChange', 'holderChange', 'liquidityChange', 'volumeChange', 'numNetBuyers']);

function keep(values: { [name in TokenStatName]?: number }, name: TokenStatName, value: Json | undefined, field: string): void {
  const number = typeof value === 'bigint' ? Number(value) : value;
  if (typeof number === 'number' && Number.isFinite(number) && (number >= 0 || SIGNED.has(field))) values[name] = number;
}

function membersOf(value: Json | undefined): { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as { readonly [key: string]: Json }) : {};
}
