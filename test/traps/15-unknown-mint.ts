import { expect } from 'vitest';
import { amount } from '../../src/core/amount.ts';
import type { Mint } from '../../src/market/token.ts';
import { isHealth, watch } from './feeds.ts';
import type { Trap } from './trap.ts';
import { newTrader } from './trader.ts';
import { ORDER, SOL, USDC } from './world.ts';

/** An address, and no mint. */
const NOBODY = 'Gu11Ke8cLnWj8gkvT1PzL1nGdCGZ1E2uGTxUykcRTZ9r' as Mint;
const NO_ADDRESS = 'PEARL' as Mint;

export const unknownMint: Trap = {
  number: 15,
  title: 'an order for a mint that nobody trades is a 500 instead of a 400',
  plays: [
    {
      says: 'the described service says 400, the live one 500 and no more; what is no address at all never leaves our client',
      profiles: ['reference', 'live'],
      async play(world) {
        for (const mint of [NOBODY, NO_ADDRESS]) {
          const answer = await world.get(ORDER, { inputMint: mint, outputMint: USDC, amount: '1000' });
          expect(answer.status).toBe(world.profile === 'live' ? 500 : 400);
          if (world.profile === 'live') expect(answer.body).toEqual({ error: 'Something unexpected occurred' });
        }
        const from = world.wire.sent.length;
        await expect(world.service.swap.order({ inputMint: NO_ADDRESS, outputMint: USDC, amount: amount(1_000n) }))
          .rejects.toMatchObject({ code: 'SERVICE_BAD_REQUEST' });
        expect(world.wire.sent).toHaveLength(from);
        await expect(world.service.swap.order({ inputMint: NOBODY, outputMint: USDC, amount: amount(1_000n) }))
          .rejects.toMatchObject({ code: 'SERVICE_STATUS', details: { status: world.profile === 'live' ? 500 : 400 } });
        expect(world.wire.to(ORDER, from)).toHaveLength(1);
      },
    },
    {
      says: 'a swap for it is given up after three questions, unsigned, by either route',
      profiles: ['reference', 'live'],
      async play(world) {
        const trader = await newTrader(world);
        const { orders } = await trader.refused(/^SERVICE_STATUS$/, trader.intent({ outputMint: NOBODY }));
        expect(orders).toHaveLength(3);
        await trader.refused(/^SERVICE_STATUS$/, trader.intent({ outputMint: NOBODY, route: 'build' }));
      },
    },
    {
      says: 'its feed goes down alone; neighbours, in the same request for statistics too, stay well',
      profiles: ['reference', 'live'],
      async play(world) {
        const watched = watch(world, world.connect(), [
          { kind: 'quote', inputMint: NOBODY, outputMint: USDC, amount: amount(1_000n), everyMs: 1_000 },
          { kind: 'quote', inputMint: SOL, outputMint: USDC, amount: amount(1_000_000n), everyMs: 1_000 },
          { kind: 'token-stats', mint: NOBODY, everyMs: 1_000 }, { kind: 'token-stats', mint: SOL, everyMs: 1_000 },
        ]);
        await watched.until((event) => isHealth(event, 'down', 'SERVICE_STATUS'));
        await watched.until((event) => event.kind === 'feed-health' && event.code === 'TOKEN_UNKNOWN');
        await watched.until((event) => event.kind === 'quote');
        await watched.until((event) => event.kind === 'token-stats' && event.mint === SOL);
        const ill = new Set(watched.events.flatMap((event) => (event.kind === 'feed-health' ? [event.feed] : [])));
        expect([...ill].every((feed) => feed.includes(NOBODY))).toBe(true);
      },
    },
  ],
};
