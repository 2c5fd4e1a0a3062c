import { expect } from 'vitest';
import type { Amount, Bps } from '../../src/core/amount.ts';
import type { Trap } from './trap.ts';
import { newTrader } from './trader.ts';
import { ORDER, SOL, USDC } from './world.ts';

const TOKEN_ACCOUNT_RENT = 2_039_280n;
const BY_MAKER = 400_000_000n as Amount;
const BY_POOLS = 140_000_000n as Amount;

export const whoPaysRent: Trap = {
  number: 6,
  title: 'the output needs an account that does not exist yet: who pays its rent varies, also where the swap is called gasless',
  plays: [
    {
      says: 'paid by the maker, by the taker, or by who lends the gas: each is booked by what the chain took, to the lamport',
      profiles: ['reference', 'live'],
      async play(world) {
        const pearl = world.mint('PEARL');
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
          const trader = await newTrader(world, funds);
          const sol = world.held(trader.address, SOL);
          const { last } = await trader.carryOut(
            trader.intent({ outputMint: pearl, amountIn, maxFeeBps: 100 as Bps, maxPriceImpactBps: 200 as Bps }),
          );
          expect(last)
            .toMatchObject({ state: 'confirmed', router: expect.stringMatching(router), fill: { rentLamports: rent } });
          expect(sol - world.held(trader.address, SOL)).toBe(last.fill!.feeLamports + rent);
          expect(last.fill!.feeLamports > 0n).toBe(isOurs);
        }
      },
    },
    {
      says: 'SOL sold to a maker passes through an account whose rent the taker lends and gets back: nothing is booked for it',
      async play(world) {
        const trader = await newTrader(world, [[SOL, 3_000_000_000n]]);
        const sol = world.held(trader.address, SOL);
        const { last } = await trader.carryOut(
          trader.intent({ inputMint: SOL, outputMint: USDC, amountIn: 2_000_000_000n as Amount }),
        );
        expect(last).toMatchObject({
          state: 'confirmed', router: 'rfqz', fill: { amountIn: 2_000_000_000n, feeLamports: 0n, rentLamports: 0n },
        });
        expect(sol - world.held(trader.address, SOL)).toBe(2_000_000_000n);
      },
    },
    {
      says: 'what the answer says of rent, and of who pays it, changes nothing in the books',
      async play(world) {
        const trader = await newTrader(world, [[USDC, BY_MAKER], [SOL, 1_000_000_000n]]);
        await world.fault({ path: ORDER, fault: {
          kind: 'patch', set: { '/rentFeePayer': trader.address, '/rentFeeLamports': 90_000_000, '/gasless': false },
        }, times: 1 });
        const { last } = await trader.carryOut(trader.intent({ outputMint: world.mint('PEARL'), amountIn: BY_MAKER }));
        expect(last).toMatchObject({ state: 'confirmed', fill: { feeLamports: 0n, rentLamports: 0n } });
        expect(world.held(trader.address, SOL)).toBe(1_000_000_000n);
      },
    },
  ],
};
