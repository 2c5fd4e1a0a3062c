import type { Amount, Bps, Lamports } from '../core/amount.ts';
import { parseRaw } from '../core/amount.ts';
import type { Millis } from '../core/time.ts';
import type { Mint } from '../market/token.ts';
import type { RiskLimits, SpendCap, TokenSafetyLimits, ValueLimit } from '../trading/limits.ts';
import type { Protection, ProtectionTrigger } from '../trading/protection.ts';

/** An amount of a token in a record, smallest units as text. */
export interface ValueRecord {
  readonly mint: string;
  readonly amount: string;
}

/** The signer's caps of one token, smallest units as text. */
export interface CapRecord {
  readonly per_trade: string | null;
  readonly per_hour: string | null;
  readonly per_day: string | null;
}

/** Limits in a record. What is optional is absent in the manifests of older runs, which knew nothing of it. */
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
  readonly max_quote_age_ms?: Millis | null;
  readonly max_quote_age_slots?: number | null;
  readonly max_value_age_ms?: Millis | null;
  readonly sol_reserve: string;
  readonly protections?: readonly ProtectionRecord[];
  readonly token_safety?: TokenSafetyRecord | null;
}

/** A protection in a record. */
export type ProtectionRecord = Omit<Protection, 'trigger'> & { readonly trigger: TriggerRecord };
type MoneyTrigger = Extract<ProtectionTrigger, { kind: 'daily-loss' | 'fee-budget' }>;
type TriggerRecord =
  | Exclude<ProtectionTrigger, MoneyTrigger>
  | { readonly kind: 'daily-loss'; readonly limit: ValueRecord }
  | { readonly kind: 'fee-budget'; readonly limitLamports: string };

interface TokenSafetyRecord {
  readonly trusted: readonly string[];
  readonly min_liquidity_usd: number;
  readonly min_organic_score: number;
  readonly min_holders: number;
  readonly max_top_holders_pct: number;
  readonly max_transfer_fee_bps: number;
  readonly allowed_extensions: readonly string[];
  readonly valid_for_ms: Millis;
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
    max_quote_age_ms: limits.maxQuoteAgeMs ?? null,
    max_quote_age_slots: limits.maxQuoteAgeSlots ?? null,
    max_value_age_ms: limits.maxValueAgeMs ?? null,
    sol_reserve: limits.solReserve.toString(),
    protections: (limits.protections ?? []).map(recordProtection),
    token_safety: limits.tokenSafety === undefined ? null : recordTokenSafety(limits.tokenSafety),
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
    maxQuoteAgeMs: record.max_quote_age_ms ?? undefined,
    maxQuoteAgeSlots: record.max_quote_age_slots ?? undefined,
    maxValueAgeMs: record.max_value_age_ms ?? undefined,
    solReserve: BigInt(record.sol_reserve) as Amount,
    protections: (record.protections ?? []).map(readProtection),
    tokenSafety: readTokenSafety(record.token_safety ?? null),
  };
}

/** Returns caps as plain data. */
export function recordCaps(caps: ReadonlyMap<Mint, SpendCap>): Record<string, CapRecord> {
  return Object.fromEntries([...caps].map(([mint, { perTrade, perHour, perDay }]) => [mint, {
    per_trade: perTrade?.toString() ?? null, per_hour: perHour?.toString() ?? null, per_day: perDay?.toString() ?? null,
  }]));
}

function readCap({ per_trade: perTrade, per_hour: perHour, per_day: perDay }: CapRecord): SpendCap {
  return { perTrade: readRaw(perTrade), perHour: readRaw(perHour), perDay: readRaw(perDay) };
}

function readRaw(text: string | null): Amount | undefined {
  return text === null ? undefined : parseRaw(text);
}

/** Returns the record of an amount. */
export function recordValue(limit: ValueLimit | undefined): ValueRecord | null {
  return limit === undefined ? null : writeValue(limit);
}

/** Returns the amount of a record. */
export function readValue(record: ValueRecord | null): ValueLimit | undefined {
  return record === null ? undefined : parseValue(record);
}

function writeValue({ mint, amount }: ValueLimit): ValueRecord {
  return { mint, amount: amount.toString() };
}

function parseValue({ mint, amount }: ValueRecord): ValueLimit {
  return { mint: mint as Mint, amount: parseRaw(amount) };
}

function recordProtection({ trigger, ...rest }: Protection): ProtectionRecord {
  if (trigger.kind === 'daily-loss')
    return { ...rest, trigger: { kind: trigger.kind, limit: writeValue(trigger.limit) } };
  if (trigger.kind === 'fee-budget')
    return { ...rest, trigger: { kind: trigger.kind, limitLamports: trigger.limitLamports.toString() } };
  return { ...rest, trigger };
}

function readProtection({ trigger, ...rest }: ProtectionRecord): Protection {
  if (trigger.kind === 'daily-loss')
    return { ...rest, trigger: { kind: trigger.kind, limit: parseValue(trigger.limit) } };
  if (trigger.kind === 'fee-budget')
    return { ...rest, trigger: { kind: trigger.kind, limitLamports: BigInt(trigger.limitLamports) as Lamports } };
  return { ...rest, trigger };
}

function recordTokenSafety(safety: TokenSafetyLimits): TokenSafetyRecord {
  return {
    trusted: [...safety.trusted],
    min_liquidity_usd: safety.minLiquidityUsd, min_organic_score: safety.minOrganicScore,
    min_holders: safety.minHolders,
    max_top_holders_pct: safety.maxTopHoldersPct, max_transfer_fee_bps: safety.maxTransferFeeBps,
    allowed_extensions: [...safety.allowedExtensions], valid_for_ms: safety.validForMs,
  };
}

function readTokenSafety(record: TokenSafetyRecord | null): TokenSafetyLimits | undefined {
  if (record === null) return undefined;
  return {
    trusted: new Set(record.trusted as readonly Mint[]),
    minLiquidityUsd: record.min_liquidity_usd, minOrganicScore: record.min_organic_score,
    minHolders: record.min_holders,
    maxTopHoldersPct: record.max_top_holders_pct, maxTransferFeeBps: record.max_transfer_fee_bps as Bps,
    allowedExtensions: new Set(record.allowed_extensions), validForMs: record.valid_for_ms,
  };
}
