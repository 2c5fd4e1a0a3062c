import { beforeEach, describe, expect, it } from 'vitest';
import { poolPrice, rawPrice } from '../../../src/sandbox/market/pool-price.ts';
import { createMarket, type MarketPool } from '../../../src/sandbox/market/market.ts';
import { createSwingingPrice } from '../../../src/sandbox/market/price-process.ts';
import { createChainSetup, type ChainSetup } from '../../../src/sandbox/chain-setup.ts';
import { GENESIS_POOLS, GENESIS_TOKENS } from '../../../src/sandbox/genesis.ts';
import { SOL, USDC } from '../service/sandbox-client.ts';

const PEARL = GENESIS_TOKENS[2]!.mint;
const LHSOL = GENESIS_TOKENS.find(({ symbol }) => symbol === 'LHSOL')!.mint;

function newSetup(seed = 7): ChainSetup {
  return createChainSetup({ seed, slotMs: 400, genesisUnixSeconds: 1_800_000_000 });
}

function decimals(mint: string): number {
  return GENESIS_TOKENS.find((token) => token.mint === mint)!.decimals;
}

/** How far a pool is from the market's price, as a fraction. */
function gap({ chain, market }: ChainSetup, pool: MarketPool): number {
  const wanted = rawPrice(
    { usd: market.usdPrice(pool.mintA), decimals: decimals(pool.mintA) },
    { usd: market.usdPrice(pool.mintB), decimals: decimals(pool.mintB) },
  );
  return poolPrice(chain.readPool(pool.address)) / wanted - 1;
}

function reserves({ pools, chain }: ChainSetup): unknown {
  return pools.map(({ address }) => chain.readPool(address));
}

describe('the market of the sandbox', () => {
  let setup: ChainSetup;
  beforeEach(() => {
    setup = newSetup();
  });

  it('moves the same way for the same seed', () => {
    const again = newSetup();
    const other = newSetup(8);
    for (const each of [setup, again, other]) for (let i = 0; i < 50; i++) each.market.step(1);
    expect(reserves(setup)).toEqual(reserves(again));
    expect(reserves(setup)).not.toEqual(reserves(other));
  });

  it('keeps every pool near the price of its tokens', () => {
    for (let i = 0; i < 400; i++) setup.market.step(1);
    for (const pool of setup.pools) expect(Math.abs(gap(setup, pool))).toBeLessThan(0.02);
    expect(Math.abs(gap(setup, setup.pools[0]!))).toBeLessThan(0.006);
  });

  it('lets the impact of a trade decay', () => {
    const pool = setup.pools[0]!;
    const { reserveA, reserveB } = setup.chain.readPool(pool.address);
    setup.chain.writeReserves(pool.address, { reserveA: (reserveA * 105n) / 100n, reserveB: (reserveB * 100n) / 105n });
    const before = Math.abs(gap(setup, pool));
    expect(before).toBeGreaterThan(0.08);
    setup.market.step(1);
    const after = Math.abs(gap(setup, pool));
    expect(after).toBeGreaterThan(before * 0.3);
    expect(after).toBeLessThan(before * 0.7);
    for (let i = 0; i < 15; i++) setup.market.step(1);
    expect(Math.abs(gap(setup, pool))).toBeLessThan(0.006);
  });

  it('moves all pools of a token, and of what is pegged to it, when its price is set', () => {
    const staked = setup.market.usdPrice(LHSOL);
    setup.market.setPrice({ mint: SOL, usd: 91.2 });
    expect(setup.market.usdPrice(SOL)).toBe(91.2);
    expect(setup.market.usdPrice(LHSOL)).toBeCloseTo(staked / 2, 6);
    for (const pool of setup.pools) expect(Math.abs(gap(setup, pool))).toBeLessThan(0.002);
  });

  it('refuses to price a mint it does not know', () => {
    expect(() => setup.market.usdPrice(setup.wallet.address))
      .toThrow(expect.objectContaining({ code: 'MINT_INVALID' }));
  });

  it('counts volume, buys and sells by the direction of a trade', () => {
    const before = setup.market.tape(PEARL).window({ minutes: 5 });
    setup.market.recordTrade({ inputMint: USDC, outputMint: PEARL, usd: 1_000 });
    const after = setup.market.tape(PEARL).window({ minutes: 5 });
    expect(after.buyVolumeUsd - before.buyVolumeUsd).toBeCloseTo(1_000, 6);
    expect(after.sellVolumeUsd).toBe(before.sellVolumeUsd);
  });

  it('keeps its windows one within the other', () => {
    for (let i = 0; i < 700; i++) setup.market.step(1);
    for (const { mint } of GENESIS_TOKENS) {
      const volumes = [5, 60, 360, 1_440].map((minutes) => {
        const { buyVolumeUsd, sellVolumeUsd } = setup.market.tape(mint).window({ minutes });
        return buyVolumeUsd + sellVolumeUsd;
      });
      expect(volumes).toEqual([...volumes].sort((a, b) => a - b));
    }
  });

  it('knows the price of five minutes ago', () => {
    const start = setup.market.usdPrice(SOL);
    for (let i = 0; i < 5 * 150 - 1; i++) setup.market.step(1);
    expect(setup.market.tape(SOL).window({ minutes: 5 }).openPrice).toBeCloseTo(start, 6);
  });

  it('reads each pool twice however far it goes, and walks two days of it at most', () => {
    const { chain, pools } = setup;
    let reads = 0;
    const market = createMarket({
      seed: 7, tokens: GENESIS_TOKENS, pools,
      reserves: { writeReserves: chain.writeReserves, readPool: (address) => (reads++, chain.readPool(address)) },
    });
    const atStart = reads;
    // Slot by slot this would take hours.
    market.step(10_000_000_000);
    expect(reads - atStart).toBeLessThanOrEqual(2 * pools.length);
    expect(market.usdPrice(SOL)).toBeGreaterThan(120);
    expect(market.usdPrice(SOL)).toBeLessThan(280);
    expect(Math.abs(gap({ ...setup, market }, pools[0]!))).toBeLessThan(0.006);
    const { buyVolumeUsd, sellVolumeUsd, openPrice } = market.tape(SOL).window({ minutes: 1_440 });
    expect(buyVolumeUsd + sellVolumeUsd).toBeGreaterThan(400_000_000);
    expect(openPrice).not.toBe(market.usdPrice(SOL));
  });

  it('is as far from home after a stride of weeks as after a walk of weeks', () => {
    const deviations = Array.from({ length: 400 }, (_, i) => {
      const process = createSwingingPrice({ seed: `stride ${i}`, start: 100, volatility: 1 });
      process.leap(3_000_000);
      return Math.log(process.value / 100);
    });
    const mean = deviations.reduce((sum, value) => sum + value, 0) / deviations.length;
    const deviation = Math.sqrt(deviations.reduce((sum, value) => sum + (value - mean) ** 2, 0) / deviations.length);
    // The wander's 3 % and the deviation's 0.6 %.
    expect(Math.abs(mean)).toBeLessThan(0.006);
    expect(deviation).toBeGreaterThan(0.026);
    expect(deviation).toBeLessThan(0.036);
  });

  it('reports what the pools hold as liquidity', () => {
    const depthUsd = GENESIS_POOLS.filter(({ mintA, mintB }) => mintA === PEARL || mintB === PEARL)
      .reduce((sum, pool) => sum + pool.depthUsd, 0);
    expect(setup.market.liquidityUsd(PEARL)).toBeCloseTo(2 * depthUsd, -2);
  });
});
