import { expect } from 'vitest';
import type { Case } from '../../case.ts';
import { asked, BUY_SOL, labelsOf, landed, orderOf, POOLS_ONLY, refusedByBoth, UUID } from '../../scenes.ts';
import { SOL, USDC } from '../../service-fixture.ts';
import { ORDER, orderMissed, orderRefused } from './order-refused.ts';

/** Enough for a maker to be interested. */
const LARGE = { inputMint: USDC, outputMint: SOL, amount: '500000000' } as const;

export const orderCases: readonly Case[] = [
  {
    covers: ['order./swap/v2/order', 'purpose.order-quotes', 'purpose.swap-v2-path'],
    says: '/order answers 200 with a quote, and with a transaction once a taker is named',
    async play(fixture) {
      const quote = await fixture.get(ORDER, BUY_SOL);
      expect([quote.status, quote.body.transaction]).toEqual([200, null]);
      const order = await fixture.get(ORDER, { ...BUY_SOL, taker: fixture.wallet.address });
      expect(order.body.transaction).toMatch(/^[A-Za-z0-9+/]{200,}=*$/);
      expect((await fixture.service.swap.order({ ...asked(BUY_SOL), taker: fixture.wallet.address })).transaction)
        .toBeInstanceOf(Uint8Array);
    },
  },
  {
    covers: ['order.inputMint'],
    says: 'an order without inputMint, or with one that is no address, is refused by both sides',
    async play(fixture) {
      await orderMissed(fixture, 'inputMint');
      expect((await orderOf(fixture, BUY_SOL)).inputMint).toBe(USDC);
      await orderRefused(fixture, { inputMint: 'SOL' }, /inputMint/);
    },
  },
  {
    covers: ['order.outputMint'],
    says: 'an order without outputMint, or with the same mint twice, is refused by both sides',
    async play(fixture) {
      await orderMissed(fixture, 'outputMint');
      expect((await orderOf(fixture, BUY_SOL)).outputMint).toBe(SOL);
      await orderRefused(fixture, { outputMint: USDC }, /outputMint/);
    },
  },
  {
    covers: ['order.amount', 'purpose.smallest-units'],
    says: 'the amount of an order counts smallest units, digits alone, beyond 2^53 too',
    async play(fixture) {
      await orderMissed(fixture, 'amount');
      for (const amount of ['0', '-5', '1.5', '1e6', '18446744073709551616']) {
        expect((await fixture.get(ORDER, { ...BUY_SOL, amount })).status, amount).toBe(400);
      }
      const krill = { inputMint: fixture.mint('KRILL'), outputMint: SOL, amount: '9007199254740993' };
      expect((await orderOf(fixture, krill)).inAmount).toBe('9007199254740993');
      expect((await fixture.service.swap.order(asked(krill))).inAmount).toBe(9_007_199_254_740_993n);
    },
  },
  {
    covers: ['order.taker', 'order.no-taker-no-transaction', 'state.transaction-null'],
    says: 'without a taker there is a quote and no transaction; a taker that is no address is refused by both sides',
    async play(fixture) {
      expect(await orderOf(fixture, BUY_SOL)).toMatchObject({ transaction: null, taker: null });
      expect((await orderOf(fixture, { ...BUY_SOL, taker: fixture.wallet.address })).taker)
        .toBe(fixture.wallet.address);
      await orderRefused(fixture, { taker: 'me' }, /taker/);
    },
  },
  {
    covers: ['order.taker-for-execute', 'state.transaction-built'],
    says: 'what a taker signed is executed; a quote without a taker cannot be',
    async play(fixture) {
      const order = await orderOf(fixture, { ...BUY_SOL, taker: fixture.wallet.address, ...POOLS_ONLY });
      await landed(fixture, order, fixture.wallet);
      const quote = await orderOf(fixture, BUY_SOL);
      const answer =
        await fixture.post('/swap/v2/execute', { requestId: quote.requestId, signedTransaction: order.transaction });
      expect([answer.status, answer.body.code]).toEqual([400, -1]);
    },
  },
  {
    covers: ['state.transaction-empty', 'error.unbuilt-order-is-200'],
    says: 'an order that cannot be built is a 200 with an empty transaction, a number and the reason twice',
    async play(fixture) {
      const { address } = await fixture.newWallet();
      const answer = await fixture.get(ORDER, { ...BUY_SOL, taker: address });
      expect(answer.status).toBe(200);
      expect(answer.body)
        .toMatchObject({ transaction: '', errorCode: expect.any(Number), errorMessage: expect.stringMatching(/\w/) });
      expect(answer.body.error).toBe(answer.body.errorMessage);
      const read = await fixture.service.swap.order({ ...asked(BUY_SOL), taker: address });
      expect([read.transaction, read.buildError])
        .toEqual([undefined, { code: answer.body.errorCode, message: answer.body.errorMessage }]);
    },
  },
  {
    covers: ['order.swapMode'],
    says: 'an order is ExactIn; ExactOut is refused by both sides',
    async play(fixture) {
      expect((await orderOf(fixture, { ...BUY_SOL, swapMode: 'ExactIn' })).swapMode).toBe('ExactIn');
      expect((await fixture.service.swap.order({ ...asked(BUY_SOL), swapMode: 'ExactIn' })).outAmount)
        .toBeGreaterThan(0n);
      await orderRefused(fixture, { swapMode: 'ExactOut' }, /swapMode/);
    },
  },
  {
    covers: ['order.slippageBps', 'limit.slippageBps'],
    says: 'slippage of an order is 0 to 10000 whole basis points, and the service\'s own choice where none is given',
    async play(fixture) {
      for (const slippageBps of [0, 1, 10_000]) {
        const order = await orderOf(fixture, { ...BUY_SOL, slippageBps });
        expect([order.slippageBps, order.mode]).toEqual([slippageBps, 'manual']);
        expect(BigInt(order.otherAmountThreshold))
          .toBe((BigInt(order.outAmount) * BigInt(10_000 - slippageBps)) / 10_000n);
      }
      for (const slippageBps of [-1, 10_001, 1.5]) await orderRefused(fixture, { slippageBps }, /slippageBps/);
      const taker = await orderOf(fixture, { ...BUY_SOL, taker: fixture.wallet.address, ...POOLS_ONLY });
      expect(taker.slippageBps).toBeGreaterThan(0);
      expect(BigInt(taker.otherAmountThreshold)).toBeLessThan(BigInt(taker.outAmount));
    },
  },
  {
    covers: ['order.excludeRouters'],
    says:
      'each of the four routers can be excluded; with all of them there is no quote, and a fifth is refused by both '
        + 'sides',
    async play(fixture) {
      const taker = fixture.wallet.address;
      const routers = ['iris', 'rfqz', 'routerA', 'routerB'];
      for (const router of routers)
        expect((await orderOf(fixture, { ...LARGE, taker, excludeRouters: router })).router).not.toBe(router);
      for (const router of routers) {
        const others = routers.filter((other) => other !== router);
        expect((await orderOf(fixture, { ...LARGE, taker, excludeRouters: others.join(',') })).router).toBe(router);
        expect((await fixture.service.swap.order({ ...asked(LARGE), taker, excludeRouters: others })).router)
          .toBe(router);
      }
      const none = await fixture.get(ORDER, { ...LARGE, taker, excludeRouters: routers.join(',') });
      expect([none.status, none.body])
        .toEqual([400, { requestId: expect.stringMatching(UUID), error: 'Failed to get quotes' }]);
      await refusedByBoth(fixture, {
        theirs: () => fixture.get(ORDER, { ...LARGE, excludeRouters: 'router9' }),
        ours: ({ swap }) => swap.order({ ...asked(LARGE), excludeRouters: ['router9'] }),
        about: /excludeRouters/,
      });
    },
  },
  {
    covers: ['order.excludeDexes', 'order.exclude-dexes-of-iris'],
    says: 'excluded labels stay out of the pools\' route, and out of no maker\'s way',
    async play(fixture) {
      const taker = fixture.wallet.address;
      const [usual = ''] = labelsOf(await orderOf(fixture, { ...BUY_SOL, ...POOLS_ONLY }));
      expect(labelsOf(await orderOf(fixture, { ...BUY_SOL, ...POOLS_ONLY, excludeDexes: usual }))).not.toContain(usual);
      const every = 'Tidepool,Lagoon,Estuary';
      expect((await fixture.get(ORDER, { ...LARGE, taker, ...POOLS_ONLY, excludeDexes: every })).status).toBe(400);
      expect((await orderOf(fixture, { ...LARGE, taker, excludeDexes: every })).router).not.toBe('iris');
      const read = await fixture.service.swap.order({
        ...asked(BUY_SOL), excludeRouters: ['rfqz', 'routerA', 'routerB'], excludeDexes: [usual],
      });
      expect(read.routePlan?.map(({ swapInfo }) => swapInfo.label)).not.toContain(usual);
    },
  },
];
