import { expect } from 'vitest';
import type { Case } from '../../case.ts';
import { asked, BUY_SOL, DIGITS, MAKERS_ONLY, orderOf, POOLS_ONLY, UUID } from '../../scenes.ts';
import { SOL, USDC } from '../../service-fixture.ts';
import { FIRM } from '../execute/execute-scenes.ts';

export const orderErrorCases: readonly Case[] = [
  {
    covers: ['error.errorCode-1-of-pools', 'error.errorCode-1-of-rfq'],
    says: 'errorCode 1: the taker has too little of what he sells, of pools and of makers alike',
    async play(fixture) {
      const taker = await fixture.newWallet({ [SOL]: '100000000', [USDC]: '1000' });
      const pooled = await orderOf(fixture, { ...BUY_SOL, taker: taker.address, ...POOLS_ONLY });
      const firm = await orderOf(fixture, { ...FIRM, taker: taker.address, ...MAKERS_ONLY });
      expect([pooled.router, pooled.transaction, pooled.errorCode]).toEqual(['iris', '', 1]);
      expect([firm.router, firm.transaction, firm.errorCode]).toEqual(['rfqz', '', 1]);
      expect(pooled.requestId).toMatch(UUID);
      for (const excludeRouters of [['rfqz', 'routerA', 'routerB'], ['iris', 'routerA', 'routerB']]) {
        expect(
          (await fixture.service.swap.order({ ...asked(FIRM), taker: taker.address, excludeRouters })).buildError?.code,
        ).toBe(1);
      }
    },
  },
  {
    covers: ['error.errorCode-2-of-rfq', 'error.errorCode-3-of-rfq'],
    says: 'errorCode of makers: 2 where a token account is missing, 3 where the quote could not become a transaction',
    async play(fixture) {
      const stranger = await fixture.newWallet({ [SOL]: '100000000' });
      expect(await orderOf(fixture, { ...FIRM, taker: stranger.address, ...MAKERS_ONLY }))
        .toMatchObject({ router: 'rfqz', transaction: '', errorCode: 2 });
      // All his SOL: nothing is left that could lend the rent of wrapping it.
      const seller = await fixture.newWallet({ [SOL]: '3000000000' });
      const order = await orderOf(fixture, {
        inputMint: SOL, outputMint: USDC, amount: '3000000000', taker: seller.address, ...MAKERS_ONLY,
      });
      expect(order).toMatchObject({ router: 'rfqz', transaction: '', errorCode: 3 });
      const read = await fixture.service.swap.order({
        ...asked(FIRM), taker: stranger.address, excludeRouters: ['iris', 'routerA', 'routerB'],
      });
      expect(read.buildError?.code).toBe(2);
    },
  },
  {
    covers: ['error.errorCode-2-of-pools'],
    says: 'errorCode 2 of pools: who pays has too little SOL, and the message says how much is missing',
    async play(fixture) {
      const taker = await fixture.newWallet({ [USDC]: '5000000' });
      const order = await orderOf(fixture, {
        inputMint: USDC, outputMint: fixture.mint('KELP'), amount: '5000000', taker: taker.address, slippageBps: 100,
        payer: (await fixture.newWallet()).address,
      });
      expect([order.transaction, order.errorCode]).toEqual(['', 2]);
      const [, missing = ''] = /Top up (\d+\.\d+) SOL/.exec(order.errorMessage) ?? [];
      expect(missing.replace('.', '')).toMatch(DIGITS);
      expect(Number(missing)).toBeGreaterThan(0.002);
    },
  },
];
