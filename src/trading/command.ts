import type { Millis } from '../core/time.ts';
import type { Mint } from '../market/token.ts';

/** `active`: everything. `reduce-only`: exits only. `halted`: nothing. */
export type TradingState = 'active' | 'reduce-only' | 'halted';

/** Whether the service lets this run in, and answers at all: without it nothing can be quoted, sent or watched. */
export type ServiceAccessState = 'granted' | 'refused' | 'silent';

/**
 * Who changed a trading state: a person, the file STOP, the configuration, a signal, the start after repeated crashes,
 * or a disk that is full.
 */
export type CommandSource = 'operator' | 'stop-file' | 'config' | 'signal' | 'safe-mode' | 'disk-guard';

/**
 * Why the wallet on the chain is not what the ledger says: somebody else moved money, or the two disagree for no known
 * reason.
 */
export type AdjustmentCause = 'deposit' | 'withdrawal' | 'mismatch';

interface CommandBase {
  readonly kind: 'command';
  /** For people. */
  readonly reason: string;
}

/** The operator's word, the file's or the start's: for one strategy, or for all of them. */
export interface SetTradingState extends CommandBase {
  readonly name: 'set-trading-state';
  readonly state: TradingState;
  /** Left out, everything. */
  readonly strategy?: string | undefined;
  /** Left out, the operator. */
  readonly by?: CommandSource | undefined;
}

/**
 * Sells what strategies hold back into their budgets' tokens, and lets them enter nothing until an operator resumes.
 */
export interface Flatten extends CommandBase {
  readonly name: 'flatten';
  readonly strategy?: string | undefined;
  readonly by?: CommandSource | undefined;
}

/** The service began to refuse the API key or to be silent, or lets this run in again. */
export interface SetServiceAccess extends CommandBase {
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

/** What the look at a token came to; without one, a token that is not trusted is not bought. */
export interface JudgeToken extends CommandBase {
  readonly name: 'judge-token';
  readonly mint: Mint;
  /** Codes of what is wrong with it, none where it is good. */
  readonly findings: readonly string[];
}

/** A person is there: the dead man's switch begins anew. */
export interface ReportPresence extends CommandBase {
  readonly name: 'report-presence';
}

/** The machine slept: timers that are overdue fire now, each once, instead of one by one at instants long past. */
export interface LeapTime extends CommandBase {
  readonly name: 'leap-time';
  /**
   * Where the engine's time stood: the timers due until then have fired at their own instants, woken without an input.
   */
  readonly from: Millis;
}

/** A word from outside the market; it goes through the inbox and is replayed like everything else. */
export type Command = SetTradingState | Flatten | SetServiceAccess | AdjustWallet | JudgeToken | ReportPresence
  | LeapTime;
