import type { Amount, Lamports } from '../core/amount.ts';
import type { Millis } from '../core/time.ts';
import type { ApartStrategy } from '../engine/host/strategy-call.ts';
import type { FeedSpec } from '../market/feed.ts';
import type { Mint, TokenTable } from '../market/token.ts';
import type { RatePlan } from '../service/rate/rate-plan.ts';
import type { Strategy } from '../strategy/define.ts';
import type { RiskLimits, SpendCap, StrategyLimits, ValueLimit } from '../trading/limits.ts';
import type { ExitPlan } from '../trading/positions/exit-plan.ts';
import type { SwapOptions } from '../trading/swap-options.ts';
import type { LatencySource, SimulationModel } from '../trading/simulation-model.ts';
import { specsOf } from '../strategy/input.ts';
import type { PlainValue } from './config-tree.ts';
import type { ChannelConfig } from './notifications/channel-config.ts';
import type { AlertsConfig } from './operations/alerts-config.ts';
import type { RetentionConfig } from './operations/retention-config.ts';

/** A configuration with everything resolved: what a run is made of. */
export interface RunConfig {
  /** The file as it was named, or what stands for the built-in default. */
  readonly file: string;
  readonly mode: 'live' | 'paper';
  readonly service: ServiceConfig;
  readonly chain: ChainConfig;
  readonly wallet: WalletConfig;
  /** As the signer's own process reads it too; for people, and to compare. */
  readonly signer: SignerConfig;
  readonly seed: number;
  readonly backtest: BacktestConfig;
  readonly tokens: TokenTable;
  /** How the swaps of strategies without options of their own are requested; undefined where nothing is configured. */
  readonly swap?: SwapOptions | undefined;
  readonly limits: RiskLimits;
  readonly strategies: readonly StrategyConfig[];
  readonly isolation: IsolationConfig;
  /** When changed code and parameters are taken over in a run. */
  readonly reload?: 'on_change' | 'by_command' | undefined;
  readonly recording: { readonly enabled: boolean; readonly dir: string };
  /** The signals that other programs may send; undefined where none may. */
  readonly signals?: SignalsConfig | undefined;
  /** Where messages about the run go; undefined where none are sent. */
  readonly notifications?: readonly ChannelConfig[] | undefined;
  /** What tells that something does not happen. */
  readonly alerts: AlertsConfig;
  /** How long the files of runs are kept. */
  readonly retention: RetentionConfig;
  readonly control: ControlConfig;
}

/** Where and how the control API listens. */
export interface ControlConfig {
  readonly enabled: boolean;
  readonly host: string;
  readonly port: number;
  /** Whether the file names the port; a port that it does not name gives way to the next free one. */
  readonly isPortGiven: boolean;
  /** The names that a reverse proxy forwards, that of `publicUrl` included; browsers reach them by https. */
  readonly allowedHosts: readonly string[];
  /** Where browsers find the page, without a slash at its end; undefined where that is the API itself. */
  readonly publicUrl: string | undefined;
  /** The files of its own TLS. */
  readonly tls: { readonly cert: string; readonly key: string } | undefined;
  /** Addresses and networks whose X-Forwarded-For is believed. */
  readonly trustedProxies: readonly string[];
}

export interface SignalsConfig {
  readonly names: readonly string[];
  /** As in the file; undefined where the token is in the environment or in the state directory. */
  readonly tokenFile?: string | undefined;
}

export interface ServiceConfig {
  /** "embedded", or an address without a slash at its end. */
  readonly baseUrl: string;
  /** Secret. */
  readonly apiKey?: string | undefined;
  /** The name of a file in config/dialects. */
  readonly dialect: string;
  readonly plan: RatePlan;
  /** What the plan allows, the landing of swaps apart. */
  readonly requestsPerSecond: number;
  /** Whether the configuration says what the service allows; the embedded one has no limit of its own. */
  readonly limited: boolean;
}

export interface ChainConfig {
  /** "embedded", or an address; it may hold a secret. */
  readonly rpcUrl: string;
  /** Addresses of more nodes of the same network; they may hold secrets. */
  readonly furtherRpcUrls: readonly string[];
  /** "off", or the address for subscriptions, which may hold a secret; undefined for those of the nodes. */
  readonly wsUrl?: string | undefined;
  readonly commitment: 'confirmed';
}

/** Where a wallet's key is; never the key. */
export type KeySource = { readonly kind: 'env'; readonly name: string }
  | { readonly kind: 'file'; readonly path: string };

export interface WalletConfig {
  /** Absent where the embedded service's funded wallet is used, or on paper. */
  readonly keyFrom?: KeySource | undefined;
  readonly address?: string | undefined;
  readonly solReserve: Amount;
}

