import { expect } from 'vitest';
import { amount } from '../../src/core/amount.ts';
import { apply, approve, buy, outcome, propose, stateWith } from '../trading/states.ts';
import { isHealth, watch } from './feeds.ts';
import type { Trap } from './trap.ts';
import { newTrader } from './trader.ts';
import { ORDER, SOL, USDC } from './trap-fixture.ts';

const NO_QUOTES = {
  kind: 'status', status: 400,
  body: { requestId: '019a0000-0000-7000-8000-000000000000', error: 'Failed to get quotes' },
} as const;
const QUERY = { inputMint: USDC, outputMint: SOL, amount: '900000000' };

export const noQuotes: Trap = {
  number: 14,
  title: '"Failed to get quotes" may be over in a second, or be meant',
  plays: [
    {
      says: 'a feed says that it is degraded, asks again at its own pace, and is back with the next quote',
      async play(fixture) {
        await fixture.fault({ path: ORDER, fault: NO_QUOTES, times: 2 });
        const from = fixture.wire.sent.length;
        const watched = watch(fixture, fixture.service, [
          { kind: 'quote', inputMint: USDC, outputMint: SOL, amount: amount(20_000_000n), everyMs: 5_000 },
        ]);
        await watched.until(({ kind }) => kind === 'quote');
        expect(watched.events.map((event) => (event.kind === 'feed-health' ? event.status : event.kind)).slice(0, 3))
          .toEqual(['degraded', 'healthy', 'quote']);
        expect(watched.events.find((event) => isHealth(event, 'degraded', 'SERVICE_STATUS')))
          .toMatchObject({ message: expect.stringContaining('Failed to get quotes') });
        expect(watched.feed.stats()[0]!.failures).toBe(2);
        expect(fixture.wire.to(ORDER, from).length).toBeGreaterThanOrEqual(3);
      },
    },
    {
      says: 'one that stays is asked again ever less often, and is called down',
      async play(fixture) {
        await fixture.fault({ path: ORDER, fault: NO_QUOTES });
        const watched = watch(fixture, fixture.service, [
          { kind: 'quote', inputMint: USDC, outputMint: SOL, amount: amount(20_000_000n), everyMs: 1_000 },
        ]);
        await watched.until((event) => isHealth(event, 'down'));
        const { failures, polls, answers } = watched.feed.stats()[0]!;
        expect([failures, polls, answers]).toEqual([3, 3, 0]);
      },
    },
    {
      says: 'a swap asks three times and no more; given up, it has signed nothing, and its purchase may be made later',
      profiles: ['reference', 'live'],
      async play(fixture) {
        const trader = await newTrader(fixture);
        await fixture.fault({ path: ORDER, fault: NO_QUOTES, times: 2 });
        const retried = await trader.carryOut();
        expect([retried.last.state, retried.orders.length]).toEqual(['confirmed', 3]);
        await fixture.fault({ path: ORDER, fault: NO_QUOTES });
        const { last, orders } = await trader.refused(/^SERVICE_STATUS$/);
        expect(last.reason).toContain('Failed to get quotes');
        expect(orders).toHaveLength(3);

        const state = stateWith();
        const intent = approve(state, buy({ key: 'slot-1' }));
        for (const reached of ['building', 'abandoned'] as const)
          apply(state, outcome(intent, reached, { code: last.code, reason: last.reason }));
        expect(propose(state, buy({ key: 'slot-1' })).decision.verdict).toBe('approved');
      },
    },
    {
      says: 'without a router, or with a maker and another payer, the message is permanent: no retry',
      profiles: ['reference', 'live'],
      async play(fixture) {
        const trader = await newTrader(fixture);
        for (const more of [{ excludeRouters: 'iris,rfqz,routerA,routerB' }, {
          excludeRouters: 'iris,routerA,routerB', taker: trader.address,
          payer: fixture.sandbox.addresses.wallet.address,
        }]) {
          const { status, body } = await fixture.get(ORDER, { ...QUERY, ...more });
          expect([status, body.error, typeof body.requestId]).toEqual([400, 'Failed to get quotes', 'string']);
        }
        const from = fixture.wire.sent.length;
        await expect(fixture.service.swap.order({
          inputMint: USDC, outputMint: SOL, amount: amount(20_000_000n),
          excludeRouters: ['iris', 'rfqz', 'routerA', 'routerB'],
        }))
          .rejects.toMatchObject({ code: 'SERVICE_BAD_REQUEST', details: { parameter: 'excludeRouters' } });
        expect(fixture.wire.to(ORDER, from)).toHaveLength(0);
      },
    },
  ],
};
