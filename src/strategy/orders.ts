import type { Observable, OperatorFunction } from 'rxjs';
import { EMPTY, filter, ignoreElements, map, merge, of } from 'rxjs';
import type { Millis } from '../core/time.ts';
import { parseDuration } from '../core/time.ts';
import type { Token, TokenAmount } from '../market/token.ts';
import type { Outcome } from '../trading/intent.ts';
import type { SwapProposal } from '../trading/proposal.ts';
import type { StrategyContext } from './context.ts';
import type { Timed } from './schedules.ts';
import { RETRY_EVERY_MS } from './schedules.ts';
import { fixedSize } from './sizing.ts';
import { delay } from './time.ts';

// Order types over plain streams. Each order has a key, so that it swaps at most once, over restarts too. What it
// remembers between events is a state of the strategy, named after the key: lower case letters, digits and
// dashes. Call them in `run` itself, as `ctx.stateful`.

/** An event with a price, such as a quote. */
interface Priced {
  readonly price: number;
}

/** How far an order is. A swap that failed or expired has used its key, so the next attempt has another one. */
interface OrderState {
  readonly attempt: number;
  readonly phase: 'open' | 'pending' | 'done';
}

type Ordering = Pick<StrategyContext, 'stateful' | 'outcomes$'>;

/** An order of a strategy: swaps once, at the first event that asks for it. */
interface Order {
  /** Whether a swap may be proposed now. */
  isOpen(): boolean;
  /** Returns the swap of the present attempt. */
  propose(swap: SwapProposal): SwapProposal;
  /** Follows the outcomes, and emits nothing. */
  readonly follow$: Observable<never>;
}

function orderOf(context: Ordering, key: string): Order {
  const prefix = `${key}/`;
  const initial: OrderState = { attempt: 1, phase: 'open' };
  const state = context.stateful<OrderState, Outcome>(`order-${key}`, initial, (known, outcome) => {
    const { key: ended, state: reached } = outcome;
    if (ended !== `${prefix}${known.attempt}`) return known;
    if (reached === 'confirmed') return { ...known, phase: 'done' };
    if (reached === 'abandoned') return { ...known, phase: 'open' };
    return reached === 'failed' || reached === 'expired' ? { attempt: known.attempt + 1, phase: 'open' }
      : { ...known, phase: 'pending' };
  });
  return {
    isOpen: () => state.value.phase === 'open',
    propose: (swap) => ({ ...swap, key: `${prefix}${state.value.attempt}` }),
    follow$: context.outcomes$.pipe(state, ignoreElements()),
  };
}

/**
 * Swaps once, at the first event for which a condition holds. A refused or failed swap is proposed again at the next
 * such event; there are never two swaps.
 */
export function when<E>(
  context: Ordering, key: string, condition: (event: E) => boolean, swap: (event: E) => SwapProposal,
): OperatorFunction<E, SwapProposal> {
  const order = orderOf(context, key);
  return (source) => merge(order.follow$, source.pipe(
    filter((event) => order.isOpen() && condition(event)),
    map((event) => order.propose(swap(event))),
  ));
}

/** The side and the price of an order. */
interface PriceOrder {
  readonly key: string;
  readonly side: 'buy' | 'sell';
  readonly price: number;
}

/** Swaps once at its price or a better one: a purchase at or below it, a sale at or above it. */
export function limitOrder<E extends Priced>(
  context: Ordering, { key, side, price: at }: PriceOrder, swap: (event: E) => SwapProposal,
): OperatorFunction<E, SwapProposal> {
  return when(context, key, side === 'buy' ? ({ price }) => price <= at : ({ price }) => price >= at, swap);
}

/** Swaps once at its price or a worse one: a sale at or below it, a purchase at or above it. */
export function stopOrder<E extends Priced>(
  context: Ordering, { key, side, price: at }: PriceOrder, swap: (event: E) => SwapProposal,
): OperatorFunction<E, SwapProposal> {
  return when(context, key, side === 'buy' ? ({ price }) => price >= at : ({ price }) => price <= at, swap);
}

/** One side of an OCO order. */
export interface OcoSide<E> {
  readonly when: (event: E) => boolean;
  readonly swap: (event: E) => SwapProposal;
}

/** One cancels the other: swaps once, by the first side in the list whose condition holds. */
export function oneCancelsOther<E>(
  context: Ordering, key: string, sides: readonly OcoSide<E>[],
): OperatorFunction<E, SwapProposal> {
  const sideAt = (event: E): OcoSide<E> | undefined => sides.find((side) => side.when(event));
  return when(context, key, (event) => sideAt(event) !== undefined, (event) => sideAt(event)!.swap(event));
}

/**
 * Sells once when the price is a distance (0.02 is 2 %) below the best price since the start, which is kept. It counts
 * from `after` on: the best price must have reached that.
 */
export function trailingOrder<E extends Priced>(
  context: Ordering, { key, distance, after = 0 }: {
    readonly key: string; readonly distance: number; readonly after?: number | undefined;
  }, swap: (event: E) => SwapProposal,
): OperatorFunction<E, SwapProposal> {
  const order = orderOf(context, key);
  const best = context.stateful(`best-${key}`, 0, (peak, { price }: E) => Math.max(peak, price));
  return (source) => merge(order.follow$, source.pipe(
    best,
    filter(({ state: peak, event }) => order.isOpen() && peak >= after && event.price <= peak * (1 - distance)),
    map(({ event }) => order.propose(swap(event))),
  ));
}

/** The swaps of a bracket order. */
interface Bracket {
  readonly key: string;
  readonly token: Token;
  /** The gain and the loss of the position at which it is sold, as fractions of its cost. */
  readonly takeProfit: number;
  readonly stopLoss: number;
  /** How long the position is held at most, from the first event that shows it; unlimited where absent. */
  readonly timeLimit?: string | undefined;
  readonly enter: () => SwapProposal;
  readonly leave: (reason: string) => SwapProposal;
}

