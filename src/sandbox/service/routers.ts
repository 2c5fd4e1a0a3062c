import { GENESIS_MARKETS } from '../genesis-markets.ts';
import type { MarketPool } from '../market/market.ts';
import type { ReadPool } from '../market/pool-price.ts';
import { createRouter, type Router } from './routing.ts';

/** Who competes for an order; `rfqz` asks a maker, the others look for a way through pools. */
export const ROUTERS = ['iris', 'rfqz', 'routerA', 'routerB'] as const;
export type RouterName = (typeof ROUTERS)[number];
export type PoolRouterName = Exclude<RouterName, 'rfqz'>;

/** A competitor for orders that trades with pools. */
export interface PoolRouter {
  readonly name: PoolRouterName;
  readonly router: Router;
  /** What it takes of every swap instead of the platform's usual fee, in basis points. */
  readonly flatFeeBps?: number;
}

/** The competitors; `iris` is also the one behind `/build` and the first version of the swaps. */
export interface Routers {
  readonly iris: Router;
  readonly all: readonly PoolRouter[];
}

/** Cheaper than the usual fee on volatile tokens, dearer than that between SOL and stable ones. */
const ROUTER_B_FEE_BPS = 4;

/**
 * Returns the routers over the embedded chain's pools. Each wins where it is good: `iris` sees every public pool, three
 * deep; `routerA` knows the deep public markets and has small cheap pools of its own, so it wins small swaps there;
 * `routerB` trades in one step for a flat fee, so it wins where a pool of the pair is deep enough.
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
