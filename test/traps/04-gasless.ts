import { expect } from 'vitest';
import type { Amount, Bps } from '../../src/core/amount.ts';
import { amount } from '../../src/core/amount.ts';
import type { Trap } from './trap.ts';
import { newTrader } from './trader.ts';
import { EXECUTE, ORDER, SOL, USDC } from './world.ts';

const BUY = { inputMint: USDC, outputMint: SOL, amount: '25000000' } as const;
/** Less than a hundredth of a SOL: too little to be left alone with the gas. */
const LITTLE_SOL = 5_000_000n;

export const gasless: Trap = {
  number: 4,
  title: 'somebody else pays the gas, and takes it out of the swap',
  plays: [
    {
      says: 'a taker with hardly any SOL gets less for the same amount and a higher fee; who pays first is another one than the taker',
      profiles: ['reference', 'live'],
      async play(world) {
        const poor = await newTrader(world, [[USDC, 100_000_000n], [SOL, LITTLE_SOL]]);
        const rich = await newTrader(world);
        const [own, lent] = [
          await world.get(ORDER, { ...BUY, taker: rich.address }),
          await world.get(ORDER, { ...BUY, taker: poor.address }),
        ];
        expect([own.body.signatureFeePayer, own.body.gasless]).toEqual([rich.address, false]);
        expect(lent.body.signatureFeePayer).not.toBe(poor.address);
        expect(lent.body.feeBps).toBeGreaterThan(lent.body.platformFee.feeBps);
        expect(lent.body.feeBps).toBeGreaterThan(own.body.feeBps);
        expect(BigInt(lent.body.outAmount)).toBeLessThan(BigInt(own.body.outAmount));
      },
    },
    {
      says: 'what the bytes say decides, not the flag: no fee is booked, no transaction id is believed, and a lost answer is found by our own signature',
      async play(world) {
        const trader = await newTrader(world, [[USDC, 100_000_000n], [SOL, LITTLE_SOL]]);
        await world.fault({ path: ORDER, fault: { kind: 'patch', set: { '/gasless': false } }, times: 1 });
        const first = await trader.carryOut(trader.intent({ amountIn: 25_000_000n as Amount }));
        const signed = first.outcomes.find(({ state }) => state === 'signed')!;
        expect(signed.feePayer).not.toBe(trader.address);
        expect(signed.signature).toBeUndefined();
        expect(first.last).toMatchObject({
          state: 'confirmed', signature: first.landed[0],
          fill: { amountOut: signed.quotedOut, feeLamports: 0n, rentLamports: 0n },
        });
        expect(world.held(trader.address, SOL)).toBe(LITTLE_SOL + signed.quotedOut!);

        const again = await newTrader(world, [[USDC, 100_000_000n]]);
        await world.fault({ path: EXECUTE, fault: { kind: 'drop_after' }, times: 1 });
        const lost = await again.carryOut(again.intent({ amountIn: 25_000_000n as Amount }));
        expect(lost.states).toContain('unknown');
        expect(lost.last).toMatchObject({ state: 'confirmed', signature: lost.landed[0] });
      },
    },
    {
      says: 'a payer in the bytes whom the order does not name is refused',
      async play(world) {
        const trader = await newTrader(world, [[USDC, 100_000_000n]]);
        await world.fault({
          path: ORDER, fault: { kind: 'patch', set: { '/signatureFeePayer': trader.address, '/gasless': false } },
        });
        await trader.refused(/^SIGN_REFUSED$/, trader.intent({ amountIn: 25_000_000n as Amount }));
      },
    },
    {
      says: 'max_fee_bps holds for all that is taken: an account whose rent eats a percent of the trade is refused, and passes where that is allowed',
      profiles: ['reference', 'live'],
      async play(world) {
        const trader = await newTrader(world, [[USDC, 100_000_000n], [SOL, LITTLE_SOL]]);
        const conch = { outputMint: world.mint('CONCH'), amountIn: 25_000_000n as Amount };
        // The same fee shows in the dollar values: whichever of the two limits is the tighter one speaks.
        await trader.refused(/^IMPACT_EXCEEDS_MAX$/, trader.intent(conch));
        const { last } =
          await trader.refused(/^FEE_EXCEEDS_MAX$/, trader.intent({ ...conch, maxPriceImpactBps: 400 as Bps }));
        expect(Number(/^(\d+) bps/.exec(last.reason!)![1])).toBeGreaterThan(100);
        const allowed =
          await trader.carryOut(trader.intent({ ...conch, maxFeeBps: 300 as Bps, maxPriceImpactBps: 400 as Bps }));
        expect(allowed.last).toMatchObject({ state: 'confirmed', fill: { feeLamports: 0n, rentLamports: 0n } });
        expect(world.held(trader.address, SOL)).toBe(LITTLE_SOL);
      },
    },
    {
      says: 'nobody lends below ten dollars, nor where a referrer or a payer takes part',
      async play(world) {
        const small = await newTrader(world, [[USDC, 9_500_000n]]);
        await small.refused(/^ORDER_\w+_3$/, small.intent({ amountIn: 9_500_000n as Amount }));
        const poor = await newTrader(world, [[USDC, 100_000_000n], [SOL, 1_000_000n]]);
        const friend = await newTrader(world, [[SOL, 1_000_000_000n], [USDC, 1n]]);
        const request = {
          inputMint: USDC, outputMint: SOL, amount: amount(25_000_000n), taker: poor.address, excludeRouters: ['rfqz'],
        };
        const referred =
          await world.service.swap.order({ ...request, referralAccount: friend.address, referralFee: 60 });
        expect([referred.transaction, referred.buildError?.code]).toEqual([undefined, 2]);
        const paid = await world.service.swap.order({ ...request, payer: friend.address });
        expect([paid.signatureFeePayer, paid.feeBps]).toEqual([friend.address, 2]);
      },
    },
    {
      says:
        'little SOL, a maker and a referrer together: the maker says no six times of six (-2004), and nothing moves',
      profiles: ['live'],
      async play(world) {
        const poor = await newTrader(world, [[USDC, 900_000_000n], [SOL, 1_000_000n]]);
        const friend = await newTrader(world, [[SOL, 1_000_000_000n], [world.mint('PEARL'), 1n]]);
        for (let round = 0; round < 6; round++) {
          const order = await world.service.swap.order({
            inputMint: USDC, outputMint: world.mint('PEARL'), amount: amount(400_000_000n), taker: poor.address,
            referralAccount: friend.address, referralFee: 60, excludeRouters: ['iris', 'routerA', 'routerB'],
          });
          const { transaction } = await poor.signUnread(order.transaction!);
          expect(await world.service.swap.execute({ signedTransaction: transaction, requestId: order.requestId! }))
            .toMatchObject({ status: 'failed', code: -2_004 });
        }
        expect([world.held(poor.address, USDC), world.held(poor.address, world.mint('PEARL'))])
          .toEqual([900_000_000n, 0n]);
      },
    },
  ],
};
