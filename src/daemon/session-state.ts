import type { Millis } from '../core/time.ts';
import type { TokenTable } from '../market/token.ts';
import type { FeedStats } from '../service/feeds/feed-record.ts';
import type { ServiceAccessState } from '../trading/command.ts';
import { describeFeedKey } from '../market/market-text.ts';
import type { RunEquity } from './run-equity.ts';
import type { StrategyTrading, TradingView } from './trading-board.ts';

/** What a daemon does as a whole, in one word. `stopped`: every strategy has ended in an error. */
export type Standing = 'starting' | 'recovering' | 'trading' | 'exits-only' | 'flattening' | 'halted' | 'stopped' | 'waiting-for-service' | 'draining' | 'ended';

/** What one strategy does, in one word. `waiting`: it may trade, but the daemon as a whole does not. */
export type StrategyStanding = 'trading' | 'exits-only' | 'flattening' | 'halted' | 'stopped' | 'waiting';

/** What the daemon can be asked about itself: `/api/state`, and what `gannet status` shows. */
export interface SessionState extends TradingView {
  readonly run_id: string;
  readonly mode: string;
  readonly phase: string;
  /** What the daemon does as a whole: the one answer that the rest of the state explains. */
  readonly standing: Standing;
  /** Why that is not plain trading, for people; empty where it is. */
  readonly standing_reasons: readonly string[];
  /** Whether swaps of this run move real money. */
  readonly real_money: boolean;
  readonly started_at: Millis;
  readonly uptime_ms: Millis;
  /** Of all strategies with a budget together; null before everything had a price, or without a budget. */
  readonly equity: RunEquity | null;
  /** The newest swap of this run that ended; null before the first. */
  readonly last_swap: LastSwap | null;
  /** The newest warning, critical alert or failed swap of this run; null without one. */
  readonly last_error: LastError | null;
  /** How long until the first dead man’s switch stops trading; null without one. */
  readonly dead_man: DeadManState | null;
  /** How much of the signer’s caps is used, as far as this daemon was told; empty where no token has one. */
  readonly caps: readonly CapUse[];
  /** What keeps a recovery, for people. */
  readonly waits_for: readonly string[];
  readonly service_access: AccessState;
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
  /** Lamports that this run laid down in token accounts, less what it got back: the wallet's own still. */
  readonly deposits_lamports: string;
  readonly intents: { readonly open: readonly OpenIntentState[]; readonly recent: readonly object[]; readonly counts: Readonly<Record<string, number>> };
  readonly denials: Readonly<Record<string, number>>;
  /** Whether a dead man's switch waits for a sign of an operator. */
  readonly presence_wanted: boolean;
}

/** One strategy, as `/api/strategies` lists it. */
export interface StrategyState extends StrategyTrading {
  /** What it is an instance of. */
  readonly use: string;
  readonly running: boolean;
  /** What it does now, the state of the whole taken into account. */
  readonly standing: StrategyStanding;
  readonly swaps: number;
  /** Smallest units by mint. */
  readonly balances: Readonly<Record<string, string>>;
  /** For people. */
  readonly holds: readonly string[];
  /** In its budget's token; null without one, or where no protection looks at what things are worth. */
  readonly equity: EquityState | null;
}

/** What a strategy is worth, network fees taken off, smallest units. */
export interface EquityState {
  readonly mint: string;
  readonly value: string;
  /** Since midnight UTC, or since the start where that is later; negative where it lost. */
  readonly day_change: string;
  readonly peak: string;
  /** Whether all it holds had a price; else it is the last that was known. */
  readonly is_known: boolean;
  /** The day's change, for people. */
  readonly today: string;
}

/** What was signed away of a token that has a cap, smallest units; a limit is null where there is none. */
export interface CapUse {
  readonly mint: string;
  readonly hour: { readonly used: string; readonly limit: string | null };
  readonly day: { readonly used: string; readonly limit: string | null };
  /** For people: "USDC: 12 of 10000 this hour, 200 of 100000 today". */
  readonly text: string;
}

/** A swap that ended. */
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

/** A dead man’s switch: it stops trading where no operator was seen for `after_ms`. */
export interface DeadManState {
  readonly after_ms: Millis;
  readonly left_ms: Millis;
}

/** An intent under way, as `intentJson` shows it. */
export interface OpenIntentState {
  readonly intent_id: string;
  readonly state: string;
  readonly created_at: Millis;
}

/** What there is to say of a daemon that has not begun its run yet. */
export type StartingState = Pick<SessionState, 'run_id' | 'phase'>;

/** Whether the service lets the run in. */
export interface AccessState {
  readonly state: ServiceAccessState;
  /** What the service said; null unless it was refused or came back. */
  readonly reason: string | null;
  /** When that began; null where it was never otherwise. */
  readonly since: Millis | null;
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
  /** How often it is wanted. */
  readonly every_ms: Millis;
  readonly weight: number;
  readonly age_ms: Millis | null;
  /** Over the time since the first answer. */
  readonly mean_age_ms: Millis | null;
  /** The oldest it ever was. */
  readonly max_age_ms: Millis | null;
}

/** Returns the feeds as the control API shows them, in the order of the counters. */
export function feedStates(stats: readonly FeedStats[], tokens: TokenTable): FeedState[] {
  return stats.map(({ feed, status, polls, answers, failures, consecutiveFailures, lastAnswerAt, everyMs, weight, ageMs, meanAgeMs, maxAgeMs }) => ({
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
