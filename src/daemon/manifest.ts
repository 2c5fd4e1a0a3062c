import type { RunConfig } from '../config/run-config.ts';
import { bps, parseRaw } from '../core/amount.ts';
import type { Amount } from '../core/amount.ts';
import type { Millis } from '../core/time.ts';
import type { Mint } from '../market/token.ts';
import type { RiskLimits, ValueLimit } from '../trading/limits.ts';
import type { Recovered } from './recover.ts';
import type { RunManifest } from './run-files.ts';
import { RUN_FORMAT } from './run-files.ts';

/** Returns the manifest of a run that begins. It holds no secret: none of what it is made of does. */
export function createManifest(run: {
  readonly config: RunConfig;
  readonly runId: string;
  readonly startAt: Millis;
  readonly recovered: Recovered;
  readonly recording: string | undefined;
}): Omit<RunManifest, 'strategies_started' | 'strategies_stopped' | 'ended'> {
  const { config, runId, startAt, recovered, recording } = run;
  return {
    format_version: RUN_FORMAT,
    run_id: runId,
    mode: config.mode,
    node: process.version,
    arch: process.arch,
    seed: config.seed,
    clock_start: startAt,
    tokens: config.tokens.all.map(({ mint, symbol, decimals }) => ({ mint, symbol, decimals })),
    limits: limitsToJson(config.limits),
    strategies: config.strategies.map(({ name, use, rawParams, budget, maxAgeMs }) => ({
      name, use, params: rawParams,
      budget: budget === undefined ? null : { mint: budget.mint, amount: budget.amount.toString() },
      max_age_ms: maxAgeMs ?? null,
    })),
    snapshot: recovered.snapshot,
    open_intents: recovered.open,
    recording: recording ?? null,
  };
}

/** Limits as a manifest keeps them. */
export interface LimitsJson {
  readonly max_slippage_bps: number;
  readonly max_price_impact_bps: number;
  readonly max_fee_bps: number;
  readonly max_trade: ValueLimitJson | null;
  readonly max_position: Readonly<Record<string, ValueLimitJson>>;
  readonly max_open_intents: number;
  readonly max_swaps: RiskLimits['maxSwaps'];
  readonly sol_reserve: string;
}

interface ValueLimitJson {
  readonly mint: string;
  readonly amount: string;
}

function limitsToJson(limits: RiskLimits): LimitsJson {
  return {
    max_slippage_bps: limits.maxSlippageBps,
    max_price_impact_bps: limits.maxPriceImpactBps,
    max_fee_bps: limits.maxFeeBps,
    max_trade: limits.maxTrade === undefined ? null : valueToJson(limits.maxTrade),
    max_position: Object.fromEntries([...limits.maxPosition].map(([mint, limit]) => [mint, valueToJson(limit)])),
    max_open_intents: limits.maxOpenIntents,
    max_swaps: limits.maxSwaps,
    sol_reserve: limits.solReserve.toString(),
  };
}

/** Returns the limits of a manifest: the inverse of how they were written. */
export function limitsFromJson(json: LimitsJson): RiskLimits {
  return {
    maxSlippageBps: bps(json.max_slippage_bps),
    maxPriceImpactBps: bps(json.max_price_impact_bps),
    maxFeeBps: bps(json.max_fee_bps),
    maxTrade: json.max_trade === null ? undefined : valueFromJson(json.max_trade),
    maxPosition: new Map(Object.entries(json.max_position).map(([mint, limit]) => [mint as Mint, valueFromJson(limit)])),
    maxOpenIntents: json.max_open_intents,
    maxSwaps: json.max_swaps,
    solReserve: BigInt(json.sol_reserve) as Amount,
  };
}

function valueToJson({ mint, amount }: ValueLimit): ValueLimitJson {
  return { mint, amount: amount.toString() };
}

function valueFromJson({ mint, amount }: ValueLimitJson): ValueLimit {
  return { mint: mint as Mint, amount: parseRaw(amount) };
}
