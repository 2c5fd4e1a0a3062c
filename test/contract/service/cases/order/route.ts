import { expect } from 'vitest';
import type { Case } from '../../case.ts';
import { fieldCases } from '../../case.ts';
import { ADDRESS, asked, buildOf, DIGITS, landed, orderOf, POOLS_ONLY, usdWorth } from '../../scenes.ts';
import type { Answer, ServiceFixture } from '../../service-fixture.ts';
import { SOL, USDC } from '../../service-fixture.ts';

type Body = Answer['body'];

/** A route of several hops, as order and build tell it and as our client reads it. */
async function load(fixture: ServiceFixture) {
  const long = { inputMint: fixture.mint('KELP'), outputMint: fixture.mint('BUOY'), amount: '5000000000' };
  const taker = await fixture.newWallet({ [SOL]: '100000000', [long.inputMint]: '5000000000' });
  const order = await orderOf(fixture, { ...long, taker: taker.address, ...POOLS_ONLY });
  const build = await buildOf(fixture, { ...long, taker: taker.address });
  const read = await fixture.service.swap.order({
    ...asked(long), taker: taker.address, excludeRouters: ['rfqz', 'routerA', 'routerB'],
  });
  const usd = await usdWorth(fixture, long.inputMint, long.amount);
  const { pools } = await fixture.control('/sandbox/state');
  const execution = await landed(fixture, order, taker);
  return { order, build, read, usd, pools, execution, plans: [order.routePlan, build.routePlan] as Body[][] };
}

const everyEntry = ({ plans }: Awaited<ReturnType<typeof load>>, check: (entry: Body) => void): void =>
  plans.flat().forEach(check);

