import { z } from 'zod';
import type { Json } from '../../core/json.ts';
import type { TokenStatName, TokenStats, WindowField } from '../../market/token-stats.ts';
import { STATS_WINDOWS, TOKEN_FIELDS, WINDOW_FIELDS } from '../../market/token-stats.ts';
import {
  decisive, lenientFlag, lenientInstant, lenientNumber, lenientProse, lenientText, lenientTexts, optional, wireAddress,
  wireInteger, wireMint, wireText,
} from './fields.ts';
import type { RecordKind, RecordReport, Records, ReportUnread } from './read.ts';
import { membersOf, readRecords, readWire } from './read.ts';
import type { TokenRecord, WindowStats } from '../../market/token-record.ts';

/** The tokens of an answer, and the elements that are none. */
export type TokenRecords = Records<TokenRecord>;

const WHAT = 'token record';

const WireToken = z.object({
  id: wireMint,
  symbol: wireText,
  name: wireText,
  decimals: wireInteger.refine((value) => value >= 0 && value <= 255, { error: 'expected 0 to 255 decimals' }),
  tokenProgram: optional(wireAddress),
  // None is good news: one that cannot be read must not pass for it.
  mintAuthority: decisive(wireAddress),
  freezeAuthority: decisive(wireAddress),
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
  firstPool: optional(z.object({ id: lenientText, createdAt: lenientInstant })),
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
  isVerified: lenientFlag,
  tags: lenientTexts,
  apy: optional(z.object({ platformEarn: lenientNumber })),
});

const TOKENS: RecordKind<TokenRecord> = { what: 'tokens', idMember: 'id', read: readTokenRecord };

/** Returns the tokens of an answer. Throws SERVICE_MALFORMED unless it is a list. */
export function readTokenRecords(answer: Json, unread?: ReportUnread): TokenRecords {
  return readRecords(TOKENS, answer, unread);
}

/** Returns one token. Throws SERVICE_MALFORMED. */
function readTokenRecord(element: Json, { unread }: RecordReport): TokenRecord {
  const { apy, audit, ...record } = readWire(WireToken, element, WHAT, unread);
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
