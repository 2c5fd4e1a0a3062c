import { expect } from 'vitest';
import type { Case } from '../case.ts';
import type { Answer } from '../service-fixture.ts';
import { predictionOf } from './prediction/prediction-scenes.ts';

type Body = Answer['body'];

export const stateCases: readonly Case[] = [
  {
    covers: [
      'state.market-open', 'state.market-closed', 'state.market-resolved', 'state.market-cancelled',
      'state.transitions',
    ],
    says: 'a market is open, then closed with a result, or cancelled without one',
    async play(fixture) {
      const marketOf = async (eventId: string, marketId: string): Promise<Body> =>
        (await predictionOf(fixture, `/events/${eventId}/markets`))
          .data.find((market: Body) => market.marketId === marketId);
      const ours = async (eventId: string, marketId: string) =>
        (await fixture.service.prediction.eventMarkets(eventId)).records.find((market) => market.marketId === marketId);
      expect(await marketOf('90817', '540818')).toMatchObject({ status: 'open', result: null });
      await fixture.control('/sandbox/resolve', { market_id: '540818', result: 'no' });
      expect(await marketOf('90817', '540818')).toMatchObject({ status: 'closed', result: 'no' });
      expect(await ours('90817', '540818')).toMatchObject({ status: 'closed', result: 'no' });
      await fixture.control('/sandbox/resolve', { market_id: '540819', result: 'cancelled' });
      expect(await marketOf('90817', '540819')).toMatchObject({ status: 'cancelled', result: null });
      expect(await ours('90817', '540819')).toMatchObject({ status: 'cancelled', result: undefined });
      expect(await marketOf('FOGHORN', 'FOGHORN-MUTE')).toMatchObject({ status: 'closed', result: null });
    },
  },
  {
    covers: ['state.position-on-a-closed-market', 'state.position-claimable', 'state.position-claimed'],
    says: 'a position loses its marks when its market closes, can be claimed if it won, and is claimed within a day',
    async play(fixture) {
      const ownerPubkey = fixture.wallet.address;
      const all = (await predictionOf(fixture, '/positions', { ownerPubkey, end: 20 })).data;
      // Of a market that trades on its own: no other decides it.
      const { marketId } = all.find((position: Body) =>
        position.marketMetadata.status === 'open' && position.valueUsd !== null);
      const mine = async (): Promise<Body> =>
        (await predictionOf(fixture, '/positions', { ownerPubkey, marketId })).data[0];
      const ours = async () =>
        (await fixture.service.prediction.positions({ owner: ownerPubkey, marketId })).records[0]!;
      const open = await mine();
      expect(open).toMatchObject({
        claimable: false, claimed: false, valueUsd: expect.any(String), pnlUsdPercent: expect.any(Number),
      });
      await fixture.control('/sandbox/resolve', { market_id: marketId, result: open.isYes ? 'yes' : 'no' });
      const closed = await mine();
      for (const name of [
        'valueUsd', 'markPriceUsd', 'pnlUsd', 'pnlUsdPercent', 'pnlUsdAfterFees', 'pnlUsdAfterFeesPercent',
      ]) expect(closed[name], name).toBeNull();
      expect(closed)
        .toMatchObject({ claimable: true, claimed: false, claimedUsd: '0', claimableAt: expect.any(Number) });
      const { valueUsd, pnlUsdPercent, claimable } = await ours();
      expect([valueUsd, pnlUsdPercent, claimable]).toEqual([undefined, undefined, true]);
      // Others have been paid already.
      const everybody: Body[] = [];
      for (let start = 0; start < 400; start += 20)
        everybody.push(...(await predictionOf(fixture, '/positions', { start, end: start + 20 })).data);
      const paid = everybody.filter((position) => position.claimed);
      expect(paid.length).toBeGreaterThan(0);
      for (const position of paid)
        expect(position).toMatchObject({ claimable: false, claimedUsd: expect.stringMatching(/^[1-9]/) });
    },
  },
];
