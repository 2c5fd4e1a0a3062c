import { assert } from '../../core/assert.ts';
import type { Millis } from '../../core/time.ts';

/** What rounding leaves of a trade that gained nothing, by what went into it. */
const ROUNDING = 1e-12;

/** What trades came to, net of costs; amounts in the currency. Undefined is what has no meaning for these trades. */
export interface TradeResults {
  readonly wins: number;
  readonly losses: number;
  /** Neither won nor lost: they are in none of the figures below. */
  readonly breakeven: number;
  /** wins / (wins + losses) */
  readonly winRate: number | undefined;
  /** What was won by what was lost; undefined where nothing was lost. */
  readonly profitFactor: number | undefined;
  /** W · average win - (1 - W) · average loss */
  readonly expectancy: number | undefined;
  /** Average win by average loss; undefined unless there is one of both. */
  readonly payoffRatio: number | undefined;
  /** Expectancy by average loss, payoff · W - (1 - W): what a unit of risk brings. */
  readonly expectancyRatio: number | undefined;
}

/** Returns what trades came to. */
export function tradeResults(trips: readonly Pick<RoundTrip, 'profit' | 'entryValue'>[]): TradeResults {
  let [wins, losses, breakeven, won, lost] = [0, 0, 0, 0, 0];
  for (const { profit, entryValue } of trips) {
    if (Math.abs(profit) <= ROUNDING * Math.abs(entryValue)) {
      breakeven += 1;
    } else if (profit > 0) {
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

/**
 * A fill as statistics see it: the quantity exact, in smallest units, the rest in the currency that results are counted
 * in.
 */
export interface TradeFill {
  readonly at: Millis;
  readonly instrument: string;
  readonly side: 'buy' | 'sell';
  readonly quantity: bigint;
  /** What was paid or received, before costs. */
  readonly value: number;
  /** Fees, tips and whatever else it took, the attempts before it that came to nothing included. */
  readonly costs: number;
}

/** What was bought once and sold again, or a part of it: a lot is closed by each sale that takes from it. */
export interface RoundTrip {
  readonly instrument: string;
  readonly quantity: bigint;
  readonly openedAt: Millis;
  readonly closedAt: Millis;
  readonly entryValue: number;
  readonly exitValue: number;
  /** Of both ends, by the quantity. */
  readonly costs: number;
  /**
   * Net of these costs. What is not of any fill, such as the fees of failures that no fill followed, is in no round
   * trip.
   */
  readonly profit: number;
}

/** A part of a fill that has no other side. */
interface Unpaired {
  readonly instrument: string;
  readonly at: Millis;
  readonly quantity: bigint;
  readonly value: number;
  readonly costs: number;
}

/** Fills, paired. */
export interface RoundTrips {
  /** In the order of their ends. */
  readonly trips: readonly RoundTrip[];
  /** What is still held. */
  readonly open: readonly Unpaired[];
  /** What was sold and never bought, such as what was there before: nobody knows what it cost. */
  readonly unbought: readonly Unpaired[];
}

/**
 * Pairs sales with the purchases before them, first in, first out, each instrument by itself. Fills are in order of
 * time.
 */
export function roundTrips(fills: readonly TradeFill[]): RoundTrips {
  const lots = new Map<string, Lot[]>();
  const trips: RoundTrip[] = [];
  const unbought: Unpaired[] = [];
  for (const fill of fills) {
    assert(fill.quantity > 0n, () => `a fill has a quantity, got ${fill.quantity} of ${fill.instrument}`);
    const queue = lots.get(fill.instrument) ?? [];
    lots.set(fill.instrument, queue);
    const rest: Lot = { fill, left: fill.quantity };
    if (fill.side === 'buy') {
      queue.push(rest);
      continue;
    }
    while (rest.left > 0n && queue.length > 0) {
      const [lot] = queue as [Lot];
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

interface Lot {
  readonly fill: TradeFill;
  left: bigint;
}

function tripOf(bought: TradeFill, sold: TradeFill, quantity: bigint): RoundTrip {
  const entry = partOf(bought, quantity);
  const exit = partOf(sold, quantity);
  const costs = entry.costs + exit.costs;
  return {
    instrument: sold.instrument, quantity, openedAt: bought.at, closedAt: sold.at,
    entryValue: entry.value, exitValue: exit.value, costs, profit: exit.value - entry.value - costs,
  };
}

function unpaired({ fill, left }: Lot): Unpaired {
  return { instrument: fill.instrument, at: fill.at, quantity: left, ...partOf(fill, left) };
}

function partOf({ quantity: whole, value, costs }: TradeFill, quantity: bigint): { value: number; costs: number } {
  const share = quantity === whole ? 1 : Number(quantity) / Number(whole);
  return { value: value * share, costs: costs * share };
}