/**
 * Enters once, then sells the position at a gain, at a loss or after a time, whichever comes first; where one event
 * shows several, the loss counts. Gain and loss are those of the sale of the whole position (`ctx.position`), so watch
 * quotes of such sales.
 */
export function bracketOrder(
  context: Ordering & Pick<StrategyContext, 'now' | 'position'>,
  { key, token, takeProfit, stopLoss, timeLimit, enter, leave }: Bracket,
): OperatorFunction<unknown, SwapProposal> {
  const gain = (): number => context.position(token).gain ?? 0;
  const isHeld = (): boolean => context.position(token).amount > 0n;
  const entry = when<unknown>(context, `${key}-entry`, () => !isHeld(), enter);
  const exit = oneCancelsOther<unknown>(context, `${key}-exit`, [
    { when: () => isHeld() && gain() <= -stopLoss, swap: () => leave(`stop loss at ${percent(gain())}`) },
    { when: () => isHeld() && gain() >= takeProfit, swap: () => leave(`take profit at ${percent(gain())}`) },
    ...(timeLimit === undefined ? [] : [{ when: () => isOver(), swap: () => leave(`held for ${timeLimit}`) }]),
  ]);
  const entered = timeLimit === undefined ? undefined
    : context.stateful<Millis | null, Millis>(`held-${key}`, null, (known, now) => known ?? now);
  const limitMs = timeLimit === undefined ? Infinity : parseDuration(timeLimit);
  const isOver = (): boolean => isHeld() && context.now() - (entered?.value ?? Infinity) >= limitMs;
  const hold = (source: Observable<unknown>): Observable<never> => (entered === undefined ? EMPTY
    : source.pipe(filter(isHeld), map(() => context.now()), entered, ignoreElements()));
  return (source) => merge(source.pipe(entry), hold(source), source.pipe(exit));
}

function percent(fraction: number): string {
  return `${(fraction * 100).toFixed(2)} %`;
}

/** What a strategy is to hold from now on: a token, nothing of it (`cash`), or what it was to hold before (`same`). */
export interface HoldSignal {
  readonly hold: Token | 'cash' | 'same';
  readonly reason: string;
}

/** What a signal is followed with. */
interface Follow {
  readonly key: string;
  /** What may be held, one at a time. */
  readonly tokens: readonly Token[];
  /** What a purchase costs; less where less is available. */
  readonly size: TokenAmount;
  /**
   * `unknown` (default): the first signal says where the market stands, which is not a turn, so it buys nothing.
   * `cash`: it buys.
   */
  readonly initially?: 'unknown' | 'cash' | undefined;
}

interface Followed {
  /** A mint, `cash` or `unknown`. */
  readonly side: string;
  readonly purchases: number;
}

/** A signal with the number of purchases before it. */
interface Turn extends HoldSignal {
  readonly before: number;
}

/** The states in which a swap is over. */
const ENDS: ReadonlySet<Outcome['state']> = new Set(['confirmed', 'failed', 'expired', 'abandoned']);

/** How long a purchase is waited for where a refusal passes: beyond that the turn is over. */
const PURCHASE_WAIT = '1m';

type Following = Pick<StrategyContext, 'available' | 'denials$' | 'openIntents' | 'swap'> & Timed;

/**
 * Holds what a signal names. Where the signal turns from cash to a token it buys that once; a purchase that is refused
 * for good or fails is left out until the next turn. Where it turns to cash or to another token, all of what is held is
 * swapped for that, and again after a pause until nothing is left. A purchase that ends after the signal has turned
 * back is sold too. What the signal said last is kept over restarts.
 */
export function followSignal(
  context: Following, { key, tokens, size, initially = 'unknown' }: Follow,
): OperatorFunction<HoldSignal, SwapProposal> {
  const initial: Followed = { side: initially, purchases: 0 };
  const followed = context.stateful<Followed, Turn>(`signal-${key}`, initial, (known, { hold }) => {
    const side = hold === 'same' ? known.side : hold === 'cash' ? hold : hold.mint;
    if (side === known.side) return known;
    return { side, purchases: known.purchases + (known.side === 'cash' ? 1 : 0) };
  });
  const switched = (reason: string): SwapProposal | undefined => {
    const { side } = followed.value;
    if (side === 'unknown' || context.openIntents() > 0) return undefined;
    const held = tokens.find((token) => token.mint !== side && context.available(token) > 0n);
    return held && context.swap(held, tokens.find(({ mint }) => mint === side) ?? size.token, 'all', reason);
  };
  const ended = context.outcomes$.pipe(filter(({ state }) => ENDS.has(state)));
  // After a start as well: the pause may have been under way at the end of the last run.
  const unswitched = merge(of(undefined), context.denials$, ended).pipe(
    delay(context, `${RETRY_EVERY_MS}ms`), map(() => switched('the signal has turned, and this is still held')),
  );
  return (source) => merge(unswitched, source.pipe(
    map((signal): Turn => ({ ...signal, before: followed.value.purchases })), followed,
    map(({ state: { side, purchases }, event: { before, reason } }) => {
      const bought = purchases > before ? tokens.find(({ mint }) => mint === side) : undefined;
      if (bought === undefined || context.available(bought) > 0n || context.openIntents() > 0) return switched(reason);
      return context.swap(size.token, bought, fixedSize(context, size) ?? size, reason, {
        key: `${key}/${purchases}`, retry: { until: PURCHASE_WAIT, every: `${RETRY_EVERY_MS}ms` },
      });
    }),
  )).pipe(filter((swap) => swap !== undefined));
}
