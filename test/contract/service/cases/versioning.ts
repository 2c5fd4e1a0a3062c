import { expect } from 'vitest';
import type { Case } from '../case.ts';
import { asked, buildOf, BUY_SOL, landed, orderOf } from '../scenes.ts';
import { tokenAccountOf } from '../transactions.ts';
import { SOL, USDC } from '../service-fixture.ts';
import { quoteOf } from './v1/v1-scenes.ts';

const SALE = { inputMint: SOL, outputMint: USDC, amount: '100000000' } as const;

export const versioningCases: readonly Case[] = [
  {
    covers: [
      'version.migration-unchanged', 'version.migration-tables', 'version.migration-new-answers',
      'version.migration-kept-instructions',
    ],
    says: 'what V1 was asked, a build takes: the same output, the instructions in the same form, the tables with their '
      + 'contents',
    async play(fixture) {
      const shared = { ...SALE, slippageBps: 70, excludeDexes: 'Estuary', maxAccounts: 50, platformFeeBps: 40 };
      const feeAccount = (await tokenAccountOf(fixture, (await fixture.newWallet({ [USDC]: '1' })).address, USDC))!;
      const quote = await quoteOf(fixture, shared);
      const build = await buildOf(fixture, { ...shared, feeAccount, taker: fixture.wallet.address });
      for (const name of ['inputMint', 'outputMint', 'inAmount', 'outAmount', 'slippageBps', 'swapMode'])
        expect(build[name], name).toEqual(quote[name]);
      const { status, text, body: old } = await fixture.post('/swap/v1/swap-instructions', {
        userPublicKey: fixture.wallet.address, quoteResponse: quote, feeAccount,
      });
      expect(status, text).toBe(200);
      expect(Object.keys(build.addressesByLookupTableAddress)).toEqual(old.addressLookupTableAddresses);
      const shape = { programId: expect.any(String), accounts: expect.any(Array), data: expect.any(String) };
      for (const answer of [old, build]) {
        expect(answer.computeBudgetInstructions[0]).toEqual(shape);
        expect(answer.setupInstructions[0]).toEqual(shape);
        expect(answer.cleanupInstruction).toEqual(shape);
      }
      expect(build).toMatchObject({
        otherInstructions: [], blockhashWithMetadata: { lastValidBlockHeight: expect.any(Number) },
        swapInstruction: shape,
      });
      expect(build).not.toHaveProperty('addressLookupTableAddresses');
      expect((await fixture.service.swap.build({
        ...asked(SALE), taker: fixture.wallet.address, platformFeeBps: 40, feeAccount, excludeDexes: ['Estuary'],
        maxAccounts: 50,
      })).outAmount).toBe(BigInt(build.outAmount));
    },
  },
  {
    covers: ['error.errorCode-3-of-pools', 'limit.gasless-minimum'],
    says: 'who has no SOL swaps about ten dollars and more without gas, for less output; less than that is errorCode 3',
    async play(fixture) {
      const taker = await fixture.newWallet({ [USDC]: '100000000' });
      const pearl = {
        inputMint: USDC, outputMint: fixture.mint('PEARL'), taker: taker.address,
        excludeRouters: 'rfqz,routerA,routerB',
      };
      const small = await orderOf(fixture, { ...pearl, amount: '4000000' });
      expect([small.transaction, small.errorCode, small.errorMessage])
        .toEqual(['', 3, expect.stringMatching(/minimum/i)]);
      const order = await orderOf(fixture, { ...pearl, amount: '30000000' });
      expect([order.gasless, order.signatureFeePayer === taker.address]).toEqual([true, false]);
      expect(order.feeBps).toBeGreaterThan(order.platformFee.feeBps);
      await landed(fixture, order, taker);
      expect([fixture.held(taker.address, SOL), fixture.held(taker.address, pearl.outputMint)])
        .toEqual([0n, BigInt(order.outAmount)]);
      const read = await fixture.service.swap.order({
        ...asked({ ...BUY_SOL, outputMint: pearl.outputMint, amount: '30000000' }), taker: taker.address,
        excludeRouters: ['rfqz', 'routerA', 'routerB'],
      });
      expect(read.gasless).toBe(true);
    },
  },
];
