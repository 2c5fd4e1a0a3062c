import { expect } from 'vitest';
import type { Amount, Bps } from '../../src/core/amount.ts';
import { amount } from '../../src/core/amount.ts';
import type { Trap } from './trap.ts';
import { newTrader } from './trader.ts';
import { EXECUTE, ORDER, SOL, USDC } from './trap-fixture.ts';

const BUY = { inputMint: USDC, outputMint: SOL, amount: '25000000' } as const;
/** Less than a hundredth of a SOL: too little to be left alone with the gas. */
const LITTLE_SOL = 5_000_000n;

export const gasless: Trap = {
  number: 4,
  title: 'another account pays the gas, and takes it out of the swap',
  plays: [
    {
      says: 'a taker with little SOL gets less output and a higher fee; the fee payer is not the taker',
      profiles: ['reference', 'live'],
      async play(fixture) {
        const poor = await newTrader(fixture, [[USDC, 100_000_000n], [SOL, LITTLE_SOL]]);
        const rich = await newTrader(fixture);
        const [own, lent] = [
          await fixture.get(ORDER, { ...BUY, taker: rich.address }),
          await fixture.get(ORDER, { ...BUY, taker: poor.address }),
        ];
        expect([own.body.signatureFeePayer, own.body.gasless]).toEqual([rich.address, false]);
        expect(lent.body.signatureFeePayer).not.toBe(poor.address);
        expect(lent.body.feeBps).toBeGreaterThan(lent.body.platformFee.feeBps);
        expect(lent.body.feeBps).toBeGreaterThan(own.body.feeBps);
        expect(BigInt(lent.body.outAmount)).toBeLessThan(BigInt(own.body.outAmount));
      },
    },
    {
      says: 'the bytes decide, not the flag: no fee is booked, and a lost answer is found by the wallet\'s signature',
      async play(fixture) {
        const trader = await newTrader(fixture, [[USDC, 100_000_000n], [SOL, LITTLE_SOL]]);
        await fixture.fault({ path: ORDER, fault: { kind: 'patch', set: { '/gasless': false } }, times: 1 });
        const first = await trader.carryOut(trader.intent({ amountIn: 25_000_000n as Amount }));
        const signed = first.outcomes.find(({ state }) => state === 'signed')!;
        expect(signed.feePayer).not.toBe(trader.address);
        expect(signed.signature).toBeUndefined();
        expect(first.last).toMatchObject({
          state: 'confirmed', signature: first.landed[0],
          fill: { amountOut: signed.quotedOut, feeLamports: 0n, rentLamports: 0n },
        });
        expect(fixture.held(trader.address, SOL)).toBe(LITTLE_SOL + signed.quotedOut!);

        const again = await newTrader(fixture, [[USDC, 100_000_000n]]);
        await fixture.fault({ path: EXECUTE, fault: { kind: 'drop_after' }, times: 1 });
        const lost = await again.carryOut(again.intent({ amountIn: 25_000_000n as Amount }));
        expect(lost.states).toContain('unknown');
        expect(lost.last).toMatchObject({ state: 'confirmed', signature: lost.landed[0] });
      },
    },
    {
      says: 'a fee payer in the bytes that the order does not name is refused',
      async play(fixture) {
        const trader = await newTrader(fixture, [[USDC, 100_000_000n]]);
        await fixture.fault({
          path: ORDER, fault: { kind: 'patch', set: { '/signatureFeePayer': trader.address, '/gasless': false } },
        });
        await trader.refused(/^SIGN_REFUSED$/, trader.intent({ amountIn: 25_000_000n as Amount }));
      },
    },
    {
      says: 'max_fee_bps includes rent that is taken from the trade: above the cap refused, within it accepted',
      profiles: ['reference', 'live'],
      async play(fixture) {
        const trader = await newTrader(fixture, [[USDC, 100_000_000n], [SOL, LITTLE_SOL]]);
        const conch = { outputMint: fixture.mint('CONCH'), amountIn: 25_000_000n as Amount };
        // The same fee shows in the dollar values: whichever of the two limits is the tighter one speaks.
        await trader.refused(/^IMPACT_EXCEEDS_MAX$/, trader.intent(conch));
        const { last } =
          await trader.refused(/^FEE_EXCEEDS_MAX$/, trader.intent({ ...conch, maxPriceImpactBps: 400 as Bps }));
        expect(Number(/^(\d+) bps/.exec(last.reason!)![1])).toBeGreaterThan(100);
        const allowed =
          await trader.carryOut(trader.intent({ ...conch, maxFeeBps: 300 as Bps, maxPriceImpactBps: 400 as Bps }));
        expect(allowed.last).toMatchObject({ state: 'confirmed', fill: { feeLamports: 0n, rentLamports: 0n } });
        expect(fixture.held(trader.address, SOL)).toBe(LITTLE_SOL);
      },
    },
    {
      says: 'no gas is lent below ten dollars, or with a referrer or a payer',
      async play(fixture) {
        const small = await newTrader(fixture, [[USDC, 9_500_000n]]);
        await small.refused(/^ORDER_\w+_3$/, small.intent({ amountIn: 9_500_000n as Amount }));
        const poor = await newTrader(fixture, [[USDC, 100_000_000n], [SOL, 1_000_000n]]);
        const friend = await newTrader(fixture, [[SOL, 1_000_000_000n], [USDC, 1n]]);
        const request = {
          inputMint: USDC, outputMint: SOL, amount: amount(25_000_000n), taker: poor.address, excludeRouters: ['rfqz'],
        };
        const referred =
          await fixture.service.swap.order({ ...request, referralAccount: friend.address, referralFee: 60 });
        expect([referred.transaction, referred.buildError?.code]).toEqual([undefined, 2]);
        const paid = await fixture.service.swap.order({ ...request, payer: friend.address });
        expect([paid.signatureFeePayer, paid.feeBps]).toEqual([friend.address, 2]);
      },
    },
    {
      says:
        'little SOL, a maker and a referrer together: the maker says no six times of six (-2004), and nothing moves',
      profiles: ['live'],
      async play(fixture) {
        const poor = await newTrader(fixture, [[USDC, 900_000_000n], [SOL, 1_000_000n]]);
        const friend = await newTrader(fixture, [[SOL, 1_000_000_000n], [fixture.mint('PEARL'), 1n]]);
        for (let round = 0; round < 6; round++) {
          const order = await fixture.service.swap.order({
            inputMint: USDC, outputMint: fixture.mint('PEARL'), amount: amount(400_000_000n), taker: poor.address,
            referralAccount: friend.address, referralFee: 60, excludeRouters: ['iris', 'routerA', 'routerB'],
          });
          const { transaction } = await poor.signUnread(order.transaction!);
          expect(await fixture.service.swap.execute({ signedTransaction: transaction, requestId: order.requestId! }))
            .toMatchObject({ status: 'failed', code: -2_004 });
        }
        expect([fixture.held(poor.address, USDC), fixture.held(poor.address, fixture.mint('PEARL'))])
          .toEqual([900_000_000n, 0n]);
      },
    },
  ],
};
