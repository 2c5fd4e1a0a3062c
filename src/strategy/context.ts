import type { Observable } from 'rxjs';
import type { Amount, Bps } from '../core/amount.ts';
import { amount } from '../core/amount.ts';
import type { Random } from '../core/random.ts';
import type { Clock, Millis } from '../core/time.ts';
import { parseDuration } from '../core/time.ts';
import type { Pair, Token, TokenAmount } from '../market/token.ts';
import type { DenialCode } from '../trading/limits.ts';
import type { Fill, Outcome } from '../trading/intent.ts';
import type { Holding } from '../trading/positions/holding.ts';
import type { AlertLevel, AlertProposal, Route, Size, SwapProposal } from '../trading/proposal.ts';
import type { Input } from './input.ts';
import type { Stateful, StatefulOptions } from './stateful.ts';

/** Refinements of a swap; what is left out follows the configuration. */
export interface SwapOptions {
  readonly slippageBps?: Bps;
  readonly route?: Route;
  readonly limit?: Amount;
  /** Idempotency: the strategy acts once under a key, over restarts too. */
  readonly key?: string;
  /** Free text of at most 200 characters; outcomes and denials of the swap carry it. */
  readonly tag?: string;
  /**
   * Waits for a refusal that passes by itself, such as another open swap of the same token, a rate, or a missing price:
   * the engine makes the proposal again under the same key, which is needed, every so often until a duration from now
   * or a time. `denials$` emits the refusal when the wait is over. A wait survives restarts.
   */
  readonly retry?: { readonly until: string | Millis; readonly every: string };
}

/** The named values of an alert. */
export type AlertData = NonNullable<AlertProposal['data']>;

/** A strategy's holding of a token. Costs and values are in smallest units of the budget's token. */
export interface Position extends Holding {
  readonly token: Token;
  /** Value less cost; undefined where one is unknown. */
  readonly result: bigint | undefined;
  /** The result as a fraction of the cost: 0.05 is 5 % up. For signals, never for money. */
  readonly gain: number | undefined;
  /** The average cost of one whole token in whole tokens of the budget, fees included. For signals, never for money. */
  readonly entryPrice: number | undefined;
  /** The price at which the whole position can be sold, in the same unit. */
  readonly salePrice: number | undefined;
}

/** Returns a holding as a position; `currency` is the budget's token. */
export function positionOf(token: Token, holding: Holding, currency: Token | undefined): Position {
  const { amount: held, available, cost, value } = holding;
  const isOpen = held > 0n;
  const isRated = cost !== undefined && cost > 0n && value !== undefined;
  const priceOf = (worth: Amount | undefined): number | undefined => (
    !isOpen || worth === undefined || currency === undefined ? undefined
      : (Number(worth) / Number(held)) * 10 ** (token.decimals - currency.decimals));
  return {
    token, amount: held, available, cost, value,
    result: cost === undefined || value === undefined ? undefined : value - cost,
    gain: isRated ? Number(value - cost) / Number(cost) : undefined,
    entryPrice: priceOf(cost), salePrice: priceOf(value),
  };
}

/** The outcome of a swap that landed. */
export interface FilledSwap extends Outcome {
  readonly fill: Fill;
}

/** A proposal that risk refused. */
export interface DeniedSwap {
  readonly proposal: SwapProposal;
  readonly code: DenialCode;
  readonly reason: string;
  /** Whether the refusal passes by itself, so that the same proposal may be approved later. */
  readonly isPassing: boolean;
  /** The key and the tag of the proposal. */
  readonly key?: string | undefined;
  readonly tag?: string | undefined;
}

/**
 * Everything that a strategy can access: time, seeded randomness, its own portfolio, and proposals. No key, no network.
 */
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
   * Returns the number of this strategy's swaps that are under way. An exit in parts counts as one while it waits.
   */
  openIntents(): number;
  /** Returns the strategy's holding of a token: its amount, average entry price, and result at the sale price. */
  position(token: Token): Position;
  /**
   * Returns what the strategy's holdings would be sold for, in smallest units of the budget's token. Undefined without
   * a budget, and where a holding has no fresh price. Network fees are paid from the wallet's SOL and not in it.
   */
  equity(): Amount | undefined;
  /** Returns the configured budget; undefined where the strategy has none. */
  budget(): TokenAmount | undefined;
  /**
   * The outcomes of this strategy's intents, one transition at a time, each with the key and the tag of its proposal.
   */
  readonly outcomes$: Observable<Outcome>;
  /** The outcomes of swaps that landed: what each of them spent and brought. */
  readonly fills$: Observable<FilledSwap>;
  /** The refused proposals of this strategy, so that it can propose them again. */
  readonly denials$: Observable<DeniedSwap>;
  /**
   * Returns the events of an input that `inputs` does not declare, of a token that was just discovered for example.
   * The watch begins with the first subscription of the Observable, and ends with the last one; then its feeds are
   * polled no more. It delivers what arrives from its begin on, and nothing during a warm-up. A strategy that watches
   * more feeds at once than `risk.max_watches` is stopped. Throws STRATEGY_INVALID for an input that cannot be polled.
   */
  watch<T>(input: Input<T>): Observable<T>;
  /**
   * Returns an operator that folds events into a state that outlives restarts. The state is saved together with each
   * swap that it led to, and at least once a minute. Call it in `run` itself, once for each name; several streams may
   * use the same operator.
   *
   * States are plain data (bigints included) of 64 KiB in all, and frozen: a reducer returns a new state, or the same
   * one where nothing changed. With a state, `outcomes$` emits the last outcome of each swap exactly once, including
   * outcomes from the time when the bot was down. The state does not change during a warm-up, because it is younger
   * than the recorded events.
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
   * the others by itself, over restarts too. Until the last part is sold, `outcomes$` emits each part, `openIntents`
   * counts the exit as one, and other swaps of this strategy from or into the token are refused (EXIT_UNDER_WAY). Where
   * a cap has no room, the proposal is refused as CAP_USED_UP, but the engine executes it as soon as there is room: do
   * not repeat it. After eight failed parts in a row the exit is given up with a critical alert.
   */
  sell(pair: Pair, size: TokenAmount | Exclude<Size, Amount>, reason: string, options?: SwapOptions): SwapProposal;
  /** Returns a proposal to swap any token for any other. */
  swap(
    from: Token, to: Token, size: TokenAmount | Exclude<Size, Amount>, reason: string, options?: SwapOptions,
  ): SwapProposal;
  /** Returns a proposal to send a message to people. */
  alert(level: AlertLevel, message: string, data?: AlertData): AlertProposal;
}

/**
 * Returns the proposal of a swap at a time. Throws DURATION_INVALID, and TypeError where the amount is of another token
 * than the one spent.
 */
export function swapProposal(
  from: Token, to: Token, size: TokenAmount | Exclude<Size, Amount>, reason: string,
  { retry, ...options }: SwapOptions = {}, now: Millis = 0,
): SwapProposal {
  return {
    kind: 'swap', inputMint: from.mint, outputMint: to.mint, amount: sizeOf(from, size), reason, ...options,
    ...(retry === undefined ? {} : { retry: {
      until: typeof retry.until === 'number' ? retry.until : now + parseDuration(retry.until),
      everyMs: parseDuration(retry.every),
    } }),
  };
}

function sizeOf(from: Token, size: TokenAmount | Exclude<Size, Amount>): Size {
  if (size === 'all' || 'fraction' in size) return size;
  if (size.token.mint !== from.mint)
    throw new TypeError(`expected an amount of ${from.symbol} to spend, got ${size.token.symbol}`);
  return amount(size.amount);
}
