import { Connection, VersionedTransaction } from '@solana/web3.js';
import { expect } from 'vitest';
import type { Amount } from '../../src/core/amount.ts';
import { amount } from '../../src/core/amount.ts';
import type { ExecutorPorts } from '../../src/execution/ports.ts';
import type { Trap } from './trap.ts';
import { bytesPosted, newTrader } from './trader.ts';
import { A_LIFE_AND_MORE, EXECUTE, ORDER, SLOT_MS, SOL, USDC } from './world.ts';

const FIRM = 900_000_000n as Amount;
/** A maker's quote is good for 55 s of the sandbox's time. */
const PAST_THE_QUOTE = Math.ceil(56_000 / SLOT_MS);

export const maker: Trap = {
  number: 5,
  title: 'a maker fills: he signs first and last, his price runs out within a minute, and he may still say no',
  plays: [
    {
      says: 'the transaction wants two signatures, the maker’s first: only our own place is written, and its id is known once it has landed',
      profiles: ['reference', 'live'],
      async play(world) {
        const trader = await newTrader(world);
        const journey = await trader.carryOut(trader.intent({ amountIn: FIRM }));
        const { message, signatures } =
          VersionedTransaction.deserialize(Buffer.from(bytesPosted(journey)[0]!, 'base64'));
        expect(message.header.numRequiredSignatures).toBe(2);
        expect(message.staticAccountKeys[1]!.toBase58()).toBe(trader.address);
        expect(signatures[0]!.every((byte) => byte === 0)).toBe(true);
        expect(signatures[1]!.some((byte) => byte !== 0)).toBe(true);
        const signed = journey.outcomes.find(({ state }) => state === 'signed')!;
        expect([signed.router, signed.signature]).toEqual(['rfqz', undefined]);
        expect(journey.last).toMatchObject({
          state: 'confirmed', signature: journey.landed[0], fill: { amountOut: signed.quotedOut, feeLamports: 0n },
        });
      },
    },
    {
      says: 'a lost answer is found by our own signature among the wallet’s transactions, and not filled twice',
      async play(world) {
        const trader = await newTrader(world);
        await world.fault({ path: EXECUTE, fault: { kind: 'drop_after' }, times: 1 });
        const journey = await trader.carryOut(trader.intent({ amountIn: FIRM }));
        expect(journey.states).toContain('unknown');
        expect(journey.last).toMatchObject({ state: 'confirmed', signature: journey.landed[0] });
        expect([journey.requoted, bytesPosted(journey).length]).toEqual([0, 1]);
      },
    },
    {
      says: 'a quote that has run out on arrival is not signed',
      async play(world) {
        const trader = await newTrader(world);
        await world.fault({ path: ORDER, fault: { kind: 'patch', set: { '/expireAt': '1700000000' } } });
        await trader.refused(/^QUOTE_EXPIRED$/, trader.intent({ amountIn: FIRM }));
      },
    },
    {
      says: 'one that runs out on the way to /execute (-2003) ends as expired, by the chain’s proof; it is neither signed nor quoted again',
      async play(world) {
        const trader = await newTrader(world);
        let slots = PAST_THE_QUOTE;
        const service: ExecutorPorts['service'] = {
          ...trader.parts.service,
          execute: async (request) => {
            await world.passSlots(slots);
            slots = 1;
            return trader.parts.service.execute(request);
          },
        };
        const journey = await trader.carryOut(trader.intent({ amountIn: FIRM }), { parts: { service } });
        expect(journey.outcomes.find(({ state }) => state === 'submitted')).toMatchObject({ code: '-2003' });
        expect(journey.last.state).toBe('expired');
        expect([journey.requoted, journey.signatures]).toEqual([0, 1]);
        expect(world.held(trader.address, USDC)).toBe(2_000_000_000n);
      },
    },
    {
      says: 'a maker who looks once more and says no (-2004): the bytes are followed to their end, nothing moves, nothing is signed again',
      profiles: ['reference', 'live'],
      async play(world) {
        const trader = await newTrader(world);
        const service: ExecutorPorts['service'] = {
          ...trader.parts.service,
          execute: async (request) => {
            // Against the maker: what he is to pay is worth more now.
            await world.scalePrice(SOL, 1.1);
            return trader.parts.service.execute(request);
          },
        };
        const journey = await trader.carryOut(trader.intent({ amountIn: FIRM }), {
          parts: { service },
          onOutcome: ({ state }) => { if (state === 'submitted') void world.passSlots(A_LIFE_AND_MORE); },
        });
        expect(journey.outcomes.find(({ state }) => state === 'submitted')).toMatchObject({ code: '-2004' });
        expect(journey.last.state).toBe('expired');
        expect([journey.requoted, journey.signatures]).toEqual([0, 1]);
        expect([world.held(trader.address, USDC), world.held(trader.address, SOL)])
          .toEqual([2_000_000_000n, 1_000_000_000n]);
      },
    },
    {
      says:
        'a trial run at a node refuses what the maker has not signed yet: Gannet does not try one, and the swap lands',
      async play(world) {
        const trader = await newTrader(world);
        const order = await world.service.swap.order({
          inputMint: USDC, outputMint: SOL, amount: amount(FIRM), taker: trader.address,
          excludeRouters: ['iris', 'routerA', 'routerB'],
        });
        const { transaction } = await trader.signUnread(order.transaction!);
        const node = new Connection(world.rpcUrl, { commitment: 'confirmed', disableRetryOnRateLimit: true });
        await expect(node.simulateTransaction(VersionedTransaction.deserialize(transaction), { sigVerify: true }))
          .rejects.toThrow(/signature/i);
        const chain: ExecutorPorts['chain'] = {
          ...trader.parts.chain,
          compose: () => { throw new Error('an order is not composed, nor tried'); },
          send: () => { throw new Error('what a maker signs goes through the service alone'); },
        };
        expect((await trader.carryOut(trader.intent({ amountIn: FIRM }), { parts: { chain } })).last.state)
          .toBe('confirmed');
      },
    },
    {
      says: 'a second signer whom the order does not name is refused',
      async play(world) {
        const trader = await newTrader(world);
        await world.fault({ path: ORDER, fault: { kind: 'patch', set: {}, remove: ['/maker', '/signatureFeePayer'] } });
        await trader.refused(/^SIGN_REFUSED$/, trader.intent({ amountIn: FIRM }));
      },
    },
  ],
};
