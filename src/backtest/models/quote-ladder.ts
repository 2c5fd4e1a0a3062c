/** The quote of one size, smallest units. */
export interface Rung {
  readonly inAmount: bigint;
  readonly outAmount: bigint;
  readonly contextSlot?: bigint | undefined;
  readonly router?: string | undefined;
  /** Signed fraction, negative is worse; undefined where the service does not state it. */
  readonly priceImpact?: number | undefined;
  /** The part of the stated impact that is the service's fee, which no size changes. */
  readonly feeBps?: number | undefined;
}

/** Two quotes more slots apart than this describe different markets. */
const SLOTS_APART_MAX = 5n;
/** Price impacts are doubles; a billionth is finer than any service states. */
const IMPACT_UNITS = 1_000_000_000;

/** One size with its average price input/output as a ratio; prices never decrease from one point to the next. */
interface Point {
  readonly size: bigint;
  readonly num: bigint;
  readonly den: bigint;
  readonly isApart: boolean;
}

/**
 * The quotes of one direction at one time, by size. Between two sizes the average price a(x) = x / out(x) is linear in
 * x, which is exact for a constant-product pool: a(x) = (Rin + φx) / (φ Rout).
 */
export interface QuoteLadder {
  readonly points: readonly Point[];
  /** The stated impact of the smallest rung, as a lost share of the price; undefined where it is not stated. */
  readonly smallestImpact: number | undefined;
  /** The smallest size with an output of 0; undefined where every size has an output. */
  readonly dryFrom: bigint | undefined;
  /** The first point of the line that extrapolates beyond the largest size; undefined where the slope is unknown. */
  readonly beyondFrom: Point | undefined;
  /** The price of an infinitesimal size, where the line below the smallest size ends; undefined where it is unknown. */
  readonly mark: Point | undefined;
}

/** The source of the slope of a ladder: several sizes, the stated impact of one, or none. */
export type ImpactBasis = 'sizes' | 'stated' | 'none';

/**
 * Returns the ladder of rungs in any order; undefined where no rung is usable. Rungs differ in time and route, so a
 * larger size may seem cheaper, or have a smaller output. Then the worse of two neighbours holds for both, so that
 * neither a(x) nor out(x) ever decreases. Of two quotes of one size the worse counts.
 */
export function createLadder(rungs: readonly Rung[]): QuoteLadder | undefined {
  // Most recordings hold one size of a pair, which needs no sorting.
  if (rungs.length === 1) return oneRung(rungs[0]!);
  const sorted = rungs.filter(({ inAmount }) => inAmount > 0n)
    .toSorted((a, b) => compare(a.inAmount, b.inAmount) || compare(a.outAmount, b.outAmount));
  const [smallest] = sorted;
  if (smallest === undefined) return undefined;
  const dryFrom = sorted.find(({ outAmount }) => outAmount <= 0n)?.inAmount;
  const usable = sorted.filter(({ inAmount }, index) =>
    (dryFrom === undefined || inAmount < dryFrom) && sorted[index - 1]?.inAmount !== inAmount);
  const newest = usable.reduce<bigint | undefined>((most, { contextSlot }) => (
    contextSlot !== undefined && (most === undefined || contextSlot > most) ? contextSlot : most
  ), undefined);
  const stated = usable.map(({ inAmount, outAmount, contextSlot }): Point => ({
    size: inAmount, num: inAmount, den: outAmount,
    isApart: contextSlot !== undefined && newest !== undefined && newest - contextSlot > SLOTS_APART_MAX,
  }));
  const points = withOutputRising(withPriceRising(stated));
  return {
    points, smallestImpact: smallest.priceImpact === undefined ? undefined : -smallest.priceImpact, dryFrom,
    beyondFrom: beyondFrom(points, usable),
    mark: points[0] === undefined ? undefined : lineToNothing(points) ?? markOf(points[0], smallest),
  };
}

