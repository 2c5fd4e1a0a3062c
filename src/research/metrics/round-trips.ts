import { assert } from '../../core/assert.ts';
import type { Millis } from '../../core/time.ts';

/** A fill for statistics: the quantity is exact, in smallest units; the rest is in the currency of the results. */
export interface TradeFill {
  readonly at: Millis;
  readonly instrument: string;
  readonly side: 'buy' | 'sell';
  readonly quantity: bigint;
  /** The amount paid or received, before costs. */
  readonly value: number;
  /** All fees and tips, including those of failed attempts before the fill. */
  readonly costs: number;
}

/** A purchase and its sale, or a part of it: each sale that takes from a lot makes a round trip. */
export interface RoundTrip<Fill extends TradeFill = TradeFill> {
  readonly instrument: string;
  readonly quantity: bigint;
  readonly openedAt: Millis;
  readonly closedAt: Millis;
  readonly entryValue: number;
  readonly exitValue: number;
  /** Of both ends, in proportion to the quantity. */
  readonly costs: number;
  /** Net of these costs. Costs without a fill, such as fees of failures without a later fill, are in no round trip. */
  readonly profit: number;
  /** The fills of which it is a part. */
  readonly bought: Fill;
  readonly sold: Fill;
}

/** A part of a fill without a counterpart. */
interface Unpaired {
  readonly instrument: string;
  readonly at: Millis;
  readonly quantity: bigint;
  readonly value: number;
  readonly costs: number;
}

/** Paired fills. */
interface RoundTrips<Fill extends TradeFill = TradeFill> {
  /** In the order of their ends. */
  readonly trips: readonly RoundTrip<Fill>[];
  /** Purchases that are still held. */
  readonly open: readonly Unpaired[];
  /** Sales without a purchase, for example of initial holdings, whose cost is unknown. */
  readonly unbought: readonly Unpaired[];
}

/** Pairs sales with the purchases before them, first in, first out, for each instrument. Fills are in order of time. */
export function roundTrips<Fill extends TradeFill>(fills: readonly Fill[]): RoundTrips<Fill> {
  const lots = new Map<string, Lot<Fill>[]>();
  const trips: RoundTrip<Fill>[] = [];
  const unbought: Unpaired[] = [];
  for (const fill of fills) {
    assert(fill.quantity > 0n, () => `a fill has a quantity, got ${fill.quantity} of ${fill.instrument}`);
    const queue = lots.get(fill.instrument) ?? [];
    lots.set(fill.instrument, queue);
    const rest: Lot<Fill> = { fill, left: fill.quantity };
    if (fill.side === 'buy') {
      queue.push(rest);
      continue;
    }
    while (rest.left > 0n && queue.length > 0) {
      const [lot] = queue as [Lot<Fill>];
      const quantity = lot.left < rest.left ? lot.left : rest.left;
      trips.push(tripOf(lot.fill, fill, quantity));
      lot.left -= quantity;
      rest.left -= quantity;
      if (lot.left === 0n) queue.shift();
    }
    if (rest.left > 0n) unbought.push(unpaired(rest));
  }
  return { trips, open: [...lots.values()].flat().map(unpaired), unbought };
}

interface Lot<Fill extends TradeFill> {
  readonly fill: Fill;
  left: bigint;
}

function tripOf<Fill extends TradeFill>(bought: Fill, sold: Fill, quantity: bigint): RoundTrip<Fill> {
  const entry = partOf(bought, quantity);
  const exit = partOf(sold, quantity);
  const costs = entry.costs + exit.costs;
  return {
    instrument: sold.instrument, quantity, openedAt: bought.at, closedAt: sold.at,
    entryValue: entry.value, exitValue: exit.value, costs, profit: exit.value - entry.value - costs,
    bought, sold,
  };
}

function unpaired({ fill, left }: Lot<TradeFill>): Unpaired {
  return { instrument: fill.instrument, at: fill.at, quantity: left, ...partOf(fill, left) };
}

function partOf({ quantity: whole, value, costs }: TradeFill, quantity: bigint): { value: number; costs: number } {
  const share = quantity === whole ? 1 : Number(quantity) / Number(whole);
  return { value: value * share, costs: costs * share };
}

/** The rounding error of a trade without gain, relative to its value. */
const ROUNDING = 1e-12;

/** The results of trades, net of costs; amounts in the currency. Undefined when a figure has no meaning. */
export interface TradeResults {
  readonly wins: number;
  readonly losses: number;
  /** Neither won nor lost: not part of the figures below. */
  readonly breakeven: number;
  /** wins / (wins + losses) */
  readonly winRate: number | undefined;
  /** Gains divided by losses; undefined without losses. */
  readonly profitFactor: number | undefined;
  /** W · average win - (1 - W) · average loss */
  readonly expectancy: number | undefined;
  /** Average win divided by average loss; undefined unless both exist. */
  readonly payoffRatio: number | undefined;
  /** Expectancy divided by average loss, payoff · W - (1 - W): the result per unit of risk. */
  readonly expectancyRatio: number | undefined;
}

/** Returns 1 for a trade that was won, -1 for one that was lost, and 0 for one without gain or loss. */
export function outcomeOf({ profit, entryValue }: Pick<RoundTrip, 'profit' | 'entryValue'>): -1 | 0 | 1 {
  return Math.abs(profit) <= ROUNDING * Math.abs(entryValue) ? 0 : profit > 0 ? 1 : -1;
}

/** Returns the results of trades. */
export function tradeResults(trips: readonly Pick<RoundTrip, 'profit' | 'entryValue'>[]): TradeResults {
  let [wins, losses, breakeven, won, lost] = [0, 0, 0, 0, 0];
  for (const trip of trips) {
    const { profit } = trip;
    const outcome = outcomeOf(trip);
    if (outcome === 0) {
      breakeven += 1;
    } else if (outcome > 0) {
      wins += 1;
      won += profit;
    } else {
      losses += 1;
      lost -= profit;
    }
  }
  const decided = wins + losses;
  const expectancy = decided === 0 ? undefined : (won - lost) / decided;
  const averageLoss = losses === 0 ? undefined : lost / losses;
  return {
    wins, losses, breakeven, expectancy,
    winRate: decided === 0 ? undefined : wins / decided,
    profitFactor: losses === 0 ? undefined : won / lost,
    payoffRatio: averageLoss === undefined || wins === 0 ? undefined : won / wins / averageLoss,
    expectancyRatio: averageLoss === undefined || expectancy === undefined ? undefined : expectancy / averageLoss,
  };
}
