import type { NodeStats } from '../../chain/node-health.ts';
import type { Millis } from '../../core/time.ts';
import { describeFeedKey } from '../../market/market-text.ts';
import type { TokenTable } from '../../market/token.ts';
import type { FeedStats } from '../../service/feeds/feed-stats.ts';
import type { ServiceAccessState } from '../../trading/engine-command.ts';
import type { EngineState } from '../../trading/engine-state.ts';
import type { RunEquity } from './run-equity.ts';
import type { StrategyTrading, TradingView } from './trading-view.ts';

/** The daemon's status in one word. `stopped`: every strategy has ended in an error. */
export type RunStatus = 'starting' | 'recovering' | 'trading' | 'exits-only' | 'flattening' | 'halted' | 'stopped'
  | 'waiting-for-service' | 'draining' | 'ended';

/** The status of one strategy in one word. `waiting`: it may trade, but the daemon as a whole does not. */
export type StrategyStatus = 'trading' | 'exits-only' | 'flattening' | 'halted' | 'stopped' | 'waiting';

/** The state of the daemon: the answer of `/api/state`, which `gannet status` shows. */
export interface SessionState extends TradingView {
  readonly run_id: string;
  readonly mode: string;
  readonly phase: string;
  /** The status of the daemon as a whole; the rest of the state explains it. */
  readonly standing: RunStatus;
  /** Why the status is not plain trading, for people; empty while it is. */
  readonly standing_reasons: readonly string[];
  /** Whether swaps of this run move real money. */
  readonly real_money: boolean;
  /** What manual swaps hold, by their books, for people. */
  readonly manual: readonly { readonly name: string; readonly holds: readonly string[] }[];
  readonly started_at: Millis;
  readonly uptime_ms: Millis;
  /** Of all strategies with a budget together; null without a budget, and before everything has a price. */
  readonly equity: RunEquity | null;
  /** The newest finished swap of this run; null before the first. */
  readonly last_swap: LastSwap | null;
  /** The newest warning, critical alert or failed swap of this run; null without one. */
  readonly last_error: LastError | null;
  /** The newest order of this run after which more may be lost than before; null without one. */
  readonly last_widening: LastWidening | null;
  /** How long until the first dead man’s switch stops trading; null without one. */
  readonly dead_man: DeadManState | null;
  /** How much of the signer’s caps is used, as far as this daemon knows; empty without caps. */
  readonly caps: readonly CapUse[];
  /** What the recovery waits for, for people. */
  readonly waits_for: readonly string[];
  readonly service_access: AccessState;
  /** The nodes of the chain; empty on paper without one. */
  readonly rpc_nodes: readonly RpcNodeState[];
  readonly at: Millis;
  readonly seq: number;
  readonly decisions: number;
  readonly decision_hash: string;
  readonly strategies: readonly StrategyState[];
  readonly feeds: readonly FeedState[];
  /** Smallest units by mint. */
  readonly wallet: Readonly<Record<string, string>>;
  /** Lamports that no strategy can spend. */
  readonly sol_reserve: string;
  /**
   * Lamports in deposits of token accounts that this run opened, less what came back. They still belong to the wallet.
   */
  readonly deposits_lamports: string;
  readonly intents: {
    readonly open: readonly OpenIntentState[]; readonly recent: readonly object[];
    readonly counts: Readonly<Record<string, number>>;
  };
  readonly denials: Readonly<Record<string, number>>;
  /** Whether a dead man's switch waits for an operator. */
  readonly presence_wanted: boolean;
}

/** One strategy, as `/api/strategies` lists it. */
export interface StrategyState extends StrategyTrading {
  /** The strategy that it is an instance of. */
  readonly use: string;
  readonly running: boolean;
  /** Why it no longer runs; null while it runs. */
  readonly stopped: StopState | null;
  /** Takes the status of the daemon into account. */
  readonly standing: StrategyStatus;
  readonly swaps: number;
  /** Smallest units by mint. */
  readonly balances: Readonly<Record<string, string>>;
  /** For people. */
  readonly holds: readonly string[];
  /** In its budget's token; null without a budget, or where no protection values the holdings. */
  readonly equity: EquityState | null;
}

/** Why a strategy was stopped. */
interface StopState {
  readonly code: string;
  readonly reason: string;
  /** The author's line, "dip.ts:12:5"; null where it is not known. */
  readonly place: string | null;
  readonly at: Millis;
}

/** The equity of a strategy less network fees, in smallest units. */
export interface EquityState {
  readonly mint: string;
  readonly value: string;
  /** Since midnight UTC, or since the start where that is later; negative for a loss. */
  readonly day_change: string;
  readonly peak: string;
  /** Whether every holding had a price; else the figures are the last known ones. */
  readonly is_known: boolean;
  /** The day's change, for people. */
  readonly today: string;
}

/** How much of a capped token was spent, in smallest units; null stands for no limit. */
export interface CapUse {
  readonly mint: string;
  readonly hour: { readonly used: string; readonly limit: string | null };
  readonly day: { readonly used: string; readonly limit: string | null };
  /** For people: "USDC: 12 of 10000 this hour, 200 of 100000 today". */
  readonly text: string;
}

