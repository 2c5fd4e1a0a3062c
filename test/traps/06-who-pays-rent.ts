import { expect } from 'vitest';
import type { Amount, Bps } from '../../src/core/amount.ts';
import type { Trap } from './trap.ts';
import { newTrader } from './trader.ts';
import { ORDER, SOL, USDC } from './trap-fixture.ts';

const TOKEN_ACCOUNT_RENT = 2_039_280n;
const BY_MAKER = 400_000_000n as Amount;
const BY_POOLS = 140_000_000n as Amount;

export const whoPaysRent: Trap = {
  number: 6,
  title: 'the output needs a new account: its rent payer varies, also in a gasless swap',
  plays: [
    {
      says: 'rent paid by maker, taker or gas lender is booked exactly as the chain took it',
      profiles: ['reference', 'live'],
      async play(fixture) {
        const pearl = fixture.mint('PEARL');
        const kinds = [
          {
            funds: [[USDC, BY_MAKER], [SOL, 1_000_000_000n]], amountIn: BY_MAKER, router: /^rfqz$/, rent: 0n,
            isOurs: false,
          },
          {
            funds: [[USDC, BY_POOLS], [SOL, 1_000_000_000n]], amountIn: BY_POOLS, router: /^(?!rfqz)/,
            rent: TOKEN_ACCOUNT_RENT, isOurs: true,
          },
          {
            funds: [[USDC, BY_POOLS], [SOL, 3_000_000n]], amountIn: BY_POOLS, router: /^(?!rfqz)/, rent: 0n,
            isOurs: false,
          },
        ] as const;
        for (const { funds, amountIn, router, rent, isOurs } of kinds) {
          const trader = await newTrader(fixture, funds);
          const sol = fixture.held(trader.address, SOL);
          const { last } = await trader.carryOut(
            trader.intent({ outputMint: pearl, amountIn, maxFeeBps: 100 as Bps, maxPriceImpactBps: 200 as Bps }),
          );
          expect(last)
            .toMatchObject({ state: 'confirmed', router: expect.stringMatching(router), fill: { rentLamports: rent } });
          expect(sol - fixture.held(trader.address, SOL)).toBe(last.fill!.feeLamports + rent);
          expect(last.fill!.feeLamports > 0n).toBe(isOurs);
        }
      },
    },
    {
      says: 'SOL sold to a maker passes through an account whose rent comes back to the taker: nothing is booked',
      async play(fixture) {
        const trader = await newTrader(fixture, [[SOL, 3_000_000_000n]]);
        const sol = fixture.held(trader.address, SOL);
        const { last } = await trader.carryOut(
          trader.intent({ inputMint: SOL, outputMint: USDC, amountIn: 2_000_000_000n as Amount }),
        );
        expect(last).toMatchObject({
          state: 'confirmed', router: 'rfqz', fill: { amountIn: 2_000_000_000n, feeLamports: 0n, rentLamports: 0n },
        });
        expect(sol - fixture.held(trader.address, SOL)).toBe(2_000_000_000n);
      },
    },
    {
      says: 'what the answer says of rent, and of who pays it, changes nothing in the books',
      async play(fixture) {
        const trader = await newTrader(fixture, [[USDC, BY_MAKER], [SOL, 1_000_000_000n]]);
        await fixture.fault({ path: ORDER, fault: {
          kind: 'patch', set: { '/rentFeePayer': trader.address, '/rentFeeLamports': 90_000_000, '/gasless': false },
        }, times: 1 });
        const { last } =
          await trader.carryOut(trader.intent({ outputMint: fixture.mint('PEARL'), amountIn: BY_MAKER }));
        expect(last).toMatchObject({ state: 'confirmed', fill: { feeLamports: 0n, rentLamports: 0n } });
        expect(fixture.held(trader.address, SOL)).toBe(1_000_000_000n);
      },
    },
  ],
};
