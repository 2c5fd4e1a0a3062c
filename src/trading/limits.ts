import type { Amount, Bps, Lamports } from '../core/amount.ts';
import type { Millis } from '../core/time.ts';
import type { Mint } from '../market/token.ts';
import type { ExitPlan } from './positions/exit-plan.ts';
import type { Route } from './proposal.ts';
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
  /** How many feeds a strategy may watch at once beside its inputs; 20 where absent. */
  readonly maxWatches?: number | undefined;
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
  /** Where absent, only configured tokens are bought. */
  readonly discovered?: DiscoveredLimits | undefined;
}

/** The limits of tokens that the configuration does not name: on the cost of what is held, and on what they are. */
export interface DiscoveredLimits {
  readonly perToken: ValueLimit;
  readonly total: ValueLimit;
  /** The least time since the first pool. */
  readonly minAgeMs: Millis;
  readonly mustBeVerified: boolean;
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
  /** The route of all its swaps; its proposals choose where absent. */
  readonly route?: Route | undefined;
  /** The rules by which its positions are sold, whatever its code does. */
  readonly exits?: ExitPlan | undefined;
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

/** The category of a denial; the documents are grouped by it. */
export type DenialCategory =
  'state' | 'proposal' | 'freshness' | 'count' | 'money' | 'size' | 'token' | 'protection';

/** The facts of one code, for the rules and for the documents. */
interface DenialFacts {
  readonly meaning: string;
  readonly category: DenialCategory;
  /** The swaps that are counted together. */
  readonly scope: string;
  /** The cause of the refusal. */
  readonly trigger: string;
  /** The swaps that it refuses. Exits stay possible where a refusal would keep an unwanted position. */
  readonly action: 'refuses entries' | 'refuses entries and exits' | 'as configured';
  /** When the refusals end. */
  readonly release: string;
}

const protection = (meaning: string, scope: string, trigger: string): DenialFacts =>
  ({ meaning, category: 'protection', scope, trigger, action: 'as configured', release: 'as configured' });

/** Every code with which risk refuses a swap. */
export const DENIALS = {
  TRADING_HALTED: {
    meaning: 'trading is halted', category: 'state', scope: 'everything, or one strategy or token',
    trigger: 'the operator, the file STOP, safe mode, or a protection whose action is halt',
    action: 'refuses entries and exits', release: 'the operator resumes, or the protection is released',
  },
  TRADING_REDUCE_ONLY: {
    meaning: 'only exits are allowed now', category: 'state', scope: 'everything, or one strategy',
    trigger: 'the operator, the configuration, or a flatten under way', action: 'refuses entries',
    release: 'the operator resumes',
  },
  PAIR_PAUSED: {
    meaning: 'the pair is paused', category: 'state', scope: 'one pair, in either direction',
    trigger: 'gannet pause PAIR', action: 'refuses entries', release: 'its time is over, or the operator resumes it',
  },
  STRATEGY_PAUSED: {
    meaning: 'the strategy is paused', category: 'state', scope: 'one strategy',
    trigger: 'gannet pause STRATEGY', action: 'refuses entries',
    release: 'its time is over, or the operator resumes it',
  },
  SERVICE_UNAUTHORIZED: {
    meaning: 'the service refuses the API key, so nothing can be quoted or sent', category: 'state',
    scope: 'everything',
    trigger: 'an answer 401', action: 'refuses entries and exits', release: 'the service takes the key again',
  },
  SERVICE_FORBIDDEN: {
    meaning: 'the service refuses your region, address or key, so nothing can be quoted or sent', category: 'state',
    scope: 'everything',
    trigger: 'two answers 403 in a row to requests about swaps; 402 and 451 count as 403',
    action: 'refuses entries and exits', release: 'the service takes them again',
  },
  SERVICE_SILENT: {
    meaning: 'the service does not answer', category: 'state', scope: 'everything',
    trigger: 'requests in a row without an answer, or with an answer 5xx', action: 'refuses entries',
    release: 'the service answers, at once',
  },
  STRATEGY_UNKNOWN: {
    meaning: 'the strategy is no longer configured', category: 'state', scope: 'one strategy',
    trigger: 'a further attempt of a swap that an earlier configuration began', action: 'refuses entries',
    release: 'it is configured again',
  },
  PROPOSAL_INVALID: {
    meaning: 'the proposal is invalid', category: 'proposal', scope: 'the proposal',
    trigger: 'one token on both sides, an unknown token, an amount of zero', action: 'refuses entries and exits',
    release: 'a valid proposal',
  },
  KEY_REPEATED: {
    meaning: 'this strategy already acted under this key', category: 'proposal', scope: 'one strategy',
    trigger: 'the same key again', action: 'refuses entries and exits', release: 'another key',
  },
  SLIPPAGE_EXCEEDS_MAX: {
    meaning: 'more slippage was asked for than max_slippage_bps', category: 'proposal', scope: 'the proposal',
    trigger: 'risk.max_slippage_bps', action: 'refuses entries and exits', release: 'a proposal that asks for less',
  },
  INPUT_STALE: {
    meaning: 'an input of the strategy is older than its max_age', category: 'freshness', scope: 'one strategy',
    trigger: 'strategies[].max_age', action: 'refuses entries and exits',
    release: 'every input is young enough; a flatten does not wait for it',
  },
  QUOTE_STALE: {
    meaning: 'the newest price of the pair is older than max_quote_age, or there is none', category: 'freshness',
    scope: 'one pair', trigger: 'risk.max_quote_age', action: 'refuses entries', release: 'a newer price',
  },
  INTENT_OPEN_FOR_MINT: {
    meaning: 'another swap of the same input is still open in this wallet', category: 'count',
    scope: 'one token of the wallet',
    trigger: 'an open swap', action: 'refuses entries and exits', release: 'that swap is closed',
  },
  INTENTS_OPEN_LIMIT: {
    meaning: 'as many swaps are open as max_open_intents allows', category: 'count', scope: 'everything',
    trigger: 'risk.max_open_intents', action: 'refuses entries', release: 'one of them is closed',
  },
  EXIT_UNDER_WAY: {
    meaning: 'the strategy’s exit from this token is under way in parts', category: 'count',
    scope: 'one token of one strategy',
    trigger: 'an exit that is larger than one swap may be', action: 'refuses entries and exits',
    release: 'the last part is sold, or the exit is given up',
  },
  CAP_USED_UP: {
    meaning: 'the signer’s cap of the hour or of the day leaves no room for the exit', category: 'count',
    scope: 'one token of the wallet', trigger: 'signer.caps', action: 'refuses entries and exits',
    release: 'the cap leaves room again; the exit then goes on by itself',
  },
  RATE_PER_MINUTE: {
    meaning: 'max_swaps.per_minute is used up', category: 'count', scope: 'everything',
    trigger: 'risk.max_swaps.per_minute', action: 'refuses entries', release: 'the oldest is a minute old',
  },
  RATE_PER_HOUR: {
    meaning: 'max_swaps.per_hour is used up', category: 'count', scope: 'everything',
    trigger: 'risk.max_swaps.per_hour', action: 'refuses entries', release: 'the oldest is an hour old',
  },
  RATE_PER_DAY: {
    meaning: 'max_swaps.per_day is used up', category: 'count', scope: 'everything',
    trigger: 'risk.max_swaps.per_day', action: 'refuses entries', release: 'the oldest is a day old',
  },
  BUDGET_EXCEEDED: {
    meaning: 'the strategy has less than this of its budget', category: 'money', scope: 'one strategy',
    trigger: 'strategies[].budget', action: 'refuses entries and exits', release: 'it has enough',
  },
  BALANCE_INSUFFICIENT: {
    meaning: 'the wallet has less than this', category: 'money', scope: 'one token of the wallet',
    trigger: 'the balance, less what open swaps have claimed', action: 'refuses entries and exits',
    release: 'the wallet has enough; exits of "all" or a fraction sell what is there',
  },
  SOL_RESERVE: {
    meaning: 'it would touch the SOL kept for fees and exits', category: 'money', scope: 'the wallet',
    trigger: 'wallet.sol_reserve, after the swap and the deposits of token accounts it may open',
    action: 'refuses entries',
    release: 'there is more SOL; exits of SOL itself leave the reserve, exits of other tokens may use it',
  },
  TRADE_EXCEEDS_MAX: {
    meaning: 'the trade is larger than max_trade', category: 'size', scope: 'the swap',
    trigger: 'risk.max_trade', action: 'refuses entries', release: 'a smaller one',
  },
  POSITION_EXCEEDS_MAX: {
    meaning: 'the position would be larger than max_position', category: 'size', scope: 'one token',
    trigger: 'risk.max_position', action: 'refuses entries', release: 'a smaller position',
  },
  STRATEGY_EXPOSURE_EXCEEDS_MAX: {
    meaning: 'the strategy’s positions would be worth more than its max_exposure', category: 'size',
    scope: 'one strategy',
    trigger: 'strategies[].max_exposure', action: 'refuses entries', release: 'smaller positions',
  },
  EXPOSURE_EXCEEDS_MAX: {
    meaning: 'all positions together would be worth more than max_exposure', category: 'size', scope: 'everything',
    trigger: 'risk.max_exposure', action: 'refuses entries', release: 'smaller positions',
  },
  DISCOVERED_TOKEN_EXCEEDS_MAX: {
    meaning: 'more would be spent on a token that the configuration does not name than is allowed', category: 'size',
    scope: 'one token', trigger: 'risk.discovered_tokens.per_token', action: 'refuses entries',
    release: 'a smaller holding',
  },
  DISCOVERED_TOTAL_EXCEEDS_MAX: {
    meaning: 'more would be spent on all tokens that the configuration does not name than is allowed', category: 'size',
    scope: 'everything', trigger: 'risk.discovered_tokens.total', action: 'refuses entries',
    release: 'smaller holdings',
  },
  VALUE_UNKNOWN: {
    meaning: 'no price is known for the comparison with a limit', category: 'size', scope: 'one token',
    trigger: 'a limit on value where every price is missing, too old, or not a number', action: 'refuses entries',
    release: 'a price arrives',
  },
  TOKEN_UNSAFE: {
    meaning: 'the safety check of the token found a fault', category: 'token', scope: 'one token',
    trigger: 'risk.token_safety', action: 'refuses entries', release: 'a later check finds no fault',
  },
  TOKEN_UNVETTED: {
    meaning: 'the token has not been checked yet, or too long ago', category: 'token', scope: 'one token',
    trigger: 'risk.token_safety', action: 'refuses entries', release: 'the check is done',
  },
  COOLDOWN_ACTIVE: protection(
    'a pause after a swap', 'each strategy, each token, or everything', 'a swap that closed, with a loss or in any way',
  ),
  LOSS_STREAK: protection(
    'too many losing exits in a row', 'each strategy, each token, or everything',
    'so many losses in a row within a span',
  ),
  PROFIT_TOO_LOW: protection(
    'the latest exits brought too little', 'each strategy, each token, or everything',
    'so many exits within a span, together below a share of their cost',
  ),
  DRAWDOWN_EXCEEDS_MAX: protection(
    'equity is too far below its peak', 'each strategy, or everything', 'equity against its all-time peak',
  ),
  DAILY_LOSS_EXCEEDS_MAX: protection(
    'the day has lost too much', 'each strategy, or everything', 'equity against the beginning of the day, UTC',
  ),
  FEE_BUDGET_EXCEEDED: protection(
    'the day’s network fees are used up', 'each strategy, or everything',
    'fees and tips of the day, UTC, of failed swaps too',
  ),
  FEED_STALE: protection(
    'a feed has not answered for too long', 'each strategy, or everything',
    'the age of the last answer of a feed of the strategy',
  ),
  EXECUTION_BLIND: protection(
    'the outcomes of the latest swaps are unknown', 'each strategy, or everything',
    'so many swaps in a row that became unknown',
  ),
  INTENT_UNRESOLVED: protection(
    'the outcome of a swap is unknown for too long', 'each strategy, or everything',
    'the time since a swap became unknown',
  ),
  ERROR_RATE_EXCEEDS_MAX: protection(
    'too many swaps fail', 'each strategy, each token, or everything',
    'so many signed swaps that failed or expired within a span; what was never signed does not count',
  ),
  LEDGER_MISMATCH: protection(
    'the chain has less than the ledger, for no known cause', 'each token, or everything',
    'a reconciliation that finds money missing',
  ),
  OPERATOR_ABSENT: protection(
    'no operator has been present for too long', 'everything', 'the time since a command of an operator',
  ),
} as const satisfies Readonly<Record<string, DenialFacts>>;
/** The stable code of a denial. */
export type DenialCode = keyof typeof DENIALS;

/** Returns whether a text is a denial code. */
export function isDenialCode(text: string): text is DenialCode {
  return Object.hasOwn(DENIALS, text);
}

/** A refusal: a value with a code, never an exception. */
export interface Denial {
  readonly code: DenialCode;
  /** For people: the value found and the limit. */
  readonly reason: string;
}
