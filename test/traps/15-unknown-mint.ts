import { expect } from 'vitest';
import { amount } from '../../src/core/amount.ts';
import type { Mint } from '../../src/market/token.ts';
import { isHealth, watch } from './feeds.ts';
import type { Trap } from './trap.ts';
import { newTrader } from './trader.ts';
import { ORDER, SOL, USDC } from './trap-fixture.ts';

/** An address, and no mint. */
const UNTRADED = 'Gu11Ke8cLnWj8gkvT1PzL1nGdCGZ1E2uGTxUykcRTZ9r' as Mint;
const NO_ADDRESS = 'PEARL' as Mint;

export const unknownMint: Trap = {
  number: 15,
  title: 'an order for an untraded mint is a 500 instead of a 400',
  plays: [
    {
      says: 'the reference answers 400, the live service 500; an invalid address is never sent',
      profiles: ['reference', 'live'],
      async play(fixture) {
        for (const mint of [UNTRADED, NO_ADDRESS]) {
          const answer = await fixture.get(ORDER, { inputMint: mint, outputMint: USDC, amount: '1000' });
          expect(answer.status).toBe(fixture.profile === 'live' ? 500 : 400);
          if (fixture.profile === 'live') expect(answer.body).toEqual({ error: 'Something unexpected occurred' });
        }
        const from = fixture.wire.sent.length;
        await expect(fixture.service.swap.order({ inputMint: NO_ADDRESS, outputMint: USDC, amount: amount(1_000n) }))
          .rejects.toMatchObject({ code: 'SERVICE_BAD_REQUEST' });
        expect(fixture.wire.sent).toHaveLength(from);
        await expect(fixture.service.swap.order({ inputMint: UNTRADED, outputMint: USDC, amount: amount(1_000n) }))
          .rejects.toMatchObject({
            code: 'SERVICE_STATUS', details: { status: fixture.profile === 'live' ? 500 : 400 },
          });
        expect(fixture.wire.to(ORDER, from)).toHaveLength(1);
      },
    },
    {
      says: 'a swap for it is given up after three questions, unsigned, by either route',
      profiles: ['reference', 'live'],
      async play(fixture) {
        const trader = await newTrader(fixture);
        const { orders } = await trader.refused(/^SERVICE_STATUS$/, trader.intent({ outputMint: UNTRADED }));
        expect(orders).toHaveLength(3);
        await trader.refused(/^SERVICE_STATUS$/, trader.intent({ outputMint: UNTRADED, route: 'build' }));
      },
    },
    {
      says: 'its feed goes down alone; neighbours, in the same request for statistics too, stay well',
      profiles: ['reference', 'live'],
      async play(fixture) {
        const watched = watch(fixture, fixture.connect(), [
          { kind: 'quote', inputMint: UNTRADED, outputMint: USDC, amount: amount(1_000n), everyMs: 1_000 },
          { kind: 'quote', inputMint: SOL, outputMint: USDC, amount: amount(1_000_000n), everyMs: 1_000 },
          { kind: 'token-stats', mint: UNTRADED, everyMs: 1_000 }, { kind: 'token-stats', mint: SOL, everyMs: 1_000 },
        ]);
        await watched.until((event) => isHealth(event, 'down', 'SERVICE_STATUS'));
        await watched.until((event) => event.kind === 'feed-health' && event.code === 'TOKEN_UNKNOWN');
        await watched.until((event) => event.kind === 'quote');
        await watched.until((event) => event.kind === 'token-stats' && event.mint === SOL);
        const ill = new Set(watched.events.flatMap((event) => (event.kind === 'feed-health' ? [event.feed] : [])));
        expect([...ill].every((feed) => feed.includes(UNTRADED))).toBe(true);
      },
    },
  ],
};
