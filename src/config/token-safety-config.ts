import { z } from 'zod';
import type { Bps } from '../core/amount.ts';
import type { Millis } from '../core/time.ts';
import { parseDuration } from '../core/time.ts';
import type { Mint } from '../market/token.ts';
import { SOL_MINT, USDC_MINT } from '../market/token.ts';
import type { DiscoveredLimits, TokenSafetyLimits } from '../trading/limits.ts';
import type { ProblemList } from './config-issue.ts';
import type { AmountReader } from './resolve-tokens.ts';
import { amount, bps, duration } from './schema-fields.ts';
import { parseValue, writeValue, type ValueRecord } from './value-record.ts';

/** Extensions that give an issuer power over a holder, or hide transfers; all others are always allowed. */
const POWERFUL_EXTENSIONS = [
  'transfer_fee', 'transfer_hook', 'permanent_delegate', 'default_account_state', 'non_transferable', 'pausable',
  'confidential_transfer', 'confidential_transfer_fee', 'confidential_mint_burn',
] as const;

/** The section "token_safety" of "risk". */
export const tokenSafety = z.strictObject({
  enabled: z.boolean().default(true)
    .meta({ description: 'false: every token that a strategy names is bought, a fraudulent one too.' }),
  trusted: z.array(z.string().min(1)).optional()
    .meta({
      description: 'Tokens of this file that are not checked: their issuer is trusted. Left out, SOL and USDC.',
      examples: [['SOL', 'USDC']],
    }),
  min_liquidity_usd: z.number().min(0).default(100_000).meta({ description: 'The least liquidity, in US dollars.' }),
  min_organic_score: z.number().min(0).max(100).default(50).meta({ description: 'The least organic score, 0 to 100.' }),
  min_holders: z.int().min(0).default(1_000).meta({ description: 'The least number of holders.' }),
  max_top_holders_pct: z.number().min(0).max(100).default(50)
    .meta({ description: 'The most that its largest holders may own together, in percent.' }),
  max_transfer_fee_bps: bps().default(0)
    .meta({ description: 'The most that the token itself may keep of a transfer, in hundredths of a percent.' }),
  allowed_extensions: z.array(z.enum(POWERFUL_EXTENSIONS)).default([])
    .meta({
      description: 'Extensions of a Token-2022 mint that are allowed beside the harmless ones, whatever they allow '
        + 'their issuer.',
      examples: [['transfer_fee']],
    }),
  valid_for: duration('10m').default('10m').meta({ description: 'How long the check of a token holds.' }),
}, { error: ({ code }) => (code === 'invalid_type' ? 'expected a mapping such as { enabled: false }' : undefined) })
  .meta({
  description: 'What a token must be to be bought. An unknown property counts as bad; a sale is always allowed.',
});

/** Returns the conditions for buying a token; undefined where they are switched off. */
export function resolveTokenSafety(
  section: z.output<typeof tokenSafety>,
  { amounts, problems }: { readonly amounts: AmountReader; readonly problems: ProblemList },
): TokenSafetyLimits | undefined {
  const trusted = new Set<Mint>(section.trusted === undefined ? [SOL_MINT, USDC_MINT] : []);
  for (const [index, alias] of (section.trusted ?? []).entries()) {
    const path = ['risk', 'token_safety', 'trusted', index];
    const token = amounts.token(path, alias, 'value');
    if (token === undefined) continue;
    if (trusted.has(token.mint))
      problems.add(path, `expected each token once, but ${token.symbol} stands further up already`);
    trusted.add(token.mint);
  }
  if (!section.enabled) return undefined;
  return {
    trusted,
    minLiquidityUsd: section.min_liquidity_usd,
    minOrganicScore: section.min_organic_score,
    minHolders: section.min_holders,
    maxTopHoldersPct: section.max_top_holders_pct,
    maxTransferFeeBps: section.max_transfer_fee_bps as Bps,
    allowedExtensions: new Set(section.allowed_extensions.map((name) => name.replaceAll('_', '-'))),
    validForMs: parseDuration(section.valid_for),
  };
}

