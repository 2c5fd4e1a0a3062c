import type { Amount, Bps } from '../core/amount.ts';
import type { Millis } from '../core/time.ts';
import type { Mint } from '../market/token.ts';
import type { Protection } from './protection.ts';
import type { RateSpan } from './swap-rate.ts';
import type { ValueLimit } from './value-limit.ts';

export type { ValueLimit } from './value-limit.ts';

/** How old a quote may be when it is signed, where nothing is configured. */
export const QUOTE_MAX_AGE_MS: Millis = 2_000;

/** What no strategy may exceed. Absent where the configuration sets no limit. */
export interface RiskLimits {
  readonly maxSlippageBps: Bps;
  readonly maxPriceImpactBps: Bps;
  readonly maxFeeBps: Bps;
  readonly maxTrade?: ValueLimit | undefined;
  /** What the signer lets go of a token: an exit that is larger goes in parts. */
  readonly caps?: ReadonlyMap<Mint, SpendCap> | undefined;
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
  /** How old a price may be with which something is held against a limit; left out, two hours. */
  readonly maxValueAgeMs?: Millis | undefined;
  readonly protections?: readonly Protection[] | undefined;
  /** What a token must be for an entry into it; left out, tokens are not looked at. */
  readonly tokenSafety?: TokenSafetyLimits | undefined;
}

/** The most that is signed away of one token, smallest units; what is undefined has no bound. */
export interface SpendCap {
  readonly perTrade?: Amount | undefined;
  readonly perHour?: Amount | undefined;
  readonly perDay?: Amount | undefined;
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
