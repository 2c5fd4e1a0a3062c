import type { Millis } from '../core/time.ts';
import type { Mint } from '../market/token.ts';

/** What a lot was bought for; undefined where it is unknown. */
export interface Cost {
  /** Smallest units of the book's currency. */
  readonly currency: bigint | undefined;
  /** 10^-6 US dollars. */
  readonly usd: bigint | undefined;
}

/** A part of a holding that was acquired by one swap. */
interface Lot {
  readonly mint: Mint;
  readonly at: Millis;
  /** Undefined for what was there before the first swap. */
  readonly intentId: string | undefined;
  readonly quantity: bigint;
  readonly cost: Cost;
}

/** A lot and how much of it has been sold. */
interface OpenLot {
  readonly lot: Lot;
  sold: bigint;
}

/** A part of a lot, with its share of the cost. */
export interface Piece {
  /** Undefined for what no lot covers: it was not acquired here. */
  readonly lot: Lot | undefined;
  readonly quantity: bigint;
  readonly cost: Cost;
}

const UNKNOWN: Cost = { currency: undefined, usd: undefined };

/**
 * The lots of one token, sold in the order of their purchase (FIFO). Of a lot of Q units that cost C, the first p sold
 * units cost floor(C · p / Q) together. So a lot's parts cost exactly C in all, however its sale is split.
 */
export class LotQueue {
  #open: OpenLot[] = [];

  add(lot: Lot): void {
    if (lot.quantity > 0n) this.#open.push({ lot, sold: 0n });
  }

  /** Takes a quantity from the oldest lots; the last piece is without a lot where they hold less. */
  take(quantity: bigint): Piece[] {
    const pieces: Piece[] = [];
    let left = quantity;
    while (left > 0n && this.#open.length > 0) {
      const first = this.#open[0]!;
      const remaining = first.lot.quantity - first.sold;
      const taken = remaining < left ? remaining : left;
      pieces.push({ lot: first.lot, quantity: taken, cost: costOf(first.lot, first.sold, first.sold + taken) });
      first.sold += taken;
      left -= taken;
      if (first.sold === first.lot.quantity) this.#open.shift();
    }
    if (left > 0n) pieces.push({ lot: undefined, quantity: left, cost: UNKNOWN });
    return pieces;
  }

  /** The unsold parts, oldest first. */
  get open(): readonly (Piece & { readonly lot: Lot })[] {
    return this.#open.map(({ lot, sold }) =>
      ({ lot, quantity: lot.quantity - sold, cost: costOf(lot, sold, lot.quantity) }));
  }
}

function costOf({ quantity, cost }: Lot, from: bigint, to: bigint): Cost {
  const share = (whole: bigint | undefined): bigint | undefined =>
    (whole === undefined ? undefined : shareOf(whole, to, quantity) - shareOf(whole, from, quantity));
  return { currency: share(cost.currency), usd: share(cost.usd) };
}

/** Returns the share of a whole that the first `part` of `all` units have: rounded down, and the whole for all. */
export function shareOf(whole: bigint, part: bigint, all: bigint): bigint {
  return (whole * part) / all;
}

/** Returns the costs of several pieces together; unknown where one is. */
export function totalCost(costs: readonly Cost[]): Cost {
  return {
    currency: sumKnown(costs.map(({ currency }) => currency)),
    usd: sumKnown(costs.map(({ usd }) => usd)),
  };
}

/** Returns the sum of values; undefined where one is unknown. */
export function sumKnown(values: readonly (bigint | undefined)[]): bigint | undefined {
  let total = 0n;
  for (const value of values) {
    if (value === undefined) return undefined;
    total += value;
  }
  return total;
}
