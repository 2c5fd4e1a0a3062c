import { expect } from 'vitest';
import type { Amount } from '../../src/core/amount.ts';
import type { ExecutorPorts } from '../../src/execution/ports.ts';
import { wait } from '../../src/execution/monotonic-time.ts';
import { amount } from '../../src/core/amount.ts';
import type { Trap } from './trap.ts';
import { newTrader } from './trader.ts';
import { ORDER, SOL, USDC } from './trap-fixture.ts';

/** How far a price moves in these plays: well past every slippage that is allowed. */
const MOVE = 1.1;

export const staleQuote: Trap = {
  number: 1,
  title: 'a quote grows old while the market moves on, and the swap fails with 6001',
  plays: [
    {
      says: 'a price that moves between quote and block costs only the network fee; the next swap lands',
      profiles: ['reference', 'live'],
      async play(fixture) {
        const trader = await newTrader(fixture);
        let hasMoved = false;
        const service: ExecutorPorts['service'] = {
          ...trader.parts.service,
          execute: async (request) => {
            // The same bytes are posted again where the first answer is slow.
            if (!hasMoved) await fixture.scalePrice(SOL, MOVE);
            hasMoved = true;
            return trader.parts.service.execute(request);
          },
        };
        const usdc = fixture.held(trader.address, USDC);
        const sol = fixture.held(trader.address, SOL);
        const failed = await trader.carryOut(trader.intent(), { parts: { service } });
        expect(failed.last).toMatchObject({ state: 'failed', code: '6001' });
        expect(fixture.held(trader.address, USDC)).toBe(usdc);
        expect(fixture.held(trader.address, SOL)).toBe(sol - failed.last.feeLamports!);
        // Whatever amounts the service named, no fill was booked, and nothing was signed a second time.
        expect(failed.last.fill).toBeUndefined();
        expect([failed.signatures, failed.requoted]).toEqual([1, 0]);

        const again = await trader.carryOut();
        expect(again.last.state).toBe('confirmed');
        expect(again.orders.length).toBeGreaterThanOrEqual(1);
        const [stale, fresh] = [failed, again]
          .map(({ outcomes }) => outcomes.find(({ state }) => state === 'signed')!.quotedOut!);
        expect(Number(fresh) / Number(stale)).toBeCloseTo(1 / MOVE, 2);
      },
    },
    {
      says: 'on the build route, a price that has moved is detected before the signature',
      async play(fixture) {
        const trader = await newTrader(fixture);
        const service: ExecutorPorts['service'] = {
          ...trader.parts.service,
          build: async (request) => {
            const build = await trader.parts.service.build(request);
            await fixture.scalePrice(SOL, MOVE);
            return build;
          },
        };
        await trader.refused(/^(6001|PRICE_OFF_REFERENCE)$/, trader.intent({ route: 'build' }), { parts: { service } });
      },
    },
    {
      says: 'the swap gets a new quote, which must still satisfy the limit of the strategy',
      async play(fixture) {
        const trader = await newTrader(fixture);
        const seen =
          await fixture.service.swap.order({ inputMint: USDC, outputMint: SOL, amount: amount(20_000_000n) });
        const minimumOut = (seen.outAmount * 985n) / 1_000n as Amount;
        await fixture.scalePrice(SOL, 1.05);
        await trader.refused(/^LIMIT_NOT_MET$/, trader.intent({ minimumOut }));
        await fixture.scalePrice(SOL, 1 / 1.05);
        const { last, orders } = await trader.carryOut(trader.intent({ minimumOut }));
        expect(last.state).toBe('confirmed');
        expect(last.fill!.amountOut).toBeGreaterThanOrEqual(minimumOut);
        expect(orders.length).toBeGreaterThanOrEqual(1);
      },
    },
    {
      says: 'a quote that became stale before the signature is replaced, and never signed',
      async play(fixture) {
        const trader = await newTrader(fixture);
        let slow = 2;
        const chain: ExecutorPorts['chain'] = {
          ...trader.parts.chain,
          finalizedBlockHeight: async () => {
            if (slow-- > 0) await wait(fixture.clock, 2_500);
            return trader.parts.chain.finalizedBlockHeight();
          },
        };
        const { last, orders, signatures } = await trader.carryOut(trader.intent(), { parts: { chain } });
        expect(last.state).toBe('confirmed');
        expect([orders.length, signatures]).toEqual([3, 1]);

        slow = Number.POSITIVE_INFINITY;
        const given = await trader.refused(/^QUOTE_STALE$/, trader.intent(), { parts: { chain } });
        expect(given.orders).toHaveLength(3);
        expect(given.orders.every(({ path }) => path === ORDER)).toBe(true);
      },
    },
  ],
};
