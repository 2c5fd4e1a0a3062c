import { quoteHop } from '../chain/swap-math.ts';
import type { MarketPool } from '../market/market.ts';
import type { Reserves } from '../market/pool-price.ts';

/** The longest route that is looked for. */
export const MAX_HOPS = 3;

/** One pool of a route with what goes in and comes out, in smallest units. */
export interface RouteHop {
  readonly pool: MarketPool;
  readonly inputMint: string;
  readonly outputMint: string;
  readonly inAmount: bigint;
  readonly outAmount: bigint;
}

/** The pools a swap goes through, one after the other. */
export interface Route {
  readonly hops: readonly RouteHop[];
  readonly outAmount: bigint;
}

/** A way from one mint to another, before amounts. */
export type RoutePath = readonly { readonly pool: MarketPool; readonly inputMint: string; readonly outputMint: string }[];

interface RouteRequest {
  readonly inputMint: string;
  readonly outputMint: string;
  readonly amount: bigint;
  readonly accepts?: (path: RoutePath) => boolean;
  /** Takes the best of the shortest routes only. */
  readonly shortestOnly?: boolean;
}

export interface Router {
  readonly pools: readonly MarketPool[];
  /** Returns the route that pays most on the chain's reserves of now, or undefined when none pays anything. */
  bestRoute(request: RouteRequest): Route | undefined;
}

/** Returns a router over pools whose reserves `readPool` tells; paths are found once per pair and kept. */
export function createRouter(options: { pools: readonly MarketPool[]; readPool: (address: string) => Reserves }): Router {
  const poolsByMint = new Map<string, MarketPool[]>();
  for (const pool of options.pools) {
    for (const mint of [pool.mintA, pool.mintB]) poolsByMint.set(mint, [...(poolsByMint.get(mint) ?? []), pool]);
  }
  const pathsByPair = new Map<string, readonly RoutePath[]>();

  const pathsBetween = (inputMint: string, outputMint: string): readonly RoutePath[] => {
    // Unknown mints are not kept: requests could fill the memory with them.
    if (!poolsByMint.has(inputMint) || !poolsByMint.has(outputMint)) return [];
    const pair = `${inputMint}:${outputMint}`;
    const known = pathsByPair.get(pair);
    if (known !== undefined) return known;
    const found = findPaths({ poolsByMint, inputMint, outputMint });
    pathsByPair.set(pair, found);
    return found;
  };

  const evaluate = (reservesOf: (address: string) => Reserves, path: RoutePath, amount: bigint): Route | undefined => {
    const hops: RouteHop[] = [];
    let inAmount = amount;
    for (const { pool, inputMint, outputMint } of path) {
      const { reserveA, reserveB } = reservesOf(pool.address);
      const [reserveIn, reserveOut] = inputMint === pool.mintA ? [reserveA, reserveB] : [reserveB, reserveA];
      const outAmount = quoteHop({ reserveIn, reserveOut, feeBps: pool.feeBps, amountIn: inAmount });
      if (outAmount === 0n) return undefined;
      hops.push({ pool, inputMint, outputMint, inAmount, outAmount });
      inAmount = outAmount;
    }
    return { hops, outAmount: inAmount };
  };

  return {
    pools: options.pools,
    bestRoute({ inputMint, outputMint, amount, accepts, shortestOnly }) {
      let paths = pathsBetween(inputMint, outputMint);
      if (accepts !== undefined) paths = paths.filter(accepts);
      if (shortestOnly === true) {
        const shortest = Math.min(...paths.map((path) => path.length));
        paths = paths.filter((path) => path.length === shortest);
      }
      const readings = new Map<string, Reserves>();
      const readOnce = (address: string): Reserves => {
        let reserves = readings.get(address);
        if (reserves === undefined) readings.set(address, (reserves = options.readPool(address)));
        return reserves;
      };
      let best: Route | undefined;
      for (const path of paths) {
        const route = evaluate(readOnce, path, amount);
        if (route !== undefined && (best === undefined || route.outAmount > best.outAmount)) best = route;
      }
      return best;
    },
  };
}

/** Returns every way of up to MAX_HOPS pools that meets no mint twice. */
function findPaths(options: { poolsByMint: ReadonlyMap<string, readonly MarketPool[]>; inputMint: string; outputMint: string }): RoutePath[] {
  const found: RoutePath[] = [];
  const walk = (mint: string, path: RoutePath): void => {
    for (const pool of options.poolsByMint.get(mint) ?? []) {
      const next = pool.mintA === mint ? pool.mintB : pool.mintA;
      if (next === options.inputMint || path.some(({ inputMint }) => inputMint === next)) continue;
      const longer = [...path, { pool, inputMint: mint, outputMint: next }];
      if (next === options.outputMint) found.push(longer);
      else if (longer.length < MAX_HOPS) walk(next, longer);
    }
  };
  walk(options.inputMint, []);
  return found;
}
