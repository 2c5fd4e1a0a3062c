import { inputForHop, quoteHop, withheld } from '../../chain/swap-math.ts';
import { GENESIS_MARKETS } from '../../genesis.ts';
import type { MarketPool } from '../../market/market.ts';
import type { ReadPool } from '../../market/pool-price.ts';
import { readingOnce } from '../../market/pool-price.ts';

/**
 * Accounts that a swap names beside its pools': program, user, source, destination, fee account, first mint and its
 * program.
 */
const FIXED_ACCOUNTS = 7;
/** Each hop's pool, two vaults, output mint and its program. */
const ACCOUNTS_PER_HOP = 5;

/** The caller's limits on a route. */
export interface RouteLimits {
  readonly dexes: readonly string[] | undefined;
  readonly excludeDexes: readonly string[] | undefined;
  readonly maxAccounts: number;
}

/** Returns whether a route stays within its markets and its number of accounts. */
export function keepsLimits(path: RoutePath, { dexes, excludeDexes, maxAccounts }: RouteLimits): boolean {
  if (FIXED_ACCOUNTS + ACCOUNTS_PER_HOP * path.length > maxAccounts) return false;
  return path.every(({ pool }) =>
    (dexes === undefined || dexes.includes(pool.label)) && excludeDexes?.includes(pool.label) !== true);
}

/** The routers that compete for an order; `rfqz` asks a maker, the others search for a route through pools. */
export const ROUTERS = ['iris', 'rfqz', 'routerA', 'routerB'] as const;
export type RouterName = (typeof ROUTERS)[number];
export type PoolRouterName = Exclude<RouterName, 'rfqz'>;

/** A competitor for orders that trades with pools. */
export interface PoolRouter {
  readonly name: PoolRouterName;
  readonly router: Router;
  /** Its fee on every swap instead of the platform's usual fee, in basis points. */
  readonly flatFeeBps?: number;
}

/** The competitors; `iris` is also the one behind `/build` and the first version of the swaps. */
export interface Routers {
  readonly iris: Router;
  readonly all: readonly PoolRouter[];
}

/** Cheaper than the usual fee on volatile tokens, more expensive between SOL and stable ones. */
const ROUTER_B_FEE_BPS = 4;

/**
 * Returns the routers over the embedded chain's pools. `iris` uses every public pool with up to three hops. `routerA`
 * uses the deep public markets and its own small, cheap pools, so it wins small swaps there. `routerB` uses one hop for
 * a flat fee, so it wins where a pool of the pair is deep enough.
 */
export function createRouters(options: { pools: readonly MarketPool[]; readPool: ReadPool }): Routers {
  const { pools, readPool } = options;
  const reserved = new Set(GENESIS_MARKETS.filter(({ reservedFor }) => reservedFor !== undefined).map(({ label }) =>
    label));
  const publicPools = pools.filter(({ label }) => !reserved.has(label));
  const iris = createRouter({ pools: publicPools, readPool });
  return {
    iris,
    all: [
      { name: 'iris', router: iris },
      {
        name: 'routerA',
        router: createRouter({ pools: pools.filter(({ label }) => label !== 'Estuary'), readPool, maxHops: 2 }),
      },
      {
        name: 'routerB', router: createRouter({ pools: publicPools, readPool, maxHops: 1 }),
        flatFeeBps: ROUTER_B_FEE_BPS,
      },
    ],
  };
}

/** The longest route that is searched for, in hops. */
const MAX_HOPS = 3;

/** One pool of a route with its input and output, in smallest units. */
export interface RouteHop {
  readonly pool: MarketPool;
  readonly inputMint: string;
  readonly outputMint: string;
  /** What is sent to the pool. */
  readonly inAmount: bigint;
  /** What the pool sends. */
  readonly outAmount: bigint;
}

/** The pools a swap goes through, one after the other. */
export interface Route {
  readonly hops: readonly RouteHop[];
  readonly inAmount: bigint;
  readonly outAmount: bigint;
}

/** A path from one mint to another, without amounts. */
export type RoutePath =
  readonly { readonly pool: MarketPool; readonly inputMint: string; readonly outputMint: string }[];

interface PathRequest {
  readonly inputMint: string;
  readonly outputMint: string;
  readonly accepts?: ((path: RoutePath) => boolean) | undefined;
}

interface RouteRequest extends PathRequest {
  readonly amount: bigint;
  /** Takes the best of the shortest routes only. */
  readonly shortestOnly?: boolean | undefined;
  /** Replaces the router's reader of pools, so that several routers of one request read each pool once. */
  readonly readPool?: ReadPool | undefined;
}

interface Router {
  readonly pools: readonly MarketPool[];
  /** Returns every way between two mints. */
  paths(request: PathRequest): readonly RoutePath[];
  /** Returns the route that pays most on the chain's current reserves, or undefined when none pays anything. */
  bestRoute(request: RouteRequest): Route | undefined;
  /**
   * Returns the route with the least input that pays `outAmount`, or undefined when there is none. It may pay a few
   * units more.
   */
  cheapestRoute(request: PathRequest & { readonly outAmount: bigint }): Route | undefined;
}

