import type { Amount, Bps } from '../core/amount.ts';
import type { Millis } from '../core/time.ts';
import type { Mint } from '../market/token.ts';
import type { Protection } from './protection.ts';
import type { RateSpan } from './swap-rate.ts';

/** An amount of a token that bounds the value of something. */
export interface ValueLimit {
  readonly mint: Mint;
  readonly amount: Amount;
}

/** What no strategy may exceed. Absent where the configuration sets no limit. */
export interface RiskLimits {
  readonly maxSlippageBps: Bps;
  readonly maxPriceImpactBps: Bps;
  readonly maxFeeBps: Bps;
  readonly maxTrade?: ValueLimit | undefined;
  readonly maxPosition: ReadonlyMap<Mint, ValueLimit>;
  readonly maxOpenIntents: number;
  readonly maxSwaps: { readonly [span in RateSpan]?: number | undefined };
  /** Lamports that no strategy can spend: a wallet without SOL cannot exit. */
  readonly solReserve: Amount;
  /** What all positions, in flight and reserved included, may be worth together. */
  readonly maxExposure?: ValueLimit | undefined;
  /** How old the newest price of a pair may be for an entry; and the quote that is signed. */
  readonly maxQuoteAgeMs?: Millis | undefined;
  /** How many slots behind the chain a quote may be that is signed. */
  readonly maxQuoteAgeSlots?: number | undefined;
  readonly protections?: readonly Protection[] | undefined;
  /** What a token must be for an entry into it; left out, tokens are not looked at. */
  readonly tokenSafety?: TokenSafetyLimits | undefined;
}

/** What a token must be to be bought. What nobody says of it counts as bad. */
export interface TokenSafetyLimits {
  /** Never looked at: their issuer is trusted, whatever he could do. */
  readonly trusted: ReadonlySet<Mint>;
  readonly minLiquidityUsd: number;
  readonly minOrganicScore: number;
  readonly minHolders: number;
  readonly maxTopHoldersPct: number;
  readonly maxTransferFeeBps: Bps;
  /** Extensions of a Token-2022 mint, by name, that are let through beside the harmless ones. */
  readonly allowedExtensions: ReadonlySet<string>;
  /** How long a look holds. */
  readonly validForMs: Millis;
}

/** What bounds one strategy by its own configuration. */
export interface StrategyLimits {
  readonly maxAgeMs?: Millis | undefined;
  /** What its positions, in flight and reserved included, may be worth together. */
  readonly maxExposure?: ValueLimit | undefined;
}

/** Every code with which risk refuses a proposal, with what it means: the one source for code and documents. */
export const DENIALS = {
  TRADING_HALTED: 'trading is halted',
  TRADING_REDUCE_ONLY: 'only exits are allowed now',
  SERVICE_UNAUTHORIZED: 'the service refuses the API key, so nothing can be quoted or sent',
  PROPOSAL_INVALID: 'the proposal itself makes no sense',
  KEY_REPEATED: 'this strategy already acted under this key',
  INPUT_STALE: 'what the strategy looks at is older than its max_age',
  INTENT_OPEN_FOR_MINT: 'another swap of the same input is still open in this wallet',
  INTENTS_OPEN_LIMIT: 'as many swaps are open as max_open_intents allows',
  RATE_PER_MINUTE: 'max_swaps.per_minute is used up',
  RATE_PER_HOUR: 'max_swaps.per_hour is used up',
  RATE_PER_DAY: 'max_swaps.per_day is used up',
  BUDGET_EXCEEDED: 'the strategy has less than this of its budget',
  BALANCE_INSUFFICIENT: 'the wallet has less than this',
  SOL_RESERVE: 'it would touch the SOL kept for fees and exits',
  SLIPPAGE_EXCEEDS_MAX: 'more slippage was asked for than max_slippage_bps',
  TRADE_EXCEEDS_MAX: 'the trade is larger than max_trade',
  POSITION_EXCEEDS_MAX: 'the position would be larger than max_position',
  VALUE_UNKNOWN: 'no price is known to hold it against a limit',
} as const;
export type DenialCode = keyof typeof DENIALS;
