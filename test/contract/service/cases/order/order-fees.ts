import { expect } from 'vitest';
import type { Case } from '../../case.ts';
import { asked, BUY_SOL, landed, orderOf, POOLS_ONLY } from '../../scenes.ts';
import { SOL, USDC } from '../../service-fixture.ts';
import { orderRefused } from './order-refused.ts';

export const orderFeeCases: readonly Case[] = [
  {
    covers: ['order.priorityFeeLamports'],
    says: 'a priority fee that is set is paid to the lamport; one that is not is the service\'s choice',
    async play(fixture) {
      const taker = await fixture.newWallet({ [SOL]: '100000000', [USDC]: '100000000' });
      const query = { ...BUY_SOL, taker: taker.address };
      expect((await orderOf(fixture, { ...query, ...POOLS_ONLY })).prioritizationFeeLamports).toBeGreaterThan(0);
      const order = await orderOf(fixture, { ...query, priorityFeeLamports: 123_456 });
      expect([order.prioritizationFeeLamports, order.mode]).toEqual([123_456, 'manual']);
      const before = fixture.held(taker.address, SOL);
      await landed(fixture, order, taker);
      expect(fixture.held(taker.address, SOL) - before)
        .toBe(BigInt(order.outAmount) - 123_456n - BigInt(order.signatureFeeLamports));
      await orderRefused(fixture, { priorityFeeLamports: -1 }, /priorityFeeLamports/);
    },
  },
  {
    covers: ['order.bundleTipLamports'],
    says: 'a tip reaches a builder\'s account and counts as priority',
    async play(fixture) {
      const taker = await fixture.newWallet({ [SOL]: '100000000', [USDC]: '100000000' });
      const order = await orderOf(fixture, {
        ...BUY_SOL, taker: taker.address, bundleTipLamports: 77_000, priorityFeeLamports: 10_000,
      });
      expect(order.prioritizationFeeLamports).toBe(87_000);
      const { signature } = await landed(fixture, order, taker);
      const { result } = await fixture.rpc(
        'getTransaction', [signature, { maxSupportedTransactionVersion: 1, encoding: 'json', commitment: 'confirmed' }],
      );
      const gains = result.meta.postBalances.map((after: number, place: number) =>
        after - result.meta.preBalances[place]);
      expect(gains).toContain(77_000);
      const read = await fixture.service.swap.order({
        ...asked(BUY_SOL), taker: taker.address, bundleTipLamports: 77_000n, priorityFeeLamports: 10_000n,
      });
      expect(read.prioritizationFeeLamports).toBe(87_000n);
      await orderRefused(fixture, { bundleTipLamports: -1 }, /bundleTipLamports/);
    },
  },
  {
    covers: ['order.broadcastFeeType', 'order.max-cap', 'order.exact-fee'],
    says: 'exactFee pays the fee to the lamport, maxCap no more than it; another word is refused by both sides',
    async play(fixture) {
      const query = { ...BUY_SOL, taker: fixture.wallet.address, ...POOLS_ONLY };
      const usual = (await orderOf(fixture, query)).prioritizationFeeLamports;
      const far = { ...query, priorityFeeLamports: 1_000_000 };
      expect((await orderOf(fixture, { ...far, broadcastFeeType: 'exactFee' })).prioritizationFeeLamports)
        .toBe(1_000_000);
      const capped = (await orderOf(fixture, { ...far, broadcastFeeType: 'maxCap' })).prioritizationFeeLamports;
      expect(capped).toBeLessThanOrEqual(usual * 1.1);
      expect((
        await orderOf(fixture, { ...query, priorityFeeLamports: 5, broadcastFeeType: 'maxCap' })
      ).prioritizationFeeLamports).toBeLessThanOrEqual(5);
      await orderRefused(fixture, { broadcastFeeType: 'some' }, /broadcastFeeType/);
    },
  },
  {
    covers: ['order.fee-type-alone-does-nothing'],
    says: 'a fee type without a fee or tip changes nothing',
    async play(fixture) {
      const query = { ...BUY_SOL, taker: fixture.wallet.address, ...POOLS_ONLY };
      const [plain, typed] =
        [await orderOf(fixture, query), await orderOf(fixture, { ...query, broadcastFeeType: 'exactFee' })];
      expect(typed.prioritizationFeeLamports).toBeGreaterThan(plain.prioritizationFeeLamports * 0.9);
      expect(typed.prioritizationFeeLamports).toBeLessThan(plain.prioritizationFeeLamports * 1.1);
      expect(typed.outAmount).toBe(plain.outAmount);
    },
  },
];
