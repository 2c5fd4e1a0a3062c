import type { Millis } from '../core/time.ts';
import { formatDuration } from '../core/time.ts';
import type { Token } from '../market/token.ts';
import type { FillQuoteAge, Latency, LatencySource, SimulationModel } from '../trading/simulation-model.ts';
import { TIMES_INTERVAL } from '../trading/simulation-model.ts';
import type { PlainValue } from './config-tree.ts';
import type { KeySource, RunConfig, SignerConfig } from './run-config.ts';
import { latencyText } from './schema-backtest.ts';
import { recordSwap, type SwapRecord } from './strategies/swap-options.ts';
import { recordLimits, type LimitsRecord } from './risk-limits.ts';
import { urlOrigin } from './schema-fields.ts';
import {
  recordCaps, recordExits, recordValue, type CapRecord, type ExitRecord, type ValueRecord,
} from './value-record.ts';

/** The signer's section in a record; caps by mint, smallest units as text. */
interface SignerRecord {
  readonly programs: readonly string[];
  readonly destinations: readonly string[];
  readonly caps: Readonly<Record<string, CapRecord>>;
  /** Absent in the manifests of older runs. */
  readonly price_guard?: {
    readonly max_deviation_bps: number; readonly quote_ttl_ms: Millis; readonly max_quotes_per_minute: number;
  };
  readonly max_tip_lamports?: string;
  readonly max_priority_fee_lamports?: string;
  /** Basis points by account. */
  readonly fee_accounts?: Readonly<Record<string, number>>;
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
    readonly swap?: SwapRecord | null;
    readonly by_hand?: boolean;
    readonly exits?: ExitRecord | null;
  }[];
  readonly recording: RunConfig['recording'];
  readonly control: Pick<RunConfig['control'], 'enabled' | 'host' | 'port'>;
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
      {
        name, use, recordedUse = use, rawParams, budget, maxAgeMs, maxExposure, exits, swap, warmupMs, isManual = false,
      },
    ) => ({
      name, use: recordedUse, params: rawParams, budget: recordValue(budget), max_age_ms: maxAgeMs ?? null,
      max_exposure: recordValue(maxExposure), warmup_ms: warmupMs ?? null,
      swap: recordSwap(swap), by_hand: isManual,
      ...(exits === undefined ? {} : { exits: recordExits(exits) }),
    })),
    recording: { ...config.recording },
    control: { enabled: config.control.enabled, host: config.control.host, port: config.control.port },
  };
}

function recordSigner({ programs, destinations, caps, priceGuard, allowances }: SignerConfig): SignerRecord {
  return {
    programs, destinations,
    caps: recordCaps(caps),
    price_guard: {
      max_deviation_bps: priceGuard.maxDeviationBps, quote_ttl_ms: priceGuard.quoteTtlMs,
      max_quotes_per_minute: priceGuard.maxQuotesPerMinute,
    },
    max_tip_lamports: allowances.maxTipLamports.toString(),
    max_priority_fee_lamports: allowances.maxPriorityFeeLamports.toString(),
    fee_accounts: Object.fromEntries(allowances.feeAccounts),
  };
}

function keyFromText(source: KeySource | undefined): string | null {
  if (source === undefined) return null;
  return source.kind === 'env' ? `env:${source.name}` : `file:${source.path}`;
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
