import { expect } from 'vitest';
import type { Amount, Bps } from '../../src/core/amount.ts';
import { amount } from '../../src/core/amount.ts';
import { document } from '../e2e/gannet.ts';
import type { Trap } from './trap.ts';
import { newTrader } from './trader.ts';
import { ORDER, SOL, USDC } from './trap-fixture.ts';

/** The first integer that a double rounds away. */
const BEYOND = 2n ** 53n + 1n;
const U64_MAX = 2n ** 64n - 1n;

export const largeAmounts: Trap = {
  number: 11,
  title: 'amounts are integers of 64 bits: those above 2^53 are common, and a decimal point is none of them',
  plays: [
    {
      says: 'an amount that no double holds is asked for, swapped and booked to the unit',
      profiles: ['reference', 'live'],
      async play(fixture) {
        const krill = fixture.mint('KRILL');
        // So cheap that this many are worth some hundred dollars.
        await fixture.scalePrice(krill, 0.0005);
        const trader = await newTrader(fixture, [[SOL, 1_000_000_000n], [krill, 2n * BEYOND + 2n]]);
        for (const route of ['order', 'build'] as const) {
          const { last, orders } = await trader.carryOut(trader.intent({
            inputMint: krill, amountIn: BEYOND as Amount, route, maxPriceImpactBps: 3_000 as Bps, maxFeeBps: 100 as Bps,
          }));
          expect(last, last.reason).toMatchObject({ state: 'confirmed', fill: { amountIn: BEYOND } });
          expect(new Set(orders.map(({ query }) => query.get('amount')))).toEqual(new Set([BEYOND.toString()]));
        }
        expect(fixture.held(trader.address, krill)).toBe(2n);
      },
    },
    {
      says: 'an answer with such a number without quotes is read exactly',
      async play(fixture) {
        const { body } = await fixture.get(ORDER, { inputMint: USDC, outputMint: SOL, amount: '20000000' });
        const text = JSON.stringify({ ...body, outAmount: 'OUT', otherAmountThreshold: 'OUT' })
          .replaceAll('"OUT"', BEYOND.toString());
        await fixture.fault({ path: ORDER, fault: { kind: 'malformed', body: text }, times: 1 });
        const quote =
          await fixture.service.swap.order({ inputMint: USDC, outputMint: SOL, amount: amount(20_000_000n) });
        expect([quote.outAmount, quote.threshold]).toEqual([BEYOND, BEYOND]);
      },
    },
    {
      says:
        'fractions, exponents and more than 64 bits are refused on both sides, by Gannet before any request',
      profiles: ['reference', 'live'],
      async play(fixture) {
        for (const text of ['1.5', '1e6', '-1', '0', '', (U64_MAX + 1n).toString()]) {
          const answer = await fixture.get(ORDER, { inputMint: USDC, outputMint: SOL, amount: text });
          expect(answer.status, text).toBe(400);
        }
        const from = fixture.wire.sent.length;
        for (const units of [1.5, 20_000_000, 0n, -1n, U64_MAX + 1n, '20000000']) {
          await expect(fixture.service.swap.order({ inputMint: USDC, outputMint: SOL, amount: units as Amount }))
            .rejects.toMatchObject({ code: 'SERVICE_BAD_REQUEST' });
        }
        expect(fixture.wire.sent).toHaveLength(from);
      },
    },
    {
      says: 'an answer with an invalid amount is refused',
      async play(fixture) {
        for (const outAmount of ['1.5', '1e9', '-1', '0', (U64_MAX + 1n).toString(), 1.5, null]) {
          await fixture.fault({ path: ORDER, fault: { kind: 'patch', set: { '/outAmount': outAmount } }, times: 1 });
          await expect(
            fixture.service.swap.order({ inputMint: USDC, outputMint: SOL, amount: amount(20_000_000n) }),
            String(outAmount),
          ).rejects.toMatchObject({ code: 'SERVICE_MALFORMED' });
        }
      },
    },
    {
      says: 'a person writes whole tokens: more places than the token has are refused, not rounded',
      async play(fixture) {
        const tooFine = await fixture.gannet(['quote', 'SOL', 'USDC', '0.1000000001', '--json']);
        expect([tooFine.code, document(tooFine)['error']]).toMatchObject([2, { code: 'AMOUNT_INVALID' }]);
      },
    },
  ],
};
