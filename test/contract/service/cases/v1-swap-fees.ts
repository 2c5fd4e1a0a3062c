import { expect } from 'vitest';
import type { Case } from '../case.ts';
import { look } from '../transactions.ts';
import { SOL } from '../world.ts';
import { landedV1, ourQuote, SALE, swapOf, v1Refused } from './v1-scenes.ts';

export const v1SwapFeeCases: readonly Case[] = [
  {
    covers: ['v1-swap.prioritizationFeeLamports'],
    says: 'a fee in whole lamports is paid so; "auto" and nothing are the service\'s choice; anything else is refused',
    async play(world) {
      const userPublicKey = world.wallet.address;
      expect(
        (await swapOf(world, SALE, { userPublicKey, prioritizationFeeLamports: 54_321 })).prioritizationFeeLamports,
      ).toBe(54_321);
      const [usual, auto] = [
        await swapOf(world, SALE, { userPublicKey }),
        await swapOf(world, SALE, { userPublicKey, prioritizationFeeLamports: 'auto' }),
      ];
      expect(usual.prioritizationFeeLamports).toBeGreaterThan(0);
      expect(auto.prioritizationFeeLamports / usual.prioritizationFeeLamports).toBeCloseTo(1, 0);
      const ours = await world.service.swapV1.swap({
        userPublicKey, quoteResponse: await ourQuote(world, SALE), prioritizationFeeLamports: 54_321,
      });
      expect(ours.prioritizationFeeLamports).toBe(54_321n);
      for (const fee of [-1, 1.5, 'lots'])
        await v1Refused(world, SALE, { prioritizationFeeLamports: fee }, /prioritizationFeeLamports/);
    },
  },
  {
    covers: [
      'v1-swap.prioritizationFeeLamports.priorityLevelWithMaxLamports',
      'v1-swap.prioritizationFeeLamports.priorityLevelWithMaxLamports.priorityLevel',
      'v1-swap.prioritizationFeeLamports.priorityLevelWithMaxLamports.maxLamports', 'v1-swap.priority-levels',
    ],
    says: 'a level pays more the higher it is, and never more than its limit; an unknown level is refused',
    async play(world) {
      const userPublicKey = world.wallet.address;
      const fees: number[] = [];
      for (const priorityLevel of ['medium', 'high', 'veryHigh'] as const) {
        const by = (maxLamports: number) =>
          ({ prioritizationFeeLamports: { priorityLevelWithMaxLamports: { priorityLevel, maxLamports } } });
        fees.push((await swapOf(world, SALE, { userPublicKey, ...by(100_000_000) })).prioritizationFeeLamports);
        expect((await swapOf(world, SALE, { userPublicKey, ...by(3) })).prioritizationFeeLamports)
          .toBeLessThanOrEqual(3);
        const ours =
          await world.service.swapV1.swap({ userPublicKey, quoteResponse: await ourQuote(world, SALE), ...by(3) });
        expect(ours.prioritizationFeeLamports).toBeLessThanOrEqual(3n);
      }
      expect(fees).toEqual(fees.toSorted((a, b) => a - b));
      expect(fees[2]).toBeGreaterThan(fees[0]!);
      await v1Refused(world, SALE, {
        prioritizationFeeLamports: { priorityLevelWithMaxLamports: { priorityLevel: 'utmost', maxLamports: 5 } },
      }, /prioritizationFeeLamports/);
    },
  },
  {
    covers: ['v1-swap.fee-or-tip'],
    says: 'a tip goes to a builder; a priority fee beside it is refused by both sides',
    async play(world) {
      const userPublicKey = world.wallet.address;
      const body =
        await swapOf(world, SALE, { userPublicKey, prioritizationFeeLamports: { bundleTipLamports: 66_000 } });
      const before = world.held(world.wallet.address, SOL);
      expect(await landedV1(world, body, world.wallet)).toBeNull();
      expect(before - world.held(world.wallet.address, SOL)).toBeGreaterThanOrEqual(100_000_000n + 66_000n);
      const level = { priorityLevelWithMaxLamports: { priorityLevel: 'high', maxLamports: 5_000 } };
      await v1Refused(
        world, SALE, { prioritizationFeeLamports: { ...level, bundleTipLamports: 66_000 } },
        /prioritizationFeeLamports/,
      );
    },
  },
  {
    covers: ['v1-swap.dynamicComputeUnitLimit', 'limit.compute-units-in-price'],
    says: 'the limit is 1400000 units, and what a simulation needs where that is asked for',
    async play(world) {
      const user = await world.newWallet({ [SOL]: '1000000000' });
      const fixed = look((await swapOf(world, SALE, { userPublicKey: user.address })).swapTransaction);
      const body = await swapOf(world, SALE, { userPublicKey: user.address, dynamicComputeUnitLimit: true });
      const dynamic = look(body.swapTransaction);
      expect(fixed.unitLimit).toBe(1_400_000);
      expect(dynamic.unitLimit).toBeLessThan(500_000);
      expect(await landedV1(world, body, user)).toBeNull();
      await v1Refused(world, SALE, { dynamicComputeUnitLimit: 'maybe' }, /dynamicComputeUnitLimit/);
    },
  },
  {
    covers: ['v1-swap.computeUnitPriceMicroLamports'],
    says: 'the price of a compute unit is the one given, and comes to price times 1400000 units; with a priority fee beside it, it is refused',
    async play(world) {
      const userPublicKey = world.wallet.address;
      const body = await swapOf(world, SALE, { userPublicKey, computeUnitPriceMicroLamports: 1_000 });
      expect(look(body.swapTransaction).unitPrice).toBe(1_000n);
      expect(body.prioritizationFeeLamports).toBe(1_400);
      const ours = await world.service.swapV1.swap({
        userPublicKey, quoteResponse: await ourQuote(world, SALE), computeUnitPriceMicroLamports: 1_000n,
      });
      expect(ours.prioritizationFeeLamports).toBe(1_400n);
      await v1Refused(world, SALE, { computeUnitPriceMicroLamports: 1_000, prioritizationFeeLamports: 5 },
        /computeUnitPrice|prioritization/i,
          { computeUnitPriceMicroLamports: 1_000n });
    },
  },
  {
    covers: ['v1-swap.blockhashSlotsToExpiry', 'limit.blockhashSlotsToExpiry-of-swap'],
    says: 'a transaction lives as many slots as asked, in 8 bits; 256 is refused by both sides',
    async play(world) {
      const userPublicKey = world.wallet.address;
      for (const slots of [20, 150]) {
        const { lastValidBlockHeight } = await swapOf(world, SALE, { userPublicKey, blockhashSlotsToExpiry: slots });
        expect(lastValidBlockHeight - world.sandbox.chain.blockHeight).toBeLessThanOrEqual(slots);
        expect(lastValidBlockHeight - world.sandbox.chain.blockHeight).toBeGreaterThan(slots - 12);
      }
      for (const blockhashSlotsToExpiry of [256, -1])
        await v1Refused(world, SALE, { blockhashSlotsToExpiry }, /blockhashSlotsToExpiry/);
    },
  },
];
