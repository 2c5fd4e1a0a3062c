import type { Observable } from 'rxjs';
import type { Amount, Bps } from '../core/amount.ts';
import type { Random } from '../core/random.ts';
import type { Clock, Millis } from '../core/time.ts';
import type { Pair, Token, TokenAmount } from '../market/token.ts';
import type { Outcome } from '../trading/intent.ts';
import type { DenialCode } from '../trading/limits.ts';
import type { AlertLevel, AlertProposal, Route, Size, SwapProposal } from '../trading/proposal.ts';

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
  /** Returns how many of this strategy's swaps are under way. */
  openIntents(): number;
  /** What became of this strategy's intents, one transition at a time. */
  readonly outcomes$: Observable<Outcome>;
  /** What risk refused of this strategy's proposals, so that it can come back to one whose time has not passed. */
  readonly denials$: Observable<DeniedSwap>;
  /** A line in the log; not a decision. */
  log(message: string): void;

  /** Returns a proposal to spend quote tokens for the base token. */
  buy(pair: Pair, size: TokenAmount | Exclude<Size, Amount>, reason: string, options?: SwapOptions): SwapProposal;
  /** Returns a proposal to spend base tokens for the quote token. */
  sell(pair: Pair, size: TokenAmount | Exclude<Size, Amount>, reason: string, options?: SwapOptions): SwapProposal;
  /** Returns a proposal to swap any token for any other. */
  swap(from: Token, to: Token, size: TokenAmount | Exclude<Size, Amount>, reason: string, options?: SwapOptions): SwapProposal;
  /** Returns a proposal to tell people something. */
  alert(level: AlertLevel, message: string, data?: AlertData): AlertProposal;
}
