import type { Millis } from '../core/time.ts';
import type { Token } from '../market/token.ts';
import { urlOrigin } from './address.ts';
import type { CapRecord, LimitsRecord, ValueRecord } from './limits-record.ts';
import { recordCaps, recordLimits, recordValue } from './limits-record.ts';
import type { PlainValue } from './node.ts';
import { recordSimulation } from './simulation-record.ts';
import type { KeySource, RunConfig, SignerConfig } from './run-config.ts';

/** What the signer may sign beyond what it knows by itself; caps by mint, smallest units as text. */
export interface SignerRecord {
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
      { name, use, recordedUse = use, rawParams, budget, maxAgeMs, maxExposure, warmupMs, isByHand = false },
    ) => ({
      name, use: recordedUse, params: rawParams, budget: recordValue(budget), max_age_ms: maxAgeMs ?? null,
      max_exposure: recordValue(maxExposure), warmup_ms: warmupMs ?? null, by_hand: isByHand,
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
