import { Connection, VersionedTransaction } from '@solana/web3.js';
import { expect } from 'vitest';
import type { Amount } from '../../src/core/amount.ts';
import { amount } from '../../src/core/amount.ts';
import type { ExecutorPorts } from '../../src/execution/ports.ts';
import type { Trap } from './trap.ts';
import { bytesPosted, newTrader } from './trader.ts';
import { PAST_EXPIRY_BLOCKS, EXECUTE, ORDER, SLOT_MS, SOL, USDC } from './trap-fixture.ts';

const FIRM = 900_000_000n as Amount;
/** A maker's quote is good for 55 s of the sandbox's time. */
const PAST_THE_QUOTE = Math.ceil(56_000 / SLOT_MS);

export const maker: Trap = {
  number: 5,
  title: 'a maker fills: it signs first and last, its price expires within a minute, and it may still reject',
  plays: [
    {
      says: 'of two signatures only the taker’s is written; the transaction id is the maker’s, known after landing',
      profiles: ['reference', 'live'],
      async play(fixture) {
        const trader = await newTrader(fixture);
        const trace = await trader.carryOut(trader.intent({ amountIn: FIRM }));
        const { message, signatures } =
          VersionedTransaction.deserialize(Buffer.from(bytesPosted(trace)[0]!, 'base64'));
        expect(message.header.numRequiredSignatures).toBe(2);
        expect(message.staticAccountKeys[1]!.toBase58()).toBe(trader.address);
        expect(signatures[0]!.every((byte) => byte === 0)).toBe(true);
        expect(signatures[1]!.some((byte) => byte !== 0)).toBe(true);
        const signed = trace.outcomes.find(({ state }) => state === 'signed')!;
        expect([signed.router, signed.signature]).toEqual(['rfqz', undefined]);
        expect(trace.last).toMatchObject({
          state: 'confirmed', signature: trace.landed[0], fill: { amountOut: signed.quotedOut, feeLamports: 0n },
        });
      },
    },
    {
      says: 'a lost answer is found by our own signature among the wallet’s transactions, and not filled twice',
      async play(fixture) {
        const trader = await newTrader(fixture);
        await fixture.fault({ path: EXECUTE, fault: { kind: 'drop_after' }, times: 1 });
        const trace = await trader.carryOut(trader.intent({ amountIn: FIRM }));
        expect(trace.states).toContain('unknown');
        expect(trace.last).toMatchObject({ state: 'confirmed', signature: trace.landed[0] });
        expect([trace.requoted, bytesPosted(trace).length]).toEqual([0, 1]);
      },
    },
    {
      says: 'a quote that has run out on arrival is not signed',
      async play(fixture) {
        const trader = await newTrader(fixture);
        await fixture.fault({ path: ORDER, fault: { kind: 'patch', set: { '/expireAt': '1700000000' } } });
        await trader.refused(/^QUOTE_EXPIRED$/, trader.intent({ amountIn: FIRM }));
      },
    },
    {
      says: 'a quote that expires on the way to /execute (-2003) ends as expired by the chain’s proof',
      async play(fixture) {
        const trader = await newTrader(fixture);
        let slots = PAST_THE_QUOTE;
        const service: ExecutorPorts['service'] = {
          ...trader.parts.service,
          execute: async (request) => {
            await fixture.passSlots(slots);
            slots = 1;
            return trader.parts.service.execute(request);
          },
        };
        const trace = await trader.carryOut(trader.intent({ amountIn: FIRM }), { parts: { service } });
        expect(trace.outcomes.find(({ state }) => state === 'submitted')).toMatchObject({ code: '-2003' });
        expect(trace.last.state).toBe('expired');
        expect([trace.requoted, trace.signatures]).toEqual([0, 1]);
        expect(fixture.held(trader.address, USDC)).toBe(2_000_000_000n);
      },
    },
    {
      says: 'a maker rejects after a last check (-2004): the bytes are followed to their end, and nothing moves',
      profiles: ['reference', 'live'],
      async play(fixture) {
        const trader = await newTrader(fixture);
        const service: ExecutorPorts['service'] = {
          ...trader.parts.service,
          execute: async (request) => {
            // A move against the maker: its output is worth more now.
            await fixture.scalePrice(SOL, 1.1);
            return trader.parts.service.execute(request);
          },
        };
        const trace = await trader.carryOut(trader.intent({ amountIn: FIRM }), {
          parts: { service },
          onOutcome: ({ state }) => { if (state === 'submitted') void fixture.passSlots(PAST_EXPIRY_BLOCKS); },
        });
        expect(trace.outcomes.find(({ state }) => state === 'submitted')).toMatchObject({ code: '-2004' });
        expect(trace.last.state).toBe('expired');
        expect([trace.requoted, trace.signatures]).toEqual([0, 1]);
        expect([fixture.held(trader.address, USDC), fixture.held(trader.address, SOL)])
          .toEqual([2_000_000_000n, 1_000_000_000n]);
      },
    },
    {
      says:
        'a simulation would fail without the maker’s signature: Gannet runs none, and the swap lands',
      async play(fixture) {
        const trader = await newTrader(fixture);
        const order = await fixture.service.swap.order({
          inputMint: USDC, outputMint: SOL, amount: amount(FIRM), taker: trader.address,
          excludeRouters: ['iris', 'routerA', 'routerB'],
        });
        const { transaction } = await trader.signUnread(order.transaction!);
        const node = new Connection(fixture.rpcUrl, { commitment: 'confirmed', disableRetryOnRateLimit: true });
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
      says: 'a second signer that the order does not name is refused',
      async play(fixture) {
        const trader = await newTrader(fixture);
        await fixture.fault({
          path: ORDER, fault: { kind: 'patch', set: {}, remove: ['/maker', '/signatureFeePayer'] },
        });
        await trader.refused(/^SIGN_REFUSED$/, trader.intent({ amountIn: FIRM }));
      },
    },
  ],
};
