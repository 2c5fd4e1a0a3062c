import { z } from 'zod';
import type { Amount, Bps } from '../core/amount.ts';
import type { Millis } from '../core/time.ts';
import { parseDuration } from '../core/time.ts';
import type { Mint } from '../market/token.ts';
import type { RiskLimits, ValueLimit } from '../trading/limits.ts';
import type { ProblemList } from './config-issue.ts';
import {
  protectionSchema, readProtection, recordProtection, resolveProtections, type ProtectionEntry, type ProtectionRecord,
} from './protection-config.ts';
import type { AmountReader } from './resolve-tokens.ts';
import { amount, bps, duration } from './schema-fields.ts';
import {
  discoveredTokens, readDiscovered, readTokenSafety, recordDiscovered, recordTokenSafety, resolveDiscovered,
  resolveTokenSafety, tokenSafety, type DiscoveredRecord, type TokenSafetyRecord,
} from './token-safety-config.ts';
import {
  parseValue, readCap, readValue, recordCaps, recordValue, writeValue, type CapRecord, type ValueRecord,
} from './value-record.ts';

const maxSwaps = z.strictObject({
  per_minute: z.int().min(1).default(6),
  per_hour: z.int().min(1).default(60),
  per_day: z.int().min(1).default(300),
}).meta({ description: 'How many swaps all strategies together may begin.' });

/** The section "risk". */
export const riskSchema = z.strictObject({
  max_slippage_bps: bps().default(50)
    .meta({ description: 'The most slippage a swap may be given, in hundredths of a percent.' }),
  max_price_impact_bps: bps().default(100).meta({ description: 'The most that a swap may move the price.' }),
  max_fee_bps: bps().default(30).meta({ description: 'The most that the service may take of a swap.' }),
  max_trade: amount('200 USDC').optional().meta({ description: 'The largest single swap, by value.' }),
  max_position: z.record(z.string(), amount('1000 USDC')).default({})
    .meta({ description: 'The largest holding of a token, by value: { SOL: "1000 USDC" }.' }),
  max_exposure: amount('3000 USDC').optional()
    .meta({ description: 'What all positions together may be worth, with what is under way and reserved.' }),
  max_open_intents: z.int().min(1).max(100).default(1)
    .meta({ description: 'How many swaps may be under way at once.' }),
  max_swaps: maxSwaps.prefault({}),
  max_watches: z.int().min(0).max(1_000).default(20)
    .meta({ description: 'How many feeds one strategy may watch at once with ctx.watch, beside its inputs.' }),
  max_fees_per_day: amount('0.05 SOL').optional()
    .meta({ description: 'Network fees of a day, UTC, after which nothing is entered: the short form of a fee_budget '
      + 'among the protections.' }),
  max_quote_age: duration('2s').optional()
    .meta({ description: 'How old the newest price of a pair may be for an entry, and the quote that is signed.' }),
  max_quote_age_slots: z.int().min(1).max(1_000_000).optional()
    .meta({ description: 'How many slots behind the chain a quote may be that is signed.', examples: [10] }),
  max_value_age: duration('2h').optional()
    .meta({
      description: 'How old a price may be with which something is held against a limit on its value. Left out, 2h.',
    }),
  protections: z.array(protectionSchema).optional()
    .meta({ description:
      'What stops trading when it goes wrong. Left out, a set of sensible ones; [] means none, on purpose.' }),
  token_safety: tokenSafety.prefault({}),
  discovered_tokens: discoveredTokens.optional(),
}).meta({ description: 'What no strategy may exceed.' });
type RiskSection = z.output<typeof riskSchema>;

interface LimitScope {
  readonly amounts: AmountReader;
  readonly problems: ProblemList;
  readonly solReserve: Amount;
  readonly caps: RiskLimits['caps'];
  /** At their place in the file, undefined where one is faulty; undefined where there is no list. */
  readonly protections: readonly (ProtectionEntry | undefined)[] | undefined;
}

/** Returns what no strategy may exceed. */
export function resolveLimits(risk: RiskSection, scope: LimitScope): RiskLimits {
  const { amounts } = scope;
  const maxPosition = new Map<Mint, ValueLimit>();
  for (const [alias, text] of Object.entries(risk.max_position)) {
    const path = ['risk', 'max_position', alias];
    const token = amounts.token(path, alias, 'key');
    const limit = amounts.limit(path, text);
    if (token !== undefined && limit !== undefined) maxPosition.set(token.mint, limit);
  }
  const safety = resolveTokenSafety(risk.token_safety, scope);
  return {
    maxSlippageBps: risk.max_slippage_bps as Bps,
    maxPriceImpactBps: risk.max_price_impact_bps as Bps,
    maxFeeBps: risk.max_fee_bps as Bps,
    maxTrade: amounts.limit(['risk', 'max_trade'], risk.max_trade),
    caps: scope.caps,
    maxPosition,
    maxExposure: amounts.limit(['risk', 'max_exposure'], risk.max_exposure),
    maxOpenIntents: risk.max_open_intents,
    maxSwaps: {
      perMinute: risk.max_swaps.per_minute, perHour: risk.max_swaps.per_hour, perDay: risk.max_swaps.per_day,
    },
    maxWatches: risk.max_watches,
    maxQuoteAgeMs: risk.max_quote_age === undefined ? undefined : parseDuration(risk.max_quote_age),
    maxValueAgeMs: risk.max_value_age === undefined ? undefined : parseDuration(risk.max_value_age),
    maxQuoteAgeSlots: risk.max_quote_age_slots,
    solReserve: scope.solReserve,
    protections: resolveProtections(scope.protections, risk.max_fees_per_day, scope),
    tokenSafety: safety,
    discovered: resolveDiscovered(risk.discovered_tokens, safety, scope),
  };
}