function oneRung(rung: Rung): QuoteLadder | undefined {
  const { inAmount, outAmount, priceImpact } = rung;
  if (inAmount <= 0n) return undefined;
  const smallestImpact = priceImpact === undefined ? undefined : -priceImpact;
  if (outAmount <= 0n) return { points: [], smallestImpact, dryFrom: inAmount, beyondFrom: undefined, mark: undefined };
  const point = { size: inAmount, num: inAmount, den: outAmount, isApart: false };
  const mark = markOf(point, rung);
  return { points: [point], smallestImpact, dryFrom: undefined, beyondFrom: mark, mark };
}

/**
 * Returns the first point of the line that extrapolates above the largest size (domain.md 3.2: a(x) is linear, and an
 * estimate beyond the recorded sizes). The line spans all rungs of the largest rung's router and slot: the last two
 * rungs alone may be close together, or have one price because the worse of both holds, and then their slope is noise.
 * A rung that is alone in its router and slot uses its own stated impact: the line begins at the mark price. Otherwise
 * the line spans the whole ladder.
 */
function beyondFrom(points: readonly Point[], rungs: readonly Rung[]): Point | undefined {
  const last = points.at(-1);
  const largest = rungs.at(-1);
  if (last === undefined || largest === undefined) return undefined;
  const first = rungs.findIndex(({ router, contextSlot }) =>
    router === largest.router && contextSlot === largest.contextSlot);
  if (first < rungs.length - 1) return points[first];
  return markOf(last, largest) ?? (points.length > 1 ? points[0] : undefined);
}

/**
 * Returns the price of an infinitesimal size by the stated impact, a(0) = a(x) (1 - impact); undefined without a loss.
 */
function markOf({ num, den }: Point, { priceImpact, feeBps = 0 }: Rung): Point | undefined {
  if (priceImpact === undefined) return undefined;
  // The stated impact contains the fee, which does not depend on the size.
  const share = Math.ceil(-priceImpact * IMPACT_UNITS) - Math.floor((feeBps * IMPACT_UNITS) / 10_000);
  if (!(share > 0)) return undefined;
  const lost = BigInt(Math.min(IMPACT_UNITS - 1, share));
  return { size: 0n, num: num * (BigInt(IMPACT_UNITS) - lost), den: den * BigInt(IMPACT_UNITS), isApart: false };
}

/**
 * Returns where the line through the two smallest sizes meets size 0, a(0) = a(x) - x (a(y) - a(x)) / (y - x);
 * undefined where that is not a price.
 */
function lineToNothing([low, high]: readonly Point[]): Point | undefined {
  if (low === undefined || high === undefined) return undefined;
  const num = low.num * high.den * high.size - high.num * low.den * low.size;
  return num <= 0n ? undefined
    : { size: 0n, num, den: low.den * high.den * (high.size - low.size), isApart: low.isApart || high.isApart };
}

function withPriceRising(points: readonly Point[]): Point[] {
  const fixed: Point[] = [];
  for (const point of points) {
    const before = fixed.at(-1);
    fixed.push(before !== undefined && before.num * point.den > point.num * before.den
      ? { ...point, num: before.num, den: before.den } : point);
  }
  return fixed;
}

function withOutputRising(points: readonly Point[]): Point[] {
  const fixed: Point[] = [];
  for (const point of points.toReversed()) {
    const after = fixed.at(-1);
    // out = size * den / num: where a larger size has a smaller output, that output limits the smaller size too.
    const bringsMore = after !== undefined && point.size * point.den * after.num > after.size * after.den * point.num;
    fixed.push(bringsMore ? { ...point, num: point.size * after.num, den: after.size * after.den } : point);
  }
  return fixed.reverse();
}

/** Returns the largest size of a ladder; 0 where no size has an output. */
export function largestSize({ points }: QuoteLadder): bigint {
  return points.at(-1)?.size ?? 0n;
}

/** Returns whether a size is above all recorded ones, and its output is not known to be 0. */
export function isBeyond(ladder: QuoteLadder, size: bigint): boolean {
  return ladder.dryFrom === undefined && size > largestSize(ladder);
}