/** Returns a router over pools whose reserves `readPool` returns; paths are searched once per pair and kept. */
export function createRouter(options: { pools: readonly MarketPool[]; readPool: ReadPool; maxHops?: number }): Router {
  const { maxHops = MAX_HOPS } = options;
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
    const found = findPaths({ poolsByMint, inputMint, outputMint, maxHops });
    pathsByPair.set(pair, found);
    return found;
  };

  const paths = ({ inputMint, outputMint, accepts }: PathRequest): readonly RoutePath[] => {
    const all = pathsBetween(inputMint, outputMint);
    return accepts === undefined ? all : all.filter(accepts);
  };

  return {
    pools: options.pools,
    paths,
    bestRoute({ amount, shortestOnly, readPool = readingOnce(options.readPool), ...request }) {
      let candidates = paths(request);
      if (shortestOnly === true) {
        const shortest = Math.min(...candidates.map((path) => path.length));
        candidates = candidates.filter((path) => path.length === shortest);
      }
      let best: Route | undefined;
      for (const path of candidates) {
        const route = routeAlong({ path, amount, readPool });
        if (route !== undefined && (best === undefined || route.outAmount > best.outAmount)) best = route;
      }
      return best;
    },
    cheapestRoute({ outAmount, ...request }) {
      const readPool = readingOnce(options.readPool);
      let best: Route | undefined;
      for (const path of paths(request)) {
        const amount = leastInput({ path, outAmount, readPool });
        if (amount === undefined || (best !== undefined && amount >= best.inAmount)) continue;
        best = routeAlong({ path, amount, readPool }) ?? best;
      }
      return best;
    },
  };
}

/** Returns the output of a path for an amount, or undefined where one of its pools cannot fill. */
export function routeAlong(
  { path, amount, readPool }: { path: RoutePath; amount: bigint; readPool: ReadPool },
): Route | undefined {
  const hops: RouteHop[] = [];
  let inAmount = amount;
  for (const { pool, inputMint, outputMint } of path) {
    const amountIn = inAmount - withheldBy(pool, inputMint, inAmount);
    const outAmount = quoteHop({ ...facing(pool, inputMint, readPool), amountIn });
    if (outAmount === 0n) return undefined;
    hops.push({ pool, inputMint, outputMint, inAmount, outAmount });
    inAmount = outAmount;
  }
  return { hops, inAmount: amount, outAmount: inAmount };
}

/** Returns what the receiver gets of a part of a route's output: a mint may keep some of it. */
export function arriving({ hops }: Pick<Route, 'hops'>, amount: bigint): bigint {
  const { pool, outputMint } = hops.at(-1)!;
  return amount - withheldBy(pool, outputMint, amount);
}

function withheldBy({ withholding }: MarketPool, mint: string, amount: bigint): bigint {
  return withholding?.mint === mint ? withheld(amount, withholding.fee) : 0n;
}

/**
 * Returns the least input for which a path pays at least `outAmount`, or undefined where it cannot. The least input of
 * the last pool is the required output of the one before it. A larger input never pays less, so the least of each pool
 * gives the least of the path. Pools of a mint that withholds are not asked for an exact output.
 */
export function leastInput(
  { path, outAmount, readPool }: { path: RoutePath; outAmount: bigint; readPool: ReadPool },
): bigint | undefined {
  let needed: bigint | undefined = outAmount;
  for (const { pool, inputMint } of path.toReversed()) {
    if (needed === undefined) return undefined;
    needed = inputForHop({ ...facing(pool, inputMint, readPool), amountOut: needed });
  }
  return needed;
}

/** Returns a pool as seen from `inputMint`. */
function facing(
  pool: MarketPool, inputMint: string, readPool: ReadPool,
): { reserveIn: bigint; reserveOut: bigint; feeBps: number } {
  const { reserveA, reserveB } = readPool(pool.address);
  const [reserveIn, reserveOut] = inputMint === pool.mintA ? [reserveA, reserveB] : [reserveB, reserveA];
  return { reserveIn, reserveOut, feeBps: pool.feeBps };
}

/** Returns every path of up to `maxHops` pools that visits no mint twice. */
function findPaths(options: {
  poolsByMint: ReadonlyMap<string, readonly MarketPool[]>; inputMint: string; outputMint: string; maxHops: number;
}): RoutePath[] {
  const found: RoutePath[] = [];
  const walk = (mint: string, path: RoutePath): void => {
    for (const pool of options.poolsByMint.get(mint) ?? []) {
      const next = pool.mintA === mint ? pool.mintB : pool.mintA;
      if (next === options.inputMint || path.some(({ inputMint }) => inputMint === next)) continue;
      const longer = [...path, { pool, inputMint: mint, outputMint: next }];
      if (next === options.outputMint) found.push(longer);
      else if (longer.length < options.maxHops) walk(next, longer);
    }
  };
  walk(options.inputMint, []);
  return found;
}
