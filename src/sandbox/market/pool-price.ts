/** The two sides of a constant-product pool, in smallest units. */
export interface Reserves {
  readonly reserveA: bigint;
  readonly reserveB: bigint;
}

/** Returns the current reserves of a pool. */
export type ReadPool = (address: string) => Reserves;

/** Returns a reader that reads each pool once and then remembers it: valid while the pools do not move. */
export function readingOnce(readPool: ReadPool): ReadPool {
  const readings = new Map<string, Reserves>();
  return (address) => {
    let reserves = readings.get(address);
    if (reserves === undefined) readings.set(address, (reserves = readPool(address)));
    return reserves;
  };
}

/** Returns the price of A in B, both in smallest units, before fees. */
export function poolPrice({ reserveA, reserveB }: Reserves): number {
  return Number(reserveB) / Number(reserveA);
}

/** Returns the reserves at which a pool of the given depth (square root of reserveA * reserveB) trades at `price`. */
export function reservesAt(options: { depth: number; price: number }): Reserves {
  const root = Math.sqrt(options.price);
  return { reserveA: wholeUnits(options.depth / root), reserveB: wholeUnits(options.depth * root) };
}

/** Returns the depth of reserves: the square root of their product. */
export function depthOf({ reserveA, reserveB }: Reserves): number {
  return Math.sqrt(Number(reserveA)) * Math.sqrt(Number(reserveB));
}

/** Returns the price of A in B in smallest units that two dollar prices mean. */
export function rawPrice(a: { usd: number; decimals: number }, b: { usd: number; decimals: number }): number {
  return (a.usd / b.usd) * 10 ** (b.decimals - a.decimals);
}

// The swap program keeps reserves as u64 and adds what comes in: half the range is left for that.
const LARGEST_RESERVE = 2 ** 63;

function wholeUnits(value: number): bigint {
  return BigInt(Math.round(Math.min(Math.max(value, 1), LARGEST_RESERVE)));
}
