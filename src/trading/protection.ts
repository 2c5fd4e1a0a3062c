import type { Lamports } from '../core/amount.ts';
import type { Millis } from '../core/time.ts';
import type { ValueLimit } from './value-limit.ts';

/** Whom a protection counts together, and whom it stops: each strategy, each token, or everything. */
export type ProtectionScope = 'strategy' | 'token' | 'global';

/** What happens while it is on. `deny` refuses entries; `flatten` sells what is held and refuses entries. */
export type ProtectionAction = 'deny' | 'reduce-only' | 'halt' | 'flatten';

/**
 * When it lets go: so long after it came on, as soon as its condition no longer holds, at the next midnight UTC, or at
 * an operator's word.
 */
export type ProtectionRelease =
  | { readonly kind: 'elapsed'; readonly afterMs: Millis }
  | { readonly kind: 'cleared' }
  | { readonly kind: 'next-day' }
  | { readonly kind: 'operator' };

/** What brings a protection on. */
export type ProtectionTrigger =
  /** A swap closed, with a loss or however: a pause. */
  | { readonly kind: 'cooldown'; readonly after: 'loss' | 'trade' }
  /** So many losing exits in a row, within a span. */
  | { readonly kind: 'loss-streak'; readonly losses: number; readonly withinMs: Millis }
  /** So many exits within a span which together brought less than a share of what they had cost. */
  | { readonly kind: 'low-profit'; readonly trades: number; readonly withinMs: Millis; readonly leastBps: number }
  /** Equity so much under its highest ever, which restarts do not forget. */
  | { readonly kind: 'max-drawdown'; readonly limitPct: number }
  /** Equity so much under what it was when the day began, UTC. */
  | { readonly kind: 'daily-loss'; readonly limit: ValueLimit }
  /** Network fees of the day, UTC, tips and failed swaps included. */
  | { readonly kind: 'fee-budget'; readonly limitLamports: Lamports }
  /** A feed that a strategy looks at has not answered for so long. */
  | { readonly kind: 'stale-feed'; readonly afterMs: Millis }
  /** So many swaps in a row of which nobody can say what became of them. */
  | { readonly kind: 'blind-execution'; readonly unknowns: number }
  /** A swap whose outcome is unknown for so long. */
  | { readonly kind: 'unresolved-intent'; readonly afterMs: Millis }
  /** So many signed swaps that failed or expired, within a span. */
  | { readonly kind: 'error-rate'; readonly failures: number; readonly withinMs: Millis }
  /** The chain has less than the ledger, and no withdrawal explains it. */
  | { readonly kind: 'reconciliation-mismatch' }
  /** No operator showed himself for so long. */
  | { readonly kind: 'dead-man'; readonly afterMs: Millis };

/** One protection as the configuration sets it; of one kind there may be several. */
export interface Protection {
  readonly trigger: ProtectionTrigger;
  readonly scope: ProtectionScope;
  readonly action: ProtectionAction;
  readonly release: ProtectionRelease;
}
