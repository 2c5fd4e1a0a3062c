import type { Observable } from 'rxjs';
import type { Amount, Bps } from '../core/amount.ts';
import type { Random } from '../core/random.ts';
import type { Clock, Millis } from '../core/time.ts';
import type { Pair, Token, TokenAmount } from '../market/token.ts';
import type { Outcome } from '../trading/intent.ts';
import type { DenialCode } from '../trading/denials.ts';
import type { AlertLevel, AlertProposal, Route, Size, SwapProposal } from '../trading/proposal.ts';
import type { Stateful, StatefulOptions } from './stateful.ts';

/** Refinements of a swap; what is left out follows the configuration. */
export interface SwapOptions {
  readonly slippageBps?: Bps;
  readonly route?: Route;
  readonly limit?: Amount;
  readonly key?: string;
}

export type AlertData = NonNullable<AlertProposal['data']>;

/** A proposal that risk refused. */
export interface DeniedSwap {
  readonly proposal: SwapProposal;
  readonly code: DenialCode;
  readonly reason: string;
}

/** All that a strategy can reach: time, chance, its own money, and words for what it wants. No key, no network. */
export interface StrategyContext {
  readonly name: string;
  /** The engine's virtual clock: the scheduler for every operator that takes time. */
  readonly clock: Clock;
  now(): Millis;
  /** Seeded: the same run draws the same numbers. */
  readonly random: Random;
  /** Returns what this strategy can still spend of a token, smallest units. */
  available(token: Token): Amount;
  /**
   * Returns how many of this strategy's swaps are under way; an exit that goes on in parts counts as one while it
   * waits.
   */
  openIntents(): number;
  /** What became of this strategy's intents, one transition at a time. */
  readonly outcomes$: Observable<Outcome>;
  /** What risk refused of this strategy's proposals, so that it can come back to one whose time has not passed. */
  readonly denials$: Observable<DeniedSwap>;
  /**
   * Returns an operator that folds what it is given into a state that outlives a restart: it is on disk together with
   * each swap that it led to, and at least once a minute. To be called in `run` itself, once for each name; the same
   * operator may stand in several streams.
   *
   * States are plain data (bigints included) of 64 KiB in all, and frozen: a reducer returns a new one, or the one it
   * got where nothing changed. With a state, `outcomes$` shows the last outcome of each swap exactly once, those
   * included that came while the bot was down. While the strategy is warmed up the state stands still: it is younger
   * than what is shown.
   */
  stateful<S, E>(
    name: string, initial: S, reducer: (state: S, event: E) => S, options?: StatefulOptions<S>,
  ): Stateful<S, E>;
  /** A line in the log; not a decision. */
  log(message: string): void;

  /** Returns a proposal to spend quote tokens for the base token. */
  buy(pair: Pair, size: TokenAmount | Exclude<Size, Amount>, reason: string, options?: SwapOptions): SwapProposal;
  /**
   * Returns a proposal to spend base tokens for the quote token. An exit that is larger than the signer's caps,
   * `risk.max_trade` or the market's depth allow goes in parts: the approved swap is the first, and the engine proposes
   * the others by itself, over restarts too. Until the last is sold, `outcomes$` shows each part, `openIntents` counts
   * the exit as one, and other swaps of this strategy from or into the token are refused (EXIT_UNDER_WAY). Where a cap
   * has no room now, the proposal is refused as CAP_USED_UP, but made all the same as soon as it has: do not repeat it.
   * After eight parts in a row that came to nothing the exit is given up with a critical alert.
   */
  sell(pair: Pair, size: TokenAmount | Exclude<Size, Amount>, reason: string, options?: SwapOptions): SwapProposal;
  /** Returns a proposal to swap any token for any other. */
  swap(
    from: Token, to: Token, size: TokenAmount | Exclude<Size, Amount>, reason: string, options?: SwapOptions,
  ): SwapProposal;
  /** Returns a proposal to tell people something. */
  alert(level: AlertLevel, message: string, data?: AlertData): AlertProposal;
}
