import type { Amount } from '../../core/amount.ts';
import type { ErrorCode } from '../../core/errors.ts';
import type { Millis } from '../../core/time.ts';
import type { MarketEvent } from '../../market/event.ts';
import type { FeedSpec } from '../../market/feed.ts';
import type { Mint, TokenAmount } from '../../market/token.ts';
import type { DeniedSwap } from '../../strategy/context.ts';
import type { StopCode } from '../../trading/engine-command.ts';
import type { Outcome } from '../../trading/intent.ts';
import type { Holding } from '../../trading/positions/holding.ts';
import type { Proposal } from '../../trading/proposal.ts';

// What passes between the engine and a strategy that runs apart from it: one call at a time, each answered by its
// effects. Everything is plain data, so that a process boundary may lie between the two.

/** One call into a strategy; `at` is the engine's time, which does not move before the call has returned. */
export type StrategyCall = { readonly at: Millis } & (
  /** Runs it. `kept` is the state that it saved before; during a warm-up, that state does not change. */
  | { readonly kind: 'start'; readonly warming: boolean; readonly kept: string | undefined }
  /** Ends the warm-up. */
  | { readonly kind: 'release' }
  /** `input` is the position among its declared inputs, or the id of a watch. */
  | { readonly kind: 'event'; readonly input: number; readonly event: MarketEvent }
  | { readonly kind: 'outcome'; readonly outcome: Outcome }
  | { readonly kind: 'denial'; readonly denial: DeniedSwap }
  /** A timer that it has scheduled is due. */
  | { readonly kind: 'timer'; readonly id: number }
  /** Unsubscribes it. */
  | { readonly kind: 'end' }
);

/** What a strategy did during a call, in order. */
export type StrategyEffect =
  | { readonly kind: 'propose'; readonly proposal: Proposal }
  /** `delay` is in milliseconds; null where the timer never fires. */
  | { readonly kind: 'schedule'; readonly id: number; readonly delay: Millis | null }
  | { readonly kind: 'cancel'; readonly id: number }
  /** Watches feeds under an id of its own, after the declared inputs'. `place` is the author's line. */
  | {
    readonly kind: 'watch'; readonly id: number; readonly specs: readonly FeedSpec[];
    readonly place?: string | undefined;
  }
  | { readonly kind: 'unwatch'; readonly id: number }
  | { readonly kind: 'log'; readonly message: string }
  /** The text of its whole state, after a change. */
  | { readonly kind: 'state'; readonly text: string }
  /** A warning of the SDK to the operator. */
  | { readonly kind: 'warn'; readonly message: string }
  /**
   * It threw, and runs no longer. `place` is the author's line, "dip.ts:12:5". `code` is that of a typed error; no
   * process tells it.
   */
  | {
    readonly kind: 'fail'; readonly message: string; readonly place?: string | undefined;
    readonly code?: ErrorCode | undefined;
  }
  /** Its stream of proposals is complete. */
  | { readonly kind: 'complete' };

/** What a strategy reads of its portfolio in the middle of a call. */
export interface PortfolioView {
  /** Returns what it can still spend of a token, smallest units. */
  available(mint: Mint): Amount;
  /** Returns the number of its swaps that are under way. */
  openIntents(): number;
  /** Returns its holding of a token with cost and sale value. */
  holding(mint: Mint): Holding;
  /** Returns what its holdings would be sold for; undefined without a budget or a fresh price. */
  equity(): Amount | undefined;
  budget(): TokenAmount | undefined;
}

/** Why the code of a strategy stopped answering. No effect of the call counts. */
export interface Ending {
  readonly code: StopCode;
  /** For people: the bound, and by how much it was passed. */
  readonly reason: string;
  /** The author's line where it is known. */
  readonly place?: string | undefined;
}

export type CallResult = { readonly effects: readonly StrategyEffect[] } | { readonly ending: Ending };

/** A strategy whose code runs apart from the engine: in a process of its own, or for a replay in this one. */
export interface ApartStrategy {
  /**
   * Hands a call over and waits for its effects, within a bound. Throws nothing: every failure of the other side is an
   * ending. After an ending, only `start` may be called.
   */
  call(call: StrategyCall, portfolio: PortfolioView): CallResult;
}