export const routeCases: readonly Case[] = [
  ...fieldCases({ prefix: 'route', load }, {
    swapInfo: ['an object in every entry, in the order of the hops', (scene) => {
      everyEntry(scene, ({ swapInfo }) => expect(swapInfo).toBeTypeOf('object'));
      for (const plan of scene.plans) {
        expect(plan.length).toBeGreaterThan(1);
        for (const [place, { swapInfo }] of plan.slice(1).entries())
          expect(swapInfo.inputMint).toBe(plan[place].swapInfo.outputMint);
      }
      expect(scene.read.routePlan).toHaveLength(scene.order.routePlan.length);
    }],
    percent: ['100, as no route is split', (scene) => {
      everyEntry(scene, ({ percent }) => expect(percent).toBe(100));
      expect(scene.read.routePlan[0]?.percent).toBe(100);
    }],
    bps: ['10000, as no route is split', (scene) => {
      everyEntry(scene, ({ bps }) => expect(bps).toBe(10_000));
      expect(scene.read.routePlan[0]?.bps).toBe(10_000);
    }],
    'percent-beside-bps': ['both shares in every entry, and they agree', (scene) =>
      everyEntry(scene, ({ percent, bps }) => expect(percent * 100).toBe(bps))],
    usdValue: ['a number: what goes into the first hop at the market\'s price', (scene) => {
      for (const plan of scene.plans) expect(plan[0].usdValue).toBeCloseTo(scene.usd, 6);
      everyEntry(scene, ({ usdValue }) => expect(usdValue).toBeGreaterThan(0));
      expect(scene.read.routePlan[0]?.usdValue).toBeCloseTo(scene.usd, 6);
    }],
    'swapInfo.ammKey': ['the pool\'s account', (scene) => {
      everyEntry(scene, ({ swapInfo }) =>
        expect(scene.pools.map(({ address }: Body) => address)).toContain(swapInfo.ammKey));
      expect(scene.read.routePlan[0]?.swapInfo.ammKey).toMatch(ADDRESS);
    }],
    'swapInfo.label': ['the pool\'s label', (scene) => {
      everyEntry(scene, ({ swapInfo }) =>
        expect(scene.pools.find(({ address }: Body) => address === swapInfo.ammKey).label).toBe(swapInfo.label));
      expect(scene.read.routePlan[0]?.swapInfo.label).toBe(scene.order.routePlan[0].swapInfo.label);
    }],
    'swapInfo.inputMint': ['one of the pool\'s two mints', (scene) => everyEntry(scene, ({ swapInfo }) => {
      const pool = scene.pools.find(({ address }: Body) => address === swapInfo.ammKey);
      expect([pool.mint_a, pool.mint_b]).toContain(swapInfo.inputMint);
    })],
    'swapInfo.outputMint': ['the other of the two', (scene) => everyEntry(scene, ({ swapInfo }) => {
      const pool = scene.pools.find(({ address }: Body) => address === swapInfo.ammKey);
      expect(new Set([swapInfo.inputMint, swapInfo.outputMint])).toEqual(new Set([pool.mint_a, pool.mint_b]));
    })],
    'swapInfo.inAmount': ['digits: what the hop before gave', (scene) => {
      for (const plan of scene.plans) for (const [place, { swapInfo }] of plan.slice(1).entries())
        expect(swapInfo.inAmount).toBe(plan[place].swapInfo.outAmount);
      everyEntry(scene, ({ swapInfo }) => expect(swapInfo.inAmount).toMatch(DIGITS));
      expect(scene.read.routePlan[0]?.swapInfo.inAmount).toBe(5_000_000_000n);
    }],
    'swapInfo.outAmount': ['digits: what the chain then gave', ({ order, execution, read }) => {
      for (const [place, { swapInfo }] of order.routePlan.entries())
        expect(execution.swapEvents[place].outputAmount).toBe(swapInfo.outAmount);
      expect(read.routePlan.at(-1)?.swapInfo.outAmount).toBe(BigInt(order.routePlan.at(-1).swapInfo.outAmount));
    }],
    'market-fees-are-inside': ['a pool gives less than its price without a fee would', ({ order, pools }) => {
      const [{ swapInfo }] = order.routePlan;
      const pool = pools.find(({ address }: Body) => address === swapInfo.ammKey);
      const isForward = pool.mint_a === swapInfo.inputMint;
      const [x, y] =
        [BigInt(isForward ? pool.reserve_a : pool.reserve_b), BigInt(isForward ? pool.reserve_b : pool.reserve_a)];
      const free = (y * BigInt(swapInfo.inAmount)) / (x + BigInt(swapInfo.inAmount));
      const lost = Number(free - BigInt(swapInfo.outAmount)) / Number(free);
      expect(lost * 10_000).toBeCloseTo(pool.fee_bps, 0);
    }],
  }),
  ...fieldCases({ prefix: 'platform-fee', load }, {
    amount: ['digits: what the executed order paid', ({ order, execution, read }) => {
      expect(order.platformFee.amount).toMatch(DIGITS);
      const paid = BigInt(execution.totalInputAmount) - BigInt(execution.inputAmountResult)
        + BigInt(execution.outputAmountResult) - BigInt(execution.totalOutputAmount);
      expect(BigInt(order.platformFee.amount)).toBe(paid);
      expect(read.platformFee?.amount).toBe(paid);
    }],
    feeBps: ['a whole number of basis points of what it is taken from', ({ order, execution, read }) => {
      const base = order.platformFee.feeMint === order.inputMint ? execution.totalInputAmount
        : execution.outputAmountResult;
      expect(BigInt(order.platformFee.amount)).toBe((BigInt(base) * BigInt(order.platformFee.feeBps)) / 10_000n);
      expect(read.platformFee?.feeBps).toBe(order.platformFee.feeBps);
    }],
    feeMint: ['the mint it is taken in, the order\'s feeMint', ({ order, read }) => {
      expect(order.platformFee.feeMint).toBe(order.feeMint);
      expect(read.platformFee?.feeMint).toBe(order.feeMint);
    }],
  }),
  {
    covers: ['version.deprecated-impact-and-type'],
    says: 'the deprecated impact and type agree with what took their place, and our client reads an order that has '
      + 'only the old ones',
    async play(fixture) {
      const quote = await orderOf(fixture, { inputMint: USDC, outputMint: SOL, amount: '25000000', ...POOLS_ONLY });
      expect([Number(quote.priceImpactPct), quote.swapType])
        .toEqual([expect.closeTo(quote.priceImpact, 6), 'aggregator']);
      const { priceImpact: _impact, router: _router, ...old } = quote;
      await fixture.fault({
        match: { path: '/swap/v2/order' },
        fault: { kind: 'malformed', body: JSON.stringify(fixture.dialect.toWire.json(old)) }, times: 1,
      });
      const read = await fixture.service.swap.order({
        ...asked({ inputMint: USDC, outputMint: SOL, amount: '25000000' }),
        excludeRouters: ['rfqz', 'routerA', 'routerB'],
      });
      expect([read.router, read.priceImpact]).toEqual(['iris', expect.closeTo(quote.priceImpact, 6)]);
    },
  },
];
