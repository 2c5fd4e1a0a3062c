import type { Bps } from '../core/amount.ts';
import type { Json } from '../core/json.ts';
import type { Millis } from '../core/time.ts';
import type { Mint } from '../market/token.ts';
import type { Route } from './proposal.ts';

/** `active`: everything. `reduce-only`: exits only. `halted`: nothing. */
export type TradingState = 'active' | 'reduce-only' | 'halted';

/**
 * Whether the service accepts the API key (`refused`), lets this account and address swap (`forbidden`), and answers
 * (`silent`); without it nothing can be quoted, sent or watched.
 */
export type ServiceAccessState = 'granted' | 'refused' | 'forbidden' | 'silent';

/**
 * The source of a change of the trading state: a person, the file STOP, the configuration, a signal, the start after
 * repeated crashes, or a full disk.
 */
export type CommandSource = 'operator' | 'stop-file' | 'config' | 'signal' | 'safe-mode' | 'disk-guard';

/** The cause of a difference between wallet and ledger: a transfer by another party, or no known cause. */
export type AdjustmentCause = 'deposit' | 'withdrawal' | 'mismatch';

interface CommandBase {
  readonly kind: 'command';
  /** For people. */
  readonly reason: string;
}

/** Sets the trading state of one strategy, or of all. */
export interface SetTradingState extends CommandBase {
  readonly name: 'set-trading-state';
  readonly state: TradingState;
  /** Left out, everything. */
  readonly strategy?: string | undefined;
  /** Left out, the operator. */
  readonly by?: CommandSource | undefined;
}

/** Sells what strategies hold back into their budgets' tokens, and refuses their entries until an operator resumes. */
export interface Flatten extends CommandBase {
  readonly name: 'flatten';
  readonly strategy?: string | undefined;
  readonly by?: CommandSource | undefined;
}

/** A person's swap from the book of a strategy, or of manual swaps; the engine proposes it under that name. */
export interface OrderSwap extends CommandBase {
  readonly name: 'order-swap';
  readonly strategy: string;
  readonly inputMint: Mint;
  readonly outputMint: Mint;
  /** A decimal string of smallest units, or all that the book may sell. */
  readonly amount: string;
  /** The least output, as a decimal string of smallest units. */
  readonly limit?: string | undefined;
  readonly slippageBps?: Bps | undefined;
  readonly route?: Route | undefined;
  /** Of the proposal: an order that is given twice is carried out once. */
  readonly key: string;
}

/** Refuses entries into a pair or of a strategy, until a time or until an operator ends it; or ends that. */
export interface SetPause extends CommandBase {
  readonly name: 'set-pause';
  /** Either the pair or the strategy is there. */
  readonly pair?: readonly [Mint, Mint] | undefined;
  readonly strategy?: string | undefined;
  readonly isPaused: boolean;
  /** When it ends by itself; null where only an operator ends it. */
  readonly until: Millis | null;
}

/** The service began to refuse the API key, stopped answering, or accepts the run again. */
interface SetServiceAccess extends CommandBase {
  readonly name: 'set-service-access';
  readonly access: ServiceAccessState;
}

/**
 * The chain's balance of the wallet differs from the ledger's by `change`, a decimal string of smallest units, negative
 * where there is less.
 */
export interface AdjustWallet extends CommandBase {
  readonly name: 'adjust-wallet';
  readonly mint: Mint;
  readonly change: string;
  readonly cause: AdjustmentCause;
}

/** The result of a safety check of a token. Without one, a token that is not trusted is not bought. */
export interface JudgeToken extends CommandBase {
  readonly name: 'judge-token';
  readonly mint: Mint;
  /** The codes of the findings; empty where the token is safe. */
  readonly findings: readonly string[];
}

/** An operator is present: the time of the `dead-man` protection starts again. */
interface ReportPresence extends CommandBase {
  readonly name: 'report-presence';
}

/** The clock jumped, as after the machine's sleep: overdue timers fire once each, now, not at their past instants. */
interface ClockJump extends CommandBase {
  readonly name: 'leap-time';
  /** The engine's time before the jump: timers due until then have fired at their own instants. */
  readonly from: Millis;
}

/**
 * Why a strategy's process no longer answers: it took too long for a call, took too much memory, ended, sent what is no
 * answer, acted outside a call (a promise, a timer of the machine), passed another bound, or shared its process with a
 * strategy that did one of these.
 */
export type StopCode = 'STRATEGY_TIMEOUT' | 'STRATEGY_MEMORY' | 'STRATEGY_ENDED' | 'STRATEGY_INVALID_ANSWER'
  | 'STRATEGY_ASYNC' | 'STRATEGY_BOUND' | 'STRATEGY_NEIGHBOUR';

/** A strategy was stopped in the middle of a call, none of whose effects count. A replay does not make that call. */
export interface StopStrategy extends CommandBase {
  readonly name: 'stop-strategy';
  readonly strategy: string;
  readonly code: StopCode;
  /**
   * How often the strategy had been started by then, and the number of the call since its last start; both from 1. The
   * call is 0 where the strategy was stopped between two calls.
   */
  readonly start: number;
  readonly call: number;
  /** The author's line, "dip.ts:12:5", where it is known. */
  readonly place?: string | undefined;
}

/** A strategy that was stopped is started again, with the state that it kept. */
interface StartStrategy extends CommandBase {
  readonly name: 'start-strategy';
  readonly strategy: string;
}

/** The recorded events of a span of time that a strategy is shown before it starts. */
export interface WarmupWindow {
  readonly from: Millis;
  readonly until: Millis;
  /** Oldest first; folders are relative to the run's own. The hash covers the segments that overlap the period. */
  readonly recordings: readonly {
    readonly recording: string; readonly first_seq: number; readonly last_seq: number; readonly sha256: string;
  }[];
}

/** A strategy goes on in another version, of its code or with other parameters, with the state that it keeps. */
export interface ReloadStrategy extends CommandBase {
  readonly name: 'reload-strategy';
  readonly strategy: string;
  /** The SHA-256 of the code of the new version, of which the run keeps a copy. */
  readonly code: string;
  /** As in the configuration. */
  readonly params: Json;
  /** What earlier runs recorded of its warm-up; the run's own events follow. Null where it has no warm-up. */
  readonly warmup: WarmupWindow | null;
}

/** An input that is not of the market; it goes through the inbox and is replayed like every other input. */
export type Command = SetTradingState | Flatten | OrderSwap | SetPause | SetServiceAccess | AdjustWallet | JudgeToken
  | ReportPresence | ClockJump | StopStrategy | StartStrategy | ReloadStrategy;