/** A finished swap. */
export interface LastSwap {
  readonly intent_id: string;
  readonly state: string;
  readonly at: Millis;
  /** For people: "1 USDC → 0.005461284 SOL". */
  readonly text: string;
}

/** Something that went wrong. */
export interface LastError {
  readonly at: Millis;
  readonly message: string;
}

/** An order after which more may be lost than before. */
export interface LastWidening {
  readonly at: Millis;
  readonly action: string;
  /** For people: what is allowed now. */
  readonly widens: string;
  /** For people: who gave the order, and where. */
  readonly origin: string;
  readonly reason: string | null;
}

/** A dead man’s switch: it stops trading when no operator was present for `after_ms`. */
interface DeadManState {
  readonly after_ms: Millis;
  readonly left_ms: Millis;
}

/** An open intent, as `intentJson` shows it. */
interface OpenIntentState {
  readonly intent_id: string;
  readonly state: string;
  readonly created_at: Millis;
}

/** The state of a daemon that still starts. */
export type StartingState = Pick<SessionState, 'run_id' | 'phase'>;

/** Whether the service answers and accepts the API key. */
export interface AccessState {
  readonly state: ServiceAccessState;
  /** The service's message; null while access was never lost. */
  readonly reason: string | null;
  /** When this state began; null while access was never lost. */
  readonly since: Millis | null;
}

/** One node of the chain with its calls since the start. */
export interface RpcNodeState {
  /** Its host; no address, which may hold a key. */
  readonly name: string;
  readonly state: NodeStats['state'];
  readonly calls: NodeStats['calls'];
  readonly latency_ms: Millis | null;
  /** The share of the last calls without a usable answer. */
  readonly error_rate: number;
  /** How far it is behind the furthest node; null for a node that is alone. */
  readonly slots_behind: number | null;
}

/** Returns the nodes as the control API shows them. */
export function rpcNodeStates(stats: readonly NodeStats[]): RpcNodeState[] {
  return stats.map(({ name, state, calls, latencyMs, errorRate, slotsBehind }) => ({
    name, state, calls, latency_ms: wholeMs(latencyMs), error_rate: Math.round(errorRate * 1_000) / 1_000,
    slots_behind: slotsBehind ?? null,
  }));
}

/** One feed with its counters since the start, as `/api/feeds` lists it. Ages are null before the first answer. */
export interface FeedState {
  readonly feed: string;
  /** For people. */
  readonly watches: string;
  readonly status: string;
  readonly polls: number;
  readonly answers: number;
  readonly failures: number;
  readonly consecutive_failures: number;
  readonly last_answer_at: Millis | null;
  /** The configured interval. */
  readonly every_ms: Millis;
  readonly weight: number;
  readonly age_ms: Millis | null;
  /** Over the time since the first answer. */
  readonly mean_age_ms: Millis | null;
  /** The highest age so far. */
  readonly max_age_ms: Millis | null;
}

/** Returns the feeds as the control API shows them, in the order of the counters. */
export function feedStates(stats: readonly FeedStats[], tokens: TokenTable): FeedState[] {
  return stats.map(({
    feed, status, polls, answers, failures, consecutiveFailures, lastAnswerAt, everyMs, weight, ageMs, meanAgeMs,
    maxAgeMs,
  }) => ({
    feed,
    watches: describeFeedKey(tokens, feed),
    status, polls, answers, failures,
    consecutive_failures: consecutiveFailures,
    last_answer_at: lastAnswerAt ?? null,
    every_ms: everyMs,
    weight,
    age_ms: wholeMs(ageMs),
    mean_age_ms: wholeMs(meanAgeMs),
    max_age_ms: wholeMs(maxAgeMs),
  }));
}

function wholeMs(span: Millis | undefined): Millis | null {
  return span === undefined ? null : Math.round(span);
}

/**
 * The balances as `/api/portfolio` shows them: smallest units by mint. SOL is in lamports, native and wrapped together.
 */
export interface PortfolioState {
  readonly wallet: Amounts;
  readonly sol_reserve: string;
  readonly strategies: readonly {
    readonly name: string;
    readonly budget: { readonly mint: string; readonly amount: string } | null;
    readonly balances: Amounts;
    /** Claimed by open swaps; part of the balances. */
    readonly reserved: Amounts;
    readonly fees_lamports: string;
    readonly swaps: number;
  }[];
}

type Amounts = Readonly<Record<string, string>>;

/** Returns the balances of the wallet and of every strategy. */
export function portfolioState({ portfolio, limits }: EngineState): PortfolioState {
  return {
    wallet: amounts(portfolio.wallet),
    sol_reserve: limits.solReserve.toString(),
    strategies: [...portfolio.books].map(([name, { budget, balances, reserved, feesLamports, swaps }]) => ({
      name,
      budget: budget === undefined ? null : { mint: budget.mint, amount: budget.amount.toString() },
      balances: amounts(balances),
      reserved: amounts(reserved),
      fees_lamports: feesLamports.toString(),
      swaps,
    })),
  };
}

/** Returns amounts as decimal strings. */
export function amounts(balances: ReadonlyMap<string, bigint>): Amounts {
  return Object.fromEntries([...balances].map(([mint, amount]) => [mint, amount.toString()]));
}
