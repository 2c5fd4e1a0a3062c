import type { MonoTypeOperatorFunction, OperatorFunction } from 'rxjs';
import { defer, filter, map, pairwise, scan, startWith } from 'rxjs';
import { formatDecimal } from '../core/amount.ts';
import { GannetError } from '../core/errors.ts';
import type { Millis } from '../core/time.ts';
import { parseDuration } from '../core/time.ts';
import type { Token, TokenAmount } from '../market/token.ts';
import { formatTokenAmount } from '../market/token.ts';
import type { SwapProposal } from '../trading/proposal.ts';
import type { Position, StrategyContext } from './context.ts';

/** The form of a finite double as JavaScript writes it: "0.29", "1e-7", "1.5e+21". */
const DOUBLE = /^(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/;

/**
 * Returns an amount of whole tokens, rounded at the token's smallest unit. The digits of the number count, so
 * `amountOf(USDC, 0.29)` is exactly 0.29 USDC, although 0.29 * 10^6 is not a whole number. Throws AMOUNT_INVALID on a
 * negative number, NaN and Infinity.
 */
export function amountOf(token: Token, value: number, rounding: 'floor' | 'ceil' = 'floor'): TokenAmount {
  const match = DOUBLE.exec(String(value));
  if (match === null) {
    throw new GannetError('AMOUNT_INVALID',
      `expected a finite amount of ${token.symbol} of at least 0, got ${String(value).slice(0, 40)}`);
  }
  const [, whole = '0', fraction = '', exponent = '0'] = match;
  const shift = token.decimals + Number(exponent) - fraction.length;
  const digits = BigInt(whole + fraction);
  if (shift >= 0) return { token, amount: digits * 10n ** BigInt(shift) };
  const unit = 10n ** BigInt(-shift);
  return { token, amount: rounding === 'floor' ? digits / unit : (digits + unit - 1n) / unit };
}

/** Returns an amount in whole tokens as a double: for signals and sizes, never for money. */
export function numberOf({ token, amount }: TokenAmount): number {
  return Number(formatDecimal(amount, token.decimals));
}

/** Returns a fraction of an amount, floored. Throws AMOUNT_INVALID on a negative fraction, NaN and Infinity. */
export function fractionOf(whole: TokenAmount, fraction: number): TokenAmount {
  const { token } = whole;
  const { amount: parts } = amountOf({ ...token, decimals: 12 }, fraction);
  return { token, amount: (whole.amount * parts) / 10n ** 12n };
}

/**
 * Returns one of several slices of an amount, numbered from 0. They differ by one smallest unit at most, none is larger
 * than the last one, and together they are the whole amount.
 */
export function sliceOf({ token, amount }: TokenAmount, slice: number, slices: number): TokenAmount {
  const upTo = (end: number): bigint => (amount * BigInt(end)) / BigInt(slices);
  return { token, amount: upTo(slice + 1) - upTo(slice) };
}

/** Returns the prices from the lowest to the highest that divide a range into steps of the same ratio or distance. */
export function levelsBetween(
  { low, high, steps, type }: {
    readonly low: number; readonly high: number; readonly steps: number; readonly type: 'geometric' | 'arithmetic';
  },
): number[] {
  return Array.from({ length: steps + 1 }, (_, i) => (
    type === 'arithmetic' ? low + ((high - low) * i) / steps : low * (high / low) ** (i / steps)));
}

/** Returns an amount, or undefined where it is less than the minimum of a trade. Throws TypeError on another token. */
export function atLeast(size: TokenAmount | undefined, minimum: TokenAmount): TokenAmount | undefined {
  if (size === undefined) return undefined;
  if (size.token.mint !== minimum.token.mint)
    throw new TypeError(`expected a minimum in ${size.token.symbol}, got ${formatTokenAmount(minimum)}`);
  return size.amount >= minimum.amount ? size : undefined;
}

type Sized = Pick<StrategyContext, 'available' | 'budget' | 'equity'>;

/** Returns a fixed size, or what is still available of its token where that is less; undefined where nothing is. */
export function fixedSize(context: Pick<Sized, 'available'>, size: TokenAmount): TokenAmount | undefined {
  const free = context.available(size.token);
  const amount = size.amount < free ? size.amount : free;
  return amount > 0n ? { token: size.token, amount } : undefined;
}

/**
 * Returns a share of the configured budget, at most what is available: the size stays the same after gains and losses.
 * Undefined without a budget, and where nothing is available.
 */
export function percentOfBudget(context: Sized, percent: number): TokenAmount | undefined {
  const budget = context.budget();
  return budget === undefined ? undefined : fixedSize(context, fractionOf(budget, percent / 100));
}

/**
 * Returns a share of the present equity in the budget's token, at most what is available: the size grows with gains and
 * shrinks with losses. Undefined without a budget or a price, and where nothing is available.
 */
export function percentOfEquity(context: Sized, percent: number): TokenAmount | undefined {
  const token = context.budget()?.token;
  const equity = context.equity();
  return token === undefined || equity === undefined ? undefined
    : fixedSize(context, fractionOf({ token, amount: equity }, percent / 100));
}

/**
 * Returns the share of equity that holds a volatility target: target / realised, at most `most`. Both are standard
 * deviations of returns over the same span. 0 where the realised one is not a number above 0, since nothing is known.
 *
 * Source: Moreira and Muir, Volatility-Managed Portfolios, Journal of Finance 72 (2017); Harvey et al., The Impact of
 * Volatility Targeting, Journal of Portfolio Management 45 (2018).
 */
export function volatilityWeight(target: number, realised: number, most = 1): number {
  return target > 0 && realised > 0 && realised < Infinity ? Math.min(most, target / realised) : 0;
}

/** A bet of two outcomes. Gain and loss are shares of the stake, before costs. */
interface Payoff {
  readonly probability: number;
  readonly win: number;
  readonly loss: number;
  /** The share of the stake that entry and exit together cost; paid in both outcomes. */
  readonly cost?: number | undefined;
}

/**
 * Returns the share of equity to stake: a fraction of f = p / a - (1 - p) / b, with the net gain b = win - cost and the
 * net loss a = loss + cost. 0 where the bet does not pay after costs; at most 1. A contract that costs c and pays 1 has
 * win = (1 - c) / c and loss = 1, which gives the well-known (p - c) / (1 - c).
 *
 * Source: Kelly, A New Interpretation of Information Rate, Bell System Technical Journal 35 (1956); for two outcomes
 * with a partial loss Thorp, The Kelly Criterion in Blackjack, Sports Betting and the Stock Market (2006). The default
 * fraction is a quarter, because estimated probabilities are too certain.
 */
export function fractionalKelly({ probability, win, loss, cost = 0 }: Payoff, fraction = 0.25): number {
  const gain = win - cost;
  const risk = loss + cost;
  if (!(probability >= 0 && probability <= 1 && gain > 0 && risk > 0 && fraction > 0)) return 0;
  return Math.min(1, Math.max(0, fraction * (probability / risk - (1 - probability) / gain)));
}

/** The costs of a round trip; rates in basis points of the traded value. */
interface RoundTrip {
  /** The fees of service and pool for one swap. */
  readonly feeBps: number;
  /** The price impact of one swap, half of the spread included. */
  readonly impactBps: number;
  /** The network fees and tips of both swaps. */
  readonly fixed?: TokenAmount | undefined;
  /** The value of one swap, in the token of `fixed`. */
  readonly size?: TokenAmount | undefined;
  /** What the edge must exceed the costs by; 0 where absent. */
  readonly safetyBps?: number | undefined;
}

/** Returns the cost of a round trip in basis points: two swaps, fixed costs by size, and the safety margin. */
export function roundTripBps({ feeBps, impactBps, fixed, size, safetyBps = 0 }: RoundTrip): number {
  const fixedBps = fixed === undefined || fixed.amount === 0n ? 0
    : size === undefined || size.amount <= 0n || size.token.mint !== fixed.token.mint ? Infinity
      : (Number(fixed.amount) / Number(size.amount)) * 10_000;
  return 2 * (feeBps + impactBps) + fixedBps + safetyBps;
}

/** Returns whether an expected edge in basis points exceeds what a round trip costs. False where it is not a number. */
export function coversCosts(edgeBps: number, trip: RoundTrip): boolean {
  return edgeBps > roundTripBps(trip);
}

/**
 * Lets a value pass, then none for a span on the clock. It begins again with each start of the strategy, unless `name`
 * keeps the time over restarts: call it in `run` itself then.
 */
export function cooldown<T>(
  context: Pick<StrategyContext, 'clock' | 'stateful'>, span: string, name?: string,
): MonoTypeOperatorFunction<T> {
  const spanMs = parseDuration(span);
  const { clock } = context;
  const kept = name === undefined ? undefined
    : context.stateful<Millis | null, T>(name, null, () => clock.now());
  if (kept !== undefined) {
    return (source) => source.pipe(
      filter(() => clock.now() >= (kept.value ?? -Infinity) + spanMs), kept, map(({ event }) => event));
  }
  return (source) => defer(() => {
    let until = -Infinity;
    return source.pipe(filter(() => {
      const now = clock.now();
      if (now < until) return false;
      until = now + spanMs;
      return true;
    }));
  });
}

/**
 * Lets values pass while no swap of the strategy is under way and nothing of these tokens can be sold. Without a token,
 * the swaps alone count.
 */
export function whenFlat<T>(
  context: Pick<StrategyContext, 'available' | 'openIntents'>, ...tokens: readonly Token[]
): MonoTypeOperatorFunction<T> {
  return filter(() => context.openIntents() === 0 && tokens.every((token) => context.available(token) === 0n));
}

/** What a hysteresis asks for beside its levels. */
export interface HysteresisOptions {
  /**
   * How many readings in a row must be on the other side. One between the levels, and NaN, begins the count again. 1
   * where absent.
   */
  readonly confirm?: number | undefined;
  /** The answer before the first reading. Where absent, the first clear reading is where it stands, and not told. */
  readonly start?: boolean | undefined;
  /** Keeps the answer and the count over restarts, under a name of `stateful`: call it in `run` itself then. */
  readonly keep?: { readonly context: Pick<StrategyContext, 'stateful'>; readonly name: string } | undefined;
}

/** The answer of a hysteresis, null before the first one, and the readings in a row that speak against it. */
interface Leaning {
  readonly side: boolean | null;
  readonly candidate: boolean | null;
  readonly agreeing: number;
}

/**
 * Emits true where a number reaches `enter`, and false where it is back at `leave`; between the two the last answer
 * stands. With `enter` below `leave`, true is the low side. The first clear reading is where it stands, not a crossing,
 * so it emits nothing; NaN changes no answer. Throws STRATEGY_INVALID where both levels are the same, and where
 * `confirm` is not a whole number above 0.
 */
export function hysteresis(
  enter: number, leave: number, { confirm = 1, start, keep }: HysteresisOptions = {},
): OperatorFunction<number, boolean> {
  if (!(enter > leave || enter < leave))
    throw new GannetError('STRATEGY_INVALID', `expected two different levels, got ${enter} and ${leave}`);
  if (!(Number.isInteger(confirm) && confirm > 0))
    throw new GannetError('STRATEGY_INVALID', `expected a number of readings above 0, got ${confirm}`);
  const isHigh = enter > leave;
  const sideOf = (value: number): boolean | null => {
    if (isHigh ? value >= enter : value <= enter) return true;
    return (isHigh ? value <= leave : value >= leave) ? false : null;
  };
  const lean = (known: Leaning, value: number): Leaning => {
    const candidate = sideOf(value);
    if (candidate === null || candidate === known.side)
      return known.agreeing === 0 ? known : { side: known.side, candidate: null, agreeing: 0 };
    const agreeing = candidate === known.candidate ? known.agreeing + 1 : 1;
    return agreeing < confirm ? { side: known.side, candidate, agreeing }
      : { side: candidate, candidate: null, agreeing: 0 };
  };
  const initial: Leaning = { side: start ?? null, candidate: null, agreeing: 0 };
  const kept = keep?.context.stateful(keep.name, initial, lean);
  return (source) => defer(() => (kept === undefined
    ? source.pipe(scan(lean, initial), startWith(initial))
    : source.pipe(kept, map(({ state }) => state), startWith(kept.value))).pipe(
    pairwise(),
    filter(([before, now]) => before.side !== null && now.side !== before.side),
    map(([, { side }]) => side === true),
  ));
}

/**
 * Lets each value pass whose key has not passed before, over restarts too. It remembers the newest `most` keys, 500
 * unless told, and all keys of one strategy share the size of its state. Call it in `run` itself.
 */
export function unseen<T>(
  context: Pick<StrategyContext, 'stateful'>, name: string, keyOf: (value: T) => string, most = 500,
): MonoTypeOperatorFunction<T> {
  const seen = context.stateful<readonly string[], T>(name, [], (keys, value) =>
    [...keys, keyOf(value)].slice(-most));
  return (source) => source.pipe(
    filter((value) => !seen.value.includes(keyOf(value))), seen, map(({ event }) => event));
}

/** The share of equity that a token is to have. */
export interface TargetWeight {
  readonly token: Token;
  readonly weight: number;
}

/** When weights are restored. */
export interface RebalanceOptions {
  /** How far a weight may be from its target before it is traded back: 0.05 is 5 points. */
  readonly band: number;
  /** The same as a part of the target, 0.2 for a fifth of it; the narrower of both counts. */
  readonly relative?: number | undefined;
  /** What it is traded back to: the target by default, or the edge of the band, which costs less. */
  readonly to?: 'target' | 'edge' | undefined;
  /** The least value of a swap in the budget's token. */
  readonly minimum: TokenAmount;
  readonly reason: string;
}

type Rebalanced = Pick<StrategyContext, 'budget' | 'equity' | 'openIntents' | 'position' | 'swap'>;

/**
 * Returns the swaps that lead back to target weights. Sales come first: purchases are proposed when no sale is needed
 * any more, one at a time, the largest first, since they all spend the budget's token. While a swap is under way it
 * returns none, so that it can be asked at every event, and a restart in the middle continues by itself. The budget's
 * token takes what the weights leave. Throws STRATEGY_INVALID on weights that are negative or together above 1.
 *
 * Source: threshold rebalancing back to the target, Daryanani, Opportunistic Rebalancing, Journal of Financial Planning
 * 21 (2008).
 */
export function targetWeights(
  context: Rebalanced, targets: readonly TargetWeight[],
  { band, relative = Infinity, to = 'target', minimum, reason }: RebalanceOptions,
): SwapProposal[] {
  const sum = targets.reduce((total, { weight }) => (weight >= 0 ? total + weight : Number.NaN), 0);
  if (!(sum <= 1 + 1e-9))
    throw new GannetError('STRATEGY_INVALID', 'expected weights of at least 0 that are together at most 1');
  const cash = context.budget()?.token;
  const equity = context.equity();
  if (cash === undefined || equity === undefined || equity === 0n || context.openIntents() > 0) return [];
  const drifts = targets.map(({ token, weight }) => {
    const position = context.position(token);
    const drift = Number(position.value ?? 0n) / Number(equity) - weight;
    const width = weight === 0 ? band : Math.min(band, relative * weight);
    const goal = to === 'target' ? weight : drift > 0 ? weight + width : Math.max(0, weight - width);
    return { position, width, target: fractionOf({ token: cash, amount: equity }, goal).amount, drift };
  });
  const beyond = drifts.filter(({ drift, width }) => Math.abs(drift) > width);
  const sales = beyond.flatMap(({ position, target, drift }) => {
    const excess = (position.value ?? 0n) - target;
    return drift > 0 && excess >= minimum.amount ? [context.swap(position.token, cash, partOf(position, excess),
      `${reason}: ${position.token.symbol} is ${percent(drift)} over its weight`)] : [];
  });
  if (sales.length > 0) return sales;
  const [largest] = beyond.filter(({ drift }) => drift < 0).toSorted((a, b) => a.drift - b.drift);
  if (largest === undefined) return [];
  const { position, target, drift } = largest;
  const free = context.position(cash).available;
  const missing = target - (position.value ?? 0n);
  const spend = missing < free ? missing : free;
  return spend < minimum.amount ? [] : [context.swap(cash, position.token, { token: cash, amount: spend },
    `${reason}: ${position.token.symbol} is ${percent(-drift)} under its weight`)];
}

/** Returns the part of a position that is worth `excess` at its sale price. */
function partOf({ token, available, amount, value }: Position, excess: bigint): TokenAmount {
  const part = (amount * excess) / (value ?? 1n);
  return { token, amount: part < available ? part : available };
}

function percent(drift: number): string {
  return `${(drift * 100).toFixed(1)} points`;
}
