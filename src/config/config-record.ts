import type { Amount, Bps, Lamports } from '../core/amount.ts';
import { parseRaw } from '../core/amount.ts';
import type { Millis } from '../core/time.ts';
import { formatDuration } from '../core/time.ts';
import type { Mint, Token } from '../market/token.ts';
import type {
  Protection, ProtectionTrigger, RiskLimits, SpendCap, TokenSafetyLimits, ValueLimit,
} from '../trading/limits.ts';
import type { FillQuoteAge, Latency, LatencySource, SimulationModel } from '../trading/simulation-model.ts';
import { TIMES_INTERVAL } from '../trading/simulation-model.ts';
import type { PlainValue } from './config-tree.ts';
import type { KeySource, RunConfig, SignerConfig } from './run-config.ts';
import { latencyText } from './schema-backtest.ts';
import { urlOrigin } from './schema-fields.ts';

/** The signer's section in a record; caps by mint, smallest units as text. */
interface SignerRecord {
  readonly programs: readonly string[];
  readonly destinations: readonly string[];
  readonly caps: Readonly<Record<string, CapRecord>>;
}

/** A configuration as a run's manifest keeps it. */
export interface ConfigRecord {
  readonly file: string;
  readonly mode: RunConfig['mode'];
  readonly service: {
    readonly base_url: string; readonly api_key: 'none' | 'set'; readonly dialect: string; readonly plan: string | null;
    readonly requests_per_second: number;
  };
  readonly chain: { readonly rpc_url: string; readonly commitment: string };
  readonly wallet: { readonly key_from: string | null; readonly address: string | null; readonly sol_reserve: string };
  readonly signer: SignerRecord;
  readonly seed: number;
  readonly backtest: {
    readonly balances: Readonly<Record<string, string>>; readonly simulation?: Readonly<Record<string, PlainValue>>;
  };
  readonly tokens: readonly Token[];
  readonly limits: LimitsRecord;
  readonly strategies: readonly {
    readonly name: string; readonly use: string; readonly params: PlainValue; readonly budget: ValueRecord | null;
    readonly max_age_ms: Millis | null;
    /** Absent, like what follows, in the manifests of older runs. */
    readonly max_exposure?: ValueRecord | null;
    readonly warmup_ms?: Millis | null;
    readonly by_hand?: boolean;
  }[];
  readonly recording: RunConfig['recording'];
  readonly control: Omit<RunConfig['control'], 'isPortGiven'>;
}

/** An amount of a token in a record, smallest units as text. */
interface ValueRecord {
  readonly mint: string;
  readonly amount: string;
}

/** The signer's caps of one token, smallest units as text. */
interface CapRecord {
  readonly per_trade: string | null;
  readonly per_hour: string | null;
  readonly per_day: string | null;
}

/** Limits in a record. Optional members are absent in the manifests of older runs. */
interface LimitsRecord {
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

/**
 * Returns a configuration as plain data for a run's manifest: enough to say what the run was and to read its strategies
 * again, and no secret. Amounts are smallest units as text; of addresses with secrets in them, the origin.
 */
export function redactedConfig(config: RunConfig): ConfigRecord {
  const { service, wallet, backtest } = config;
  return {
    file: config.file,
    mode: config.mode,
    service: {
      base_url: urlOrigin(service.baseUrl), api_key: service.apiKey === undefined ? 'none' : 'set',
      dialect: service.dialect,
      plan: typeof service.plan === 'string' ? service.plan : null, requests_per_second: service.requestsPerSecond,
    },
    chain: { rpc_url: urlOrigin(config.chain.rpcUrl), commitment: config.chain.commitment },
    wallet: {
      key_from: keyFromText(wallet.keyFrom), address: wallet.address ?? null, sol_reserve: wallet.solReserve.toString(),
    },
    signer: recordSigner(config.signer),
    seed: config.seed,
    backtest: {
      balances: Object.fromEntries([...backtest.balances].map(([mint, value]) => [mint, value.toString()])),
      simulation: recordSimulation(backtest.model),
    },
    tokens: config.tokens.all.map(({ symbol, mint, decimals }) => ({ symbol, mint, decimals })),
    limits: recordLimits(config.limits),
    strategies: config.strategies.map((
      { name, use, recordedUse = use, rawParams, budget, maxAgeMs, maxExposure, warmupMs, isManual = false },
    ) => ({
      name, use: recordedUse, params: rawParams, budget: recordValue(budget), max_age_ms: maxAgeMs ?? null,
      max_exposure: recordValue(maxExposure), warmup_ms: warmupMs ?? null, by_hand: isManual,
    })),
    recording: { ...config.recording },
    control: { enabled: config.control.enabled, host: config.control.host, port: config.control.port },
  };
}

function recordSigner({ programs, destinations, caps }: SignerConfig): SignerRecord {
  return {
    programs, destinations,
    caps: recordCaps(caps),
  };
}

function keyFromText(source: KeySource | undefined): string | null {
  if (source === undefined) return null;
  return source.kind === 'env' ? `env:${source.name}` : `file:${source.path}`;
}

/** A protection in a record. */
type ProtectionRecord = Omit<Protection, 'trigger'> & { readonly trigger: TriggerRecord };
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
function recordCaps(caps: ReadonlyMap<Mint, SpendCap>): Record<string, CapRecord> {
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

/**
 * Returns how swaps are simulated as plain data for a manifest; amounts as text, latencies as they are written in a
 * file.
 */
export function recordSimulation(
  model: SimulationModel<Latency | LatencySource>,
): Readonly<Record<string, PlainValue>> {
  const { latency, ownImpact, landing, costs } = model;
  return {
    setting: model.setting,
    latency: { quote: latencyText(latency.quote), sign: latencyText(latency.sign), land: latencyText(latency.land) },
    extrapolate: model.extrapolate,
    other_side_haircut_bps: model.otherSideHaircutBps,
    max_price_age_ms: model.maxPriceAgeMs,
    max_quote_age: fillAgeText(model.fillQuoteAge),
    own_impact: { share: ownImpact.share, decay_ms: ownImpact.decayMs },
    landing: {
      adverse_bps: landing.adverseBps, drop_probability: landing.dropProbability,
      unknown_probability: landing.unknownProbability, expiry_ms: landing.expiryMs, last_look_bps: landing.lastLookBps,
    },
    costs: {
      signatures: costs.signatures, compute_units: costs.computeUnitLimit,
      micro_lamports_per_unit: costs.microLamportsPerUnit.toString(), tip_lamports: costs.tipLamports.toString(),
      platform_fee_bps: costs.platformFeeBps, platform_fee_in: costs.platformFeeIn,
    },
    transfer_fees: Object.fromEntries([...model.transferFees].map(([mint, { bps, maximum }]) =>
      [mint, { bps, maximum: maximum.toString() }])),
  };
}

/** Returns how old a quote may be that fills a swap, in words. */
export function fillAgeText({ maxMs, leastMs }: FillQuoteAge): string {
  return maxMs === undefined ? `${TIMES_INTERVAL} times the recorded interval (at least ${formatDuration(leastMs)})`
    : formatDuration(maxMs);
}
