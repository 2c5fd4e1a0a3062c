import { expect } from 'vitest';
import type { Case } from '../../case.ts';
import { viewOf } from '../../transactions.ts';
import { SOL } from '../../service-fixture.ts';
import { landedV1, ourQuote, SALE, swapOf, v1Refused } from './v1-scenes.ts';

export const v1SwapFeeCases: readonly Case[] = [
  {
    covers: ['v1-swap.prioritizationFeeLamports'],
    says: 'a fee in whole lamports is paid so; "auto" and nothing are the service\'s choice; anything else is refused',
    async play(fixture) {
      const userPublicKey = fixture.wallet.address;
      expect(
        (await swapOf(fixture, SALE, { userPublicKey, prioritizationFeeLamports: 54_321 })).prioritizationFeeLamports,
      ).toBe(54_321);
      const [usual, auto] = [
        await swapOf(fixture, SALE, { userPublicKey }),
        await swapOf(fixture, SALE, { userPublicKey, prioritizationFeeLamports: 'auto' }),
      ];
      expect(usual.prioritizationFeeLamports).toBeGreaterThan(0);
      expect(auto.prioritizationFeeLamports / usual.prioritizationFeeLamports).toBeCloseTo(1, 0);
      const ours = await fixture.service.swapV1.swap({
        userPublicKey, quoteResponse: await ourQuote(fixture, SALE), prioritizationFeeLamports: 54_321,
      });
      expect(ours.prioritizationFeeLamports).toBe(54_321n);
      for (const fee of [-1, 1.5, 'lots'])
        await v1Refused(fixture, SALE, { prioritizationFeeLamports: fee }, /prioritizationFeeLamports/);
    },
  },
  {
    covers: [
      'v1-swap.prioritizationFeeLamports.priorityLevelWithMaxLamports',
      'v1-swap.prioritizationFeeLamports.priorityLevelWithMaxLamports.priorityLevel',
      'v1-swap.prioritizationFeeLamports.priorityLevelWithMaxLamports.maxLamports', 'v1-swap.priority-levels',
    ],
    says: 'a level pays more the higher it is, and never more than its limit; an unknown level is refused',
    async play(fixture) {
      const userPublicKey = fixture.wallet.address;
      const fees: number[] = [];
      for (const priorityLevel of ['medium', 'high', 'veryHigh'] as const) {
        const by = (maxLamports: number) =>
          ({ prioritizationFeeLamports: { priorityLevelWithMaxLamports: { priorityLevel, maxLamports } } });
        fees.push((await swapOf(fixture, SALE, { userPublicKey, ...by(100_000_000) })).prioritizationFeeLamports);
        expect((await swapOf(fixture, SALE, { userPublicKey, ...by(3) })).prioritizationFeeLamports)
          .toBeLessThanOrEqual(3);
        const ours =
          await fixture.service.swapV1.swap({ userPublicKey, quoteResponse: await ourQuote(fixture, SALE), ...by(3) });
        expect(ours.prioritizationFeeLamports).toBeLessThanOrEqual(3n);
      }
      expect(fees).toEqual(fees.toSorted((a, b) => a - b));
      expect(fees[2]).toBeGreaterThan(fees[0]!);
      await v1Refused(fixture, SALE, {
        prioritizationFeeLamports: { priorityLevelWithMaxLamports: { priorityLevel: 'utmost', maxLamports: 5 } },
      }, /prioritizationFeeLamports/);
    },
  },
  {
    covers: ['v1-swap.fee-or-tip'],
    says: 'a tip goes to a builder; a priority fee beside it is refused by both sides',
    async play(fixture) {
      const userPublicKey = fixture.wallet.address;
      const body =
        await swapOf(fixture, SALE, { userPublicKey, prioritizationFeeLamports: { bundleTipLamports: 66_000 } });
      const before = fixture.held(fixture.wallet.address, SOL);
      expect(await landedV1(fixture, body, fixture.wallet)).toBeNull();
      expect(before - fixture.held(fixture.wallet.address, SOL)).toBeGreaterThanOrEqual(100_000_000n + 66_000n);
      const level = { priorityLevelWithMaxLamports: { priorityLevel: 'high', maxLamports: 5_000 } };
      await v1Refused(
        fixture, SALE, { prioritizationFeeLamports: { ...level, bundleTipLamports: 66_000 } },
        /prioritizationFeeLamports/,
      );
    },
  },
  {
    covers: ['v1-swap.dynamicComputeUnitLimit', 'limit.compute-units-in-price'],
    says: 'the limit is 1400000 units, and what a simulation needs where that is asked for',
    async play(fixture) {
      const user = await fixture.newWallet({ [SOL]: '1000000000' });
      const fixed = viewOf((await swapOf(fixture, SALE, { userPublicKey: user.address })).swapTransaction);
      const body = await swapOf(fixture, SALE, { userPublicKey: user.address, dynamicComputeUnitLimit: true });
      const dynamic = viewOf(body.swapTransaction);
      expect(fixed.unitLimit).toBe(1_400_000);
      expect(dynamic.unitLimit).toBeLessThan(500_000);
      expect(await landedV1(fixture, body, user)).toBeNull();
      await v1Refused(fixture, SALE, { dynamicComputeUnitLimit: 'maybe' }, /dynamicComputeUnitLimit/);
    },
  },
  {
    covers: ['v1-swap.computeUnitPriceMicroLamports'],
    says: 'the price of a compute unit is the one given, and comes to price times 1400000 units; with a priority fee '
      + 'beside it, it is refused',
    async play(fixture) {
      const userPublicKey = fixture.wallet.address;
      const body = await swapOf(fixture, SALE, { userPublicKey, computeUnitPriceMicroLamports: 1_000 });
      expect(viewOf(body.swapTransaction).unitPrice).toBe(1_000n);
      expect(body.prioritizationFeeLamports).toBe(1_400);
      const ours = await fixture.service.swapV1.swap({
        userPublicKey, quoteResponse: await ourQuote(fixture, SALE), computeUnitPriceMicroLamports: 1_000n,
      });
      expect(ours.prioritizationFeeLamports).toBe(1_400n);
      await v1Refused(fixture, SALE, { computeUnitPriceMicroLamports: 1_000, prioritizationFeeLamports: 5 },
        /computeUnitPrice|prioritization/i,
          { computeUnitPriceMicroLamports: 1_000n });
    },
  },
  {
    covers: ['v1-swap.blockhashSlotsToExpiry', 'limit.blockhashSlotsToExpiry-of-swap'],
    says: 'a transaction lives as many slots as asked, in 8 bits; 256 is refused by both sides',
    async play(fixture) {
      const userPublicKey = fixture.wallet.address;
      for (const slots of [20, 150]) {
        const { lastValidBlockHeight } = await swapOf(fixture, SALE, { userPublicKey, blockhashSlotsToExpiry: slots });
        expect(lastValidBlockHeight - fixture.sandbox.chain.blockHeight).toBeLessThanOrEqual(slots);
        expect(lastValidBlockHeight - fixture.sandbox.chain.blockHeight).toBeGreaterThan(slots - 12);
      }
      for (const blockhashSlotsToExpiry of [256, -1])
        await v1Refused(fixture, SALE, { blockhashSlotsToExpiry }, /blockhashSlotsToExpiry/);
    },
  },
];