/** Limits in a record. Optional members are absent in the manifests of older runs. */
export interface LimitsRecord {
  readonly max_slippage_bps: number;
  readonly max_price_impact_bps: number;
  readonly max_fee_bps: number;
  readonly max_trade: ValueRecord | null;
  /** By mint. */
  readonly caps?: Readonly<Record<string, CapRecord>>;
  readonly max_position: Readonly<Record<string, ValueRecord>>;
  readonly max_exposure?: ValueRecord | null;
  readonly max_open_intents: number;
  readonly max_swaps: { readonly per_minute: number | null; readonly per_hour: number | null; readonly per_day: number
    | null };
  readonly max_watches?: number;
  readonly max_quote_age_ms?: Millis | null;
  readonly max_quote_age_slots?: number | null;
  readonly max_value_age_ms?: Millis | null;
  readonly sol_reserve: string;
  readonly protections?: readonly ProtectionRecord[];
  readonly token_safety?: TokenSafetyRecord | null;
  readonly discovered_tokens?: DiscoveredRecord;
}

/** Returns limits as plain data. */
export function recordLimits(limits: RiskLimits): LimitsRecord {
  const { perMinute, perHour, perDay } = limits.maxSwaps;
  return {
    max_slippage_bps: limits.maxSlippageBps, max_price_impact_bps: limits.maxPriceImpactBps,
    max_fee_bps: limits.maxFeeBps,
    max_trade: recordValue(limits.maxTrade),
    caps: recordCaps(limits.caps ?? new Map()),
    max_position: Object.fromEntries([...limits.maxPosition].map(([mint, limit]) => [mint, writeValue(limit)])),
    max_exposure: recordValue(limits.maxExposure),
    max_open_intents: limits.maxOpenIntents,
    max_swaps: { per_minute: perMinute ?? null, per_hour: perHour ?? null, per_day: perDay ?? null },
    ...(limits.maxWatches === undefined ? {} : { max_watches: limits.maxWatches }),
    max_quote_age_ms: limits.maxQuoteAgeMs ?? null,
    max_quote_age_slots: limits.maxQuoteAgeSlots ?? null,
    max_value_age_ms: limits.maxValueAgeMs ?? null,
    sol_reserve: limits.solReserve.toString(),
    protections: (limits.protections ?? []).map(recordProtection),
    token_safety: limits.tokenSafety === undefined ? null : recordTokenSafety(limits.tokenSafety),
    ...(limits.discovered === undefined ? {} : { discovered_tokens: recordDiscovered(limits.discovered) }),
  };
}

/** Returns the limits of a record: the inverse of `recordLimits`. */
export function readLimits(record: LimitsRecord): RiskLimits {
  const { per_minute: perMinute, per_hour: perHour, per_day: perDay } = record.max_swaps;
  return {
    maxSlippageBps: record.max_slippage_bps as Bps,
    maxPriceImpactBps: record.max_price_impact_bps as Bps,
    maxFeeBps: record.max_fee_bps as Bps,
    maxTrade: readValue(record.max_trade),
    caps: new Map(Object.entries(record.caps ?? {}).map(([mint, cap]) => [mint as Mint, readCap(cap)])),
    maxPosition: new Map(Object.entries(record.max_position).map(([mint, limit]) => [mint as Mint, parseValue(limit)])),
    maxExposure: readValue(record.max_exposure ?? null),
    maxOpenIntents: record.max_open_intents,
    maxSwaps: { perMinute: perMinute ?? undefined, perHour: perHour ?? undefined, perDay: perDay ?? undefined },
    maxWatches: record.max_watches,
    maxQuoteAgeMs: record.max_quote_age_ms ?? undefined,
    maxQuoteAgeSlots: record.max_quote_age_slots ?? undefined,
    maxValueAgeMs: record.max_value_age_ms ?? undefined,
    solReserve: BigInt(record.sol_reserve) as Amount,
    protections: (record.protections ?? []).map(readProtection),
    tokenSafety: readTokenSafety(record.token_safety ?? null),
    discovered: readDiscovered(record.discovered_tokens),
  };
}
