import type { Amount, Bps, Lamports } from '../core/amount.ts';
import type { Millis } from '../core/time.ts';
import type { Mint } from '../market/token.ts';
import type { RateSpan } from './usage-counters.ts';

/** The default of how old a quote may be when it is signed. */
export const QUOTE_MAX_AGE_MS: Millis = 2_000;

/** The limits of all strategies. A member is absent where the configuration sets no limit. */
export interface RiskLimits {
  readonly maxSlippageBps: Bps;
  readonly maxPriceImpactBps: Bps;
  readonly maxFeeBps: Bps;
  readonly maxTrade?: ValueLimit | undefined;
  /** The signer's caps by token: a larger exit goes in parts. */
  readonly caps?: ReadonlyMap<Mint, SpendCap> | undefined;
  readonly maxPosition: ReadonlyMap<Mint, ValueLimit>;
  readonly maxOpenIntents: number;
  readonly maxSwaps: { readonly [span in RateSpan]?: number | undefined };
  /** Lamports that no strategy can spend, because a wallet without SOL cannot exit. */
  readonly solReserve: Amount;
  /** The most that all positions together may be worth, swaps in flight included. */
  readonly maxExposure?: ValueLimit | undefined;
  /** How old the newest price of a pair may be for an entry, and the quote that is signed. */
  readonly maxQuoteAgeMs?: Millis | undefined;
  /** How many slots behind the chain a quote may be that is signed. */
  readonly maxQuoteAgeSlots?: number | undefined;
  /** How old a price may be that values an amount for a limit; 2 hours where absent. */
  readonly maxValueAgeMs?: Millis | undefined;
  readonly protections?: readonly Protection[] | undefined;
  /** The conditions for an entry into a token; where absent, tokens are not checked. */
  readonly tokenSafety?: TokenSafetyLimits | undefined;
}

/** The most that the signer signs away of one token, smallest units; undefined is unlimited. */
export interface SpendCap {
  readonly perTrade?: Amount | undefined;
  readonly perHour?: Amount | undefined;
  readonly perDay?: Amount | undefined;
}

/** The conditions for buying a token. Missing data counts as a fault. */
export interface TokenSafetyLimits {
  /** Tokens that are not checked, because their issuers are trusted. */
  readonly trusted: ReadonlySet<Mint>;
  readonly minLiquidityUsd: number;
  readonly minOrganicScore: number;
  readonly minHolders: number;
  readonly maxTopHoldersPct: number;
  readonly maxTransferFeeBps: Bps;
  /** Extensions of a Token-2022 mint, by name, that are allowed beside the harmless ones. */
  readonly allowedExtensions: ReadonlySet<string>;
  /** How long a check is valid. */
  readonly validForMs: Millis;
}

/** The limits of one strategy. */
export interface StrategyLimits {
  readonly maxAgeMs?: Millis | undefined;
  /** The most that its positions together may be worth, swaps in flight included. */
  readonly maxExposure?: ValueLimit | undefined;
}

/** An amount of a token that bounds the value of something. */
export interface ValueLimit {
  readonly mint: Mint;
  readonly amount: Amount;
}

/** The swaps that a protection counts together and stops: those of each strategy, of each token, or all. */
export type ProtectionScope = 'strategy' | 'token' | 'global';

/** The effect of a triggered protection. `deny` refuses entries; `flatten` sells holdings and refuses entries. */
export type ProtectionAction = 'deny' | 'reduce-only' | 'halt' | 'flatten';

/**
 * When a triggered protection is released: a span after it was triggered, as soon as its condition no longer holds, at
 * the next midnight UTC, or when an operator resumes.
 */
export type ProtectionRelease =
  | { readonly kind: 'elapsed'; readonly afterMs: Millis }
  | { readonly kind: 'cleared' }
  | { readonly kind: 'next-day' }
  | { readonly kind: 'operator' };

/** The condition that triggers a protection. */
export type ProtectionTrigger =
  /** A swap closed, with a loss or in any way: a pause. */
  | { readonly kind: 'cooldown'; readonly after: 'loss' | 'trade' }
  /** A number of losing exits in a row, within a span. */
  | { readonly kind: 'loss-streak'; readonly losses: number; readonly withinMs: Millis }
  /** A number of exits within a span whose profit together was below a share of their cost. */
  | { readonly kind: 'low-profit'; readonly trades: number; readonly withinMs: Millis; readonly leastBps: number }
  /** Equity a share below its all-time peak, which is kept over restarts. */
  | { readonly kind: 'max-drawdown'; readonly limitPct: number }
  /** Equity an amount below its value at the beginning of the UTC day. */
  | { readonly kind: 'daily-loss'; readonly limit: ValueLimit }
  /** Network fees of the UTC day, tips and failed swaps included. */
  | { readonly kind: 'fee-budget'; readonly limitLamports: Lamports }
  /** A feed of a strategy has not answered for a span. */
  | { readonly kind: 'stale-feed'; readonly afterMs: Millis }
  /** A number of swaps in a row whose outcomes are unknown. */
  | { readonly kind: 'blind-execution'; readonly unknowns: number }
  /** A swap whose outcome has been unknown for a span. */
  | { readonly kind: 'unresolved-intent'; readonly afterMs: Millis }
  /** A number of signed swaps that failed or expired, within a span. */
  | { readonly kind: 'error-rate'; readonly failures: number; readonly withinMs: Millis }
  /** The chain has less than the ledger, and no withdrawal explains it. */
  | { readonly kind: 'reconciliation-mismatch' }
  /** No operator has been present for a span. */
  | { readonly kind: 'dead-man'; readonly afterMs: Millis };

/** One configured protection; there may be several of one kind. */
export interface Protection {
  readonly trigger: ProtectionTrigger;
  readonly scope: ProtectionScope;
  readonly action: ProtectionAction;
  readonly release: ProtectionRelease;
}
