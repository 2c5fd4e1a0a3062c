import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { quoteHop } from '../../../../src/sandbox/chain/swap-math.ts';
import type { MarketPool } from '../../../../src/sandbox/market/market.ts';
import type { Reserves } from '../../../../src/sandbox/market/pool-price.ts';
import { createRouter } from '../../../../src/sandbox/service/routing/routing.ts';

const MINTS = ['A', 'B', 'C', 'D', 'E'];

interface PricedPool extends MarketPool, Reserves {}

const poolArbitrary = fc.record({
  pair: fc.uniqueArray(fc.constantFrom(...MINTS), { minLength: 2, maxLength: 2 }),
  feeBps: fc.integer({ min: 0, max: 100 }),
  reserveA: fc.bigInt({ min: 1_000n, max: 2n ** 50n }),
  reserveB: fc.bigInt({ min: 1_000n, max: 2n ** 50n }),
});
const poolsArbitrary = fc.array(poolArbitrary, { minLength: 1, maxLength: 9 }).map((drawn) =>
  drawn.map(({ pair, ...rest }, i): PricedPool =>
    ({ address: `pool${i}`, label: i % 2 === 0 ? 'even' : 'odd', mintA: pair[0]!, mintB: pair[1]!, ...rest })));

function routerOver(pools: readonly PricedPool[]): ReturnType<typeof createRouter> {
  return createRouter({ pools, readPool: (address) => pools.find((pool) => pool.address === address)! });
}

/** Tries everything, without any memory: slow and plainly right. */
function best(
  pools: readonly PricedPool[], at: string, amount: bigint, visited: readonly string[], hops: number,
): bigint {
  let most = 0n;
  for (const pool of pools) {
    if (pool.mintA !== at && pool.mintB !== at) continue;
    const forward = pool.mintA === at;
    const next = forward ? pool.mintB : pool.mintA;
    if (visited.includes(next)) continue;
    const [reserveIn, reserveOut] = forward ? [pool.reserveA, pool.reserveB] : [pool.reserveB, pool.reserveA];
    const out = quoteHop({ reserveIn, reserveOut, feeBps: pool.feeBps, amountIn: amount });
    const reached = next === 'E' ? out
      : hops > 1 && out > 0n ? best(pools, next, out, [...visited, next], hops - 1) : 0n;
    if (reached > most) most = reached;
  }
  return most;
}

describe('the router', () => {
  it('finds what pays most among all ways of up to three pools', () => {
    fc.assert(fc.property(poolsArbitrary, fc.bigInt({ min: 1n, max: 2n ** 40n }), (pools, amount) => {
      const route = routerOver(pools).bestRoute({ inputMint: 'A', outputMint: 'E', amount });
      expect(route?.outAmount ?? 0n).toBe(best(pools, 'A', amount, ['A'], 3));
    }));
  });

  it('finds for an output the least input of any way: it pays the output, and one unit less does not by any', () => {
    let found = 0;
    fc.assert(fc.property(poolsArbitrary, fc.bigInt({ min: 1n, max: 2n ** 40n }), (pools, outAmount) => {
      const router = routerOver(pools);
      const route = router.cheapestRoute({ inputMint: 'A', outputMint: 'E', outAmount });
      if (route === undefined) {
        // Whatever goes in, it does not come out: the pools hold less than that, or take no more.
        expect(best(pools, 'A', 2n ** 62n, ['A'], 3)).toBeLessThan(outAmount);
        return;
      }
      found += 1;
      expect(route.outAmount).toBeGreaterThanOrEqual(outAmount);
      expect(route.outAmount).toBe(route.hops.at(-1)!.outAmount);
      if (route.inAmount > 1n) expect(best(pools, 'A', route.inAmount - 1n, ['A'], 3)).toBeLessThan(outAmount);
    }), { numRuns: 500 });
    expect(found).toBeGreaterThan(20);
  });

  it('goes no further than it is told', () => {
    fc.assert(fc.property(poolsArbitrary, fc.bigInt({ min: 1n, max: 2n ** 40n }), fc.integer({ min: 1, max: 3 }),
      (pools, amount, maxHops) => {
        const router =
          createRouter({ pools, readPool: (address) => pools.find((pool) => pool.address === address)!, maxHops });
        expect(router.bestRoute({ inputMint: 'A', outputMint: 'E', amount })?.outAmount ?? 0n)
          .toBe(best(pools, 'A', amount, ['A'], maxHops));
      }));
  });

  it('chains its hops from the first mint to the last, each paying what the next takes', () => {
    fc.assert(fc.property(poolsArbitrary, fc.bigInt({ min: 1n, max: 2n ** 40n }), (pools, amount) => {
      const route = routerOver(pools).bestRoute({ inputMint: 'A', outputMint: 'E', amount });
      if (route === undefined) return;
      expect(route.hops[0]).toMatchObject({ inputMint: 'A', inAmount: amount });
      expect(route.hops.at(-1)).toMatchObject({ outputMint: 'E', outAmount: route.outAmount });
      route.hops.slice(1).forEach((hop, i) => {
        expect([hop.inputMint, hop.inAmount]).toEqual([route.hops[i]!.outputMint, route.hops[i]!.outAmount]);
      });
    }));
  });

  it('uses only what is accepted', () => {
    fc.assert(fc.property(poolsArbitrary, fc.bigInt({ min: 1n, max: 2n ** 40n }), (pools, amount) => {
      const route = routerOver(pools).bestRoute({
        inputMint: 'A', outputMint: 'E', amount, accepts: (path) => path.every(({ pool }) => pool.label === 'odd'),
      });
      expect(route?.outAmount ?? 0n).toBe(best(pools.filter(({ label }) => label === 'odd'), 'A', amount, ['A'], 3));
    }));
  });

  it('reads the reserves again for every request', () => {
    const pool: PricedPool =
      { address: 'pool', label: 'x', mintA: 'A', mintB: 'E', feeBps: 0, reserveA: 1_000_000n, reserveB: 1_000_000n };
    const pools = [pool];
    const router = createRouter({ pools, readPool: () => pools[0]! });
    const request = { inputMint: 'A', outputMint: 'E', amount: 1_000n };
    const before = router.bestRoute(request)!.outAmount;
    pools[0] = { ...pool, reserveB: 2_000_000n };
    expect(router.bestRoute(request)!.outAmount).toBe(before * 2n);
  });
});