/** The programs, destinations and caps of the signer beside its built-in rules. */
export interface SignerConfig {
  readonly programs: readonly string[];
  readonly destinations: readonly string[];
  /** By token; at least one span of each is there. */
  readonly caps: ReadonlyMap<Mint, SpendCap>;
  readonly priceGuard: PriceGuardConfig;
  readonly allowances: AllowanceConfig;
}

/** What a swap may pay besides its own input, and to whom. */
export interface AllowanceConfig {
  readonly maxTipLamports: Lamports;
  readonly maxPriorityFeeLamports: Lamports;
  /** The accounts that the operator's own fee may go to, each with its largest share in basis points. */
  readonly feeAccounts: ReadonlyMap<string, number>;
}

/** How far swaps may be below the signer's own quotes. */
export interface PriceGuardConfig {
  readonly maxDeviationBps: number;
  readonly quoteTtlMs: Millis;
  readonly maxQuotesPerMinute: number;
}

export interface BacktestConfig {
  /** The balances of a simulated wallet at the start, smallest units. */
  readonly balances: ReadonlyMap<Mint, Amount>;
  readonly model: SimulationModel<LatencySource>;
}

/** Where the code of strategies runs, and how much each of its processes may use. */
export interface IsolationConfig {
  /**
   * shared: the project's own strategies in one process, each other file in one of its own. per-strategy: each in one
   * of its own. off: the project's own in the process that trades.
   */
  readonly kind: 'shared' | 'per-strategy' | 'off';
  /** The longest time of one call. */
  readonly callMs: Millis;
  /** The most memory of a process, in megabytes. */
  readonly memoryMb: number;
}

/** What becomes of the positions of a strategy that was stopped: held, or sold. */
export type OnStrategyStop = 'hold' | 'exit';

export interface StrategyConfig {
  /** Unique within the run. */
  readonly name: string;
  /** As in the file. */
  readonly use: string;
  /** Whether its file is one of the project's own `strategies/`, or another one. */
  readonly origin: 'project' | 'path';
  /**
   * The name of one of the project's own strategies, else the absolute path of its file, independent of how the
   * configuration names it. A run records it so that it can be repeated.
   */
  readonly recordedUse?: string | undefined;
  /** Absolute; undefined where no file was read for it. */
  readonly file?: string | undefined;
  /** Where its code runs apart, a declaration of what it watches, which cannot be run. */
  readonly strategy: Strategy;
  /** As the strategy's own schema read them; undefined where its code runs apart, which keeps them. */
  readonly params: unknown;
  /** Its code, where that runs apart. */
  readonly apart?: ApartStrategy | undefined;
  /** As in the file: plain JSON. */
  readonly rawParams: PlainValue;
  readonly budget?: ValueLimit | undefined;
  readonly maxAgeMs?: Millis | undefined;
  readonly maxExposure?: ValueLimit | undefined;
  /** The rules by which its positions are sold, with the sales that are quoted for them. */
  readonly exits?: ExitPlan | undefined;
  /** How much of the recording it sees again before the start. */
  readonly warmupMs?: Millis | undefined;
  /** How its swaps are requested; undefined where nothing is configured. */
  readonly swap?: SwapOptions | undefined;
  /** Undefined for a manual swap, whose position is its result. */
  readonly onStop?: OnStrategyStop | undefined;
  /** Whether it is one manual swap of an operator, which is in no file. */
  readonly isManual?: boolean | undefined;
}

/** Something that a strategy watches, under the name that it gave it. */
export interface WatchedInput {
  readonly name: string;
  readonly spec: FeedSpec;
}

/**
 * Returns what a strategy watches with its parameters, and what its exit rules do. Throws what the author's own code
 * throws.
 */
export function watchedBy(
  { strategy, params, exits }: Pick<StrategyConfig, 'strategy' | 'params' | 'exits'>,
): WatchedInput[] {
  return [
    ...Object.entries(strategy.inputs(params)).flatMap(([name, input]) =>
      specsOf(input).map((spec) => ({ name, spec }))),
    ...(exits?.feeds ?? []).map((spec, index) => ({ name: `exits.watch[${index}]`, spec })),
  ];
}

/** Returns the limits that a strategy's own entry sets. */
export function strategyLimits(
  { maxAgeMs, maxExposure, exits, swap }: Pick<StrategyConfig, 'maxAgeMs' | 'maxExposure' | 'exits' | 'swap'>,
): StrategyLimits {
  return { maxAgeMs, maxExposure, exits, route: swap?.route };
}