/** Returns whether the price above the largest size is known. */
export function knowsBeyond({ points, smallestImpact }: QuoteLadder): boolean {
  return points.length > 1 || smallestImpact !== undefined;
}

/** Returns the source of the slope, by which own swaps move the price. */
export function impactBasis({ points, mark }: QuoteLadder): ImpactBasis {
  if (points.length > 1) return 'sizes';
  return mark === undefined ? 'none' : 'stated';
}

/** Returns whether one of the rungs that price a size is more than five slots older than the ladder's newest. */
export function isSlotsApart({ points, beyondFrom: from }: QuoteLadder, size: bigint): boolean {
  let below: Point | undefined;
  for (const point of points) {
    if (point.size >= size) return point.isApart || (point.size > size && below?.isApart === true);
    below = point;
  }
  return below?.isApart === true || from?.isApart === true;
}

/**
 * Returns the output of a size, in smallest units, rounded from the exact fraction. Below the smallest rung its price
 * holds. Above the largest rung a(x) follows the line from `beyondFrom`, or stays flat without one; the caller decides
 * whether that is allowed (`isBeyond`). It is 0 where the output is known to be 0.
 */
export function outputOf(ladder: QuoteLadder, size: bigint, rounding: 'floor' | 'ceil' = 'floor'): bigint {
  const { points } = ladder;
  const [smallest] = points;
  if (smallest === undefined || size <= 0n || (ladder.dryFrom !== undefined && size > largestSize(ladder))) return 0n;
  if (size <= smallest.size || (points.length === 1 && ladder.beyondFrom === undefined))
    return divide(size * smallest.den, smallest.num, rounding);
  const above = points.findIndex((point) => point.size >= size);
  const high = points.at(above)!;
  const low = above < 0 ? ladder.beyondFrom! : points[above - 1]!;
  return onLine(low, high, size, rounding);
}

/** Returns out = x / a(x), where a(x) is the line through two points, over the common denominator. */
function onLine(low: Point, high: Point, size: bigint, rounding: 'floor' | 'ceil'): bigint {
  const width = high.size - low.size;
  const price = low.num * high.den * (high.size - size) + high.num * low.den * (size - low.size);
  return divide(size * width * low.den * high.den, price, rounding);
}

/**
 * Returns the output of the part of a size after `from`: out(to) - out(from), floored. Below the smallest rung both lie
 * on the line to the price of an infinitesimal size. At the smallest rung's own price the first part would seem to
 * bring too little, and the rest too much.
 */
export function outputBetween(ladder: QuoteLadder, from: bigint, to: bigint): bigint {
  const { points: [smallest], mark } = ladder;
  const out = (size: bigint, rounding: 'floor' | 'ceil'): bigint => (
    smallest !== undefined && mark !== undefined && size < smallest.size ? onLine(mark, smallest, size, rounding)
      : outputOf(ladder, size, rounding));
  return out(to, 'floor') - out(from, 'ceil');
}

/**
 * Returns the price impact of an output for a size, as services state it: a signed fraction, negative is worse. It is
 * measured from the smallest rung's price and its stated impact, or 0 where none is stated.
 */
export function impactOf({ points, smallestImpact = 0 }: QuoteLadder, size: bigint, outAmount: bigint): number {
  const [smallest] = points;
  if (smallest === undefined || outAmount <= 0n) return -1;
  // Exactly the smallest rung's price: its stated impact, without the rounding noise of doubles.
  if (outAmount === divide(size * smallest.den, smallest.num, 'floor')) return 0 - smallestImpact;
  const kept = (Number(smallest.num) / Number(smallest.den)) * (Number(outAmount) / Number(size));
  return (1 - smallestImpact) * kept - 1;
}

function divide(dividend: bigint, divisor: bigint, rounding: 'floor' | 'ceil'): bigint {
  return rounding === 'floor' ? dividend / divisor : (dividend + divisor - 1n) / divisor;
}

function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
