import type { Amount, Bps } from '../core/amount.ts';
import { parseRaw } from '../core/amount.ts';
import type { Millis } from '../core/time.ts';
import type { Mint, Token } from '../market/token.ts';
import type { RiskLimits, ValueLimit } from '../trading/limits.ts';
import { urlOrigin } from './address.ts';
import type { PlainValue } from './node.ts';
import type { KeySource, RunConfig } from './run-config.ts';

/** An amount of a token in a record, smallest units as text. */
export interface ValueRecord {
  readonly mint: string;
  readonly amount: string;
}

/** Limits in a record. */
export interface LimitsRecord {
  readonly max_slippage_bps: number;
  readonly max_price_impact_bps: number;
  readonly max_fee_bps: number;
  readonly max_trade: ValueRecord | null;
  readonly max_position: Readonly<Record<string, ValueRecord>>;
  readonly max_open_intents: number;
  readonly max_swaps: { readonly per_minute: number | null; readonly per_hour: number | null; readonly per_day: number | null };
  readonly sol_reserve: string;
}

/** A configuration as a run's manifest keeps it. */
export interface ConfigRecord {
  readonly file: string;
  readonly mode: RunConfig['mode'];
  readonly service: { readonly base_url: string; readonly api_key: 'none' | 'set'; readonly dialect: string; readonly plan: string | null; readonly requests_per_second: number };
  readonly chain: { readonly rpc_url: string; readonly commitment: string };
  readonly wallet: { readonly key_from: string | null; readonly address: string | null; readonly sol_reserve: string };
  readonly seed: number;
  readonly backtest: { readonly balances: Readonly<Record<string, string>>; readonly quote_latency_ms: Millis; readonly land_latency_ms: Millis; readonly setting: string };
  readonly tokens: readonly Token[];
  readonly limits: LimitsRecord;
  readonly strategies: readonly {
    readonly name: string; readonly use: string; readonly params: PlainValue; readonly budget: ValueRecord | null; readonly max_age_ms: Millis | null;
  }[];
  readonly recording: RunConfig['recording'];
  readonly control: RunConfig['control'];
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
      base_url: urlOrigin(service.baseUrl), api_key: service.apiKey === undefined ? 'none' : 'set', dialect: service.dialect,
      plan: typeof service.plan === 'string' ? service.plan : null, requests_per_second: service.requestsPerSecond,
    },
    chain: { rpc_url: urlOrigin(config.chain.rpcUrl), commitment: config.chain.commitment },
    wallet: { key_from: keyFromText(wallet.keyFrom), address: wallet.address ?? null, sol_reserve: wallet.solReserve.toString() },
    seed: config.seed,
    backtest: {
      balances: Object.fromEntries([...backtest.balances].map(([mint, value]) => [mint, value.toString()])),
      quote_latency_ms: backtest.quoteLatencyMs, land_latency_ms: backtest.landLatencyMs, setting: backtest.setting,
    },
    tokens: config.tokens.all.map(({ symbol, mint, decimals }) => ({ symbol, mint, decimals })),
    limits: recordLimits(config.limits),
    strategies: config.strategies.map(({ name, use, rawParams, budget, maxAgeMs }) => ({
      name, use, params: rawParams, budget: recordValue(budget), max_age_ms: maxAgeMs ?? null,
    })),
    recording: { ...config.recording },
    control: { ...config.control },
  };
}

/** Returns the limits of a record: the inverse of how they were written. */
export function readLimits(record: LimitsRecord): RiskLimits {
  const { per_minute: perMinute, per_hour: perHour, per_day: perDay } = record.max_swaps;
  return {
    maxSlippageBps: record.max_slippage_bps as Bps,
    maxPriceImpactBps: record.max_price_impact_bps as Bps,
    maxFeeBps: record.max_fee_bps as Bps,
    maxTrade: readValue(record.max_trade),
    maxPosition: new Map(Object.entries(record.max_position).map(([mint, limit]) => [mint as Mint, readValue(limit)!])),
    maxOpenIntents: record.max_open_intents,
    maxSwaps: { perMinute: perMinute ?? undefined, perHour: perHour ?? undefined, perDay: perDay ?? undefined },
    solReserve: BigInt(record.sol_reserve) as Amount,
  };
}

/** Returns the amount of a record. */
export function readValue(record: ValueRecord | null): ValueLimit | undefined {
  return record === null ? undefined : { mint: record.mint as Mint, amount: parseRaw(record.amount) };
}

function recordLimits(limits: RiskLimits): LimitsRecord {
  const { perMinute, perHour, perDay } = limits.maxSwaps;
  return {
    max_slippage_bps: limits.maxSlippageBps, max_price_impact_bps: limits.maxPriceImpactBps, max_fee_bps: limits.maxFeeBps,
    max_trade: recordValue(limits.maxTrade),
    max_position: Object.fromEntries([...limits.maxPosition].map(([mint, { mint: currency, amount }]) => [mint, { mint: currency, amount: amount.toString() }])),
    max_open_intents: limits.maxOpenIntents,
    max_swaps: { per_minute: perMinute ?? null, per_hour: perHour ?? null, per_day: perDay ?? null },
    sol_reserve: limits.solReserve.toString(),
  };
}

function recordValue(limit: ValueLimit | undefined): ValueRecord | null {
  return limit === undefined ? null : { mint: limit.mint, amount: limit.amount.toString() };
}

function keyFromText(source: KeySource | undefined): string | null {
  if (source === undefined) return null;
  return source.kind === 'env' ? `env:${source.name}` : `file:${source.path}`;
}
