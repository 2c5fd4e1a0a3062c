import { expect } from 'vitest';
import type { Amount } from '../../src/core/amount.ts';
import { amount } from '../../src/core/amount.ts';
import type { Trap } from './trap.ts';
import { newTrader } from './trader.ts';
import { ORDER, SOL, USDC } from './trap-fixture.ts';

/** Big enough for the maker to win. */
const FIRM = 900_000_000n as Amount;
const MAKER_ONLY = 'iris,routerA,routerB';
const POOLS_ONLY = 'rfqz,routerA,routerB';

export const noTransaction: Trap = {
  number: 3,
  title: 'an order without a transaction is a 200: null and "" differ, and so do error codes by router',
  plays: [
    {
      says: 'null is a quote without a taker; "" is a failure with a code, also in a 200',
      profiles: ['reference', 'live'],
      async play(fixture) {
        const poor = await newTrader(fixture, [[SOL, 100_000_000n]]);
        const asked = { inputMint: USDC, outputMint: SOL, amount: '20000000' };
        const quote = await fixture.get(ORDER, asked);
        const refusal = await fixture.get(ORDER, { ...asked, taker: poor.address });
        expect([quote.status, quote.body.transaction, quote.body.errorCode]).toEqual([200, null, undefined]);
        expect([refusal.status, refusal.body.transaction, refusal.body.errorCode]).toEqual([200, '', 1]);

        const request = { inputMint: USDC, outputMint: SOL, amount: amount(20_000_000n) };
        const read = {
          quote: await fixture.service.swap.order(request),
          refusal: await fixture.service.swap.order({ ...request, taker: poor.address }),
        };
        expect([read.quote.transaction, read.quote.buildError]).toEqual([undefined, undefined]);
        expect([read.refusal.transaction, read.refusal.buildError])
          .toEqual([undefined, { code: 1, message: refusal.body.errorMessage }]);
        // A threshold without a taker protects nothing where the service leaves the slippage open.
        expect(read.quote.threshold).toBeLessThanOrEqual(read.quote.outAmount);
      },
    },
    {
      says: 'pools: code 1 lacks tokens, 2 lacks SOL, 3 is too small to be gasless; each is abandoned unsigned',
      async play(fixture) {
        const noTokens = await newTrader(fixture, [[SOL, 100_000_000n], [USDC, 5_000_000n]]);
        expect((await noTokens.refused(/^ORDER_(IRIS|ROUTERA|ROUTERB)_1$/)).last.reason).toMatch(/insufficient funds/i);
        const noSol = await newTrader(fixture, [[SOL, 1_000_000n]]);
        expect((await noSol.refused(
          /^ORDER_(IRIS|ROUTERA|ROUTERB)_2$/,
          noSol.intent({ inputMint: SOL, outputMint: USDC, amountIn: 900_000n as Amount }),
        )).last.reason).toMatch(/top up/i);
        const small = await newTrader(fixture, [[USDC, 9_000_000n]]);
        expect((await small.refused(
          /^ORDER_(IRIS|ROUTERA|ROUTERB)_3$/, small.intent({ amountIn: 9_000_000n as Amount }),
        )).last.reason).toMatch(/gasless/i);
      },
    },
    {
      says: 'makers: code 1 lacks tokens, 2 lacks a token account, 3 has no transaction; here 2 is not a lack of SOL',
      async play(fixture) {
        const noTokens = await newTrader(fixture, [[SOL, 100_000_000n], [USDC, 5_000_000n]]);
        await noTokens.refused(/^ORDER_RFQZ_1$/, noTokens.intent({ amountIn: FIRM }));
        const noAccount = await newTrader(fixture, [[SOL, 100_000_000n]]);
        expect((await noAccount.refused(/^ORDER_RFQZ_2$/, noAccount.intent({ amountIn: FIRM }))).last.reason)
          .toMatch(/account/i);
        const noRoom = await newTrader(fixture, [[SOL, 5_000_000_000n]]);
        await noRoom.refused(
          /^ORDER_RFQZ_3$/, noRoom.intent({ inputMint: SOL, outputMint: USDC, amountIn: 4_999_000_000n as Amount }),
        );

        const ask = (owner: string, excludeRouters: string): ReturnType<typeof fixture.get> =>
          fixture.get(ORDER, {
            inputMint: USDC, outputMint: SOL, amount: FIRM.toString(), taker: owner, excludeRouters,
          });
        const byMaker = await ask(noAccount.address, MAKER_ONLY);
        const byPools = await ask((await newTrader(fixture, [[USDC, FIRM], [SOL, 1_000_000n]])).address, POOLS_ONLY);
        expect([byMaker.body.errorCode, byPools.body.errorCode ?? 0]).toEqual([2, 0]);
      },
    },
    {
      says: 'an empty transaction is a refusal even without code or reason; a transaction with a code is not signed',
      async play(fixture) {
        const trader = await newTrader(fixture);
        await fixture.fault({ path: ORDER, fault: { kind: 'patch', set: { '/transaction': '' } }, times: 1 });
        expect((await trader.refused(/^ORDER_\w+_UNKNOWN$/)).last.reason).toMatch(/no reason/);
        await fixture.fault({ path: ORDER, fault: { kind: 'patch', set: { '/errorCode': 2 } }, times: 1 });
        await trader.refused(/^SERVICE_MALFORMED$/);
        await fixture.fault({ path: ORDER, fault: { kind: 'patch', set: { '/transaction': null } }, times: 1 });
        await trader.refused(/^ORDER_\w+_UNKNOWN$/);
      },
    },
  ],
};