/** The conditions in a record. */
export interface TokenSafetyRecord {
  readonly trusted: readonly string[];
  readonly min_liquidity_usd: number;
  readonly min_organic_score: number;
  readonly min_holders: number;
  readonly max_top_holders_pct: number;
  readonly max_transfer_fee_bps: number;
  readonly allowed_extensions: readonly string[];
  readonly valid_for_ms: Millis;
}

/** Returns the conditions as plain data. */
export function recordTokenSafety(safety: TokenSafetyLimits): TokenSafetyRecord {
  return {
    trusted: [...safety.trusted],
    min_liquidity_usd: safety.minLiquidityUsd, min_organic_score: safety.minOrganicScore,
    min_holders: safety.minHolders,
    max_top_holders_pct: safety.maxTopHoldersPct, max_transfer_fee_bps: safety.maxTransferFeeBps,
    allowed_extensions: [...safety.allowedExtensions], valid_for_ms: safety.validForMs,
  };
}

/** Returns the conditions of a record: the inverse of `recordTokenSafety`. */
export function readTokenSafety(record: TokenSafetyRecord | null): TokenSafetyLimits | undefined {
  if (record === null) return undefined;
  return {
    trusted: new Set(record.trusted as readonly Mint[]),
    minLiquidityUsd: record.min_liquidity_usd, minOrganicScore: record.min_organic_score,
    minHolders: record.min_holders,
    maxTopHoldersPct: record.max_top_holders_pct, maxTransferFeeBps: record.max_transfer_fee_bps as Bps,
    allowedExtensions: new Set(record.allowed_extensions), validForMs: record.valid_for_ms,
  };
}

/** The section "discovered_tokens" of "risk". */
export const discoveredTokens = z.strictObject({
  per_token: amount('50 USDC').meta({ description: 'The most that holdings of one such token may have cost.' }),
  total: amount('200 USDC').meta({ description: 'The most that holdings of all such tokens may have cost.' }),
  min_age: duration('1d').default('1d').meta({ description: 'The least time since the first pool of such a token.' }),
  verified: z.boolean().default(true).meta({ description: 'Whether the service must call such a token verified.' }),
}).meta({
  description: 'Allows strategies to buy tokens that this file does not name, after the checks of token_safety, which '
    + 'must be enabled. Left out, they are not bought.',
});

/** Returns the limits of tokens that are not configured; undefined where they are not bought. */
export function resolveDiscovered(
  section: z.output<typeof discoveredTokens> | undefined, safety: TokenSafetyLimits | undefined,
  { amounts, problems }: { readonly amounts: AmountReader; readonly problems: ProblemList },
): DiscoveredLimits | undefined {
  if (section === undefined) return undefined;
  const path = ['risk', 'discovered_tokens'];
  if (safety === undefined)
    problems.add(path, 'expected "token_safety" to be enabled: a token that is not named is never bought unchecked');
  const perToken = amounts.limit([...path, 'per_token'], section.per_token);
  const total = amounts.limit([...path, 'total'], section.total);
  if (perToken === undefined || total === undefined) return undefined;
  return { perToken, total, minAgeMs: parseDuration(section.min_age), mustBeVerified: section.verified };
}

/** The limits in a record. */
export interface DiscoveredRecord {
  readonly per_token: ValueRecord;
  readonly total: ValueRecord;
  readonly min_age_ms: Millis;
  readonly verified: boolean;
}

/** Returns the limits as plain data. */
export function recordDiscovered(limits: DiscoveredLimits): DiscoveredRecord {
  const { perToken, total, minAgeMs, mustBeVerified } = limits;
  return {
    per_token: writeValue(perToken), total: writeValue(total), min_age_ms: minAgeMs, verified: mustBeVerified,
  };
}

/** Returns the limits of a record: the inverse of `recordDiscovered`. */
export function readDiscovered(record: DiscoveredRecord | undefined): DiscoveredLimits | undefined {
  return record === undefined ? undefined : {
    perToken: parseValue(record.per_token), total: parseValue(record.total), minAgeMs: record.min_age_ms,
    mustBeVerified: record.verified,
  };
}
