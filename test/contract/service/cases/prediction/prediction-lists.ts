import { expect } from 'vitest';
import type { Case } from '../../case.ts';
import { refusedByOurs, STRANGER } from '../../scenes.ts';
import type { Answer } from '../../service-fixture.ts';
import { badParameter, PREDICTION, predictionOf } from './prediction-scenes.ts';

type Body = Answer['body'];

export const predictionListCases: readonly Case[] = [
  {
    covers: ['prediction./history', 'purpose.prediction-path', 'purpose.prediction-subjects'],
    says: '/history answers 200 with data and pagination, the newest first',
    async play(fixture) {
      const { data, pagination } = await predictionOf(fixture, '/history', { ownerPubkey: fixture.wallet.address });
      expect(data.length).toBeGreaterThan(0);
      expect(pagination).toEqual({ start: 0, end: data.length, total: expect.any(Number), hasNext: true });
      const read = await fixture.service.prediction.history({ owner: fixture.wallet.address });
      expect([read.records.map(({ id }) => id), read.pagination]).toEqual([data.map(({ id }: Body) => id), pagination]);
    },
  },
  ...(['history', 'positions'] as const).map((list): Case => ({
    covers: [`prediction.${list}.start`, `prediction.${list}.end`],
    says:
      `start and end cut /${list}, the end outside, without a gap or a double; negative ones are refused by both sides`,
    async play(fixture) {
      const ownerPubkey = fixture.wallet.address;
      const path = `/${list}`;
      const idOf = (element: Body): unknown => (list === 'history' ? element.id : element.pubkey);
      const { data: first } = await predictionOf(fixture, path, { ownerPubkey, start: 0, end: 6 });
      expect(first).toHaveLength(6);
      const parts = [
        await predictionOf(fixture, path, { ownerPubkey, start: 0, end: 3 }),
        await predictionOf(fixture, path, { ownerPubkey, start: 3, end: 6 }),
      ];
      expect(parts.flatMap(({ data }) => data.map(idOf))).toEqual(first.map(idOf));
      expect(parts[1].pagination).toMatchObject({ start: 3, end: 6 });
      const read = list === 'history'
        ? await fixture.service.prediction.history({ owner: ownerPubkey, start: 3, end: 6 })
        : await fixture.service.prediction.positions({ owner: ownerPubkey, start: 3, end: 6 });
      expect(read.ids).toEqual(parts[1].data.map((element: Body) => String(idOf(element))));
      for (const name of ['start', 'end']) {
        await badParameter(fixture, path, name, [-1, 1.5, 'two'], { ownerPubkey });
        await refusedByOurs(
          fixture, ({ prediction }) => prediction[list]({ owner: ownerPubkey, [name]: -1 }), new RegExp(name),
        );
      }
    },
  })),
  {
    covers: ['prediction.history.ownerPubkey'],
    says: 'the history of an owner is his alone; what is no address is refused',
    async play(fixture) {
      const { data } = await predictionOf(fixture, '/history', { ownerPubkey: fixture.wallet.address, end: 20 });
      expect(new Set(data.map(({ ownerPubkey }: Body) => ownerPubkey))).toEqual(new Set([fixture.wallet.address]));
      expect((await predictionOf(fixture, '/history', { ownerPubkey: STRANGER })).data).toEqual([]);
      expect((await fixture.service.prediction.history({ owner: STRANGER })).records).toEqual([]);
      await badParameter(fixture, '/history', 'ownerPubkey', ['me']);
    },
  },
  {
    covers: ['prediction.history.id'],
    says: 'an entry is found by its number of at least 1',
    async play(fixture) {
      const ownerPubkey = fixture.wallet.address;
      const { data: [, second] } = await predictionOf(fixture, '/history', { ownerPubkey });
      const found = await predictionOf(fixture, '/history', { ownerPubkey, id: second.id });
      expect([found.data.map(({ id }: Body) => id), found.pagination.total]).toEqual([[second.id], 1]);
      expect((await fixture.service.prediction.history({ owner: ownerPubkey, eventId: second.id }))
        .records.map(({ id }) => id))
        .toEqual([second.id]);
      await badParameter(fixture, '/history', 'id', [0, -1, 'x'], { ownerPubkey });
      await refusedByOurs(
        fixture, ({ prediction }) => prediction.history({ owner: ownerPubkey, eventId: 0 }), /eventId/,
      );
    },
  },
  {
    covers: ['prediction.history.positionPubkey'],
    says: 'the history of one position is found by its key',
    async play(fixture) {
      const ownerPubkey = fixture.wallet.address;
      const { data: [{ positionPubkey }] } = await predictionOf(fixture, '/history', { ownerPubkey });
      const { data } = await predictionOf(fixture, '/history', { ownerPubkey, positionPubkey });
      expect(new Set(data.map((record: Body) => record.positionPubkey))).toEqual(new Set([positionPubkey]));
      const read = await fixture.service.prediction.history({ owner: ownerPubkey, positionPubkey });
      expect(read.records.map(({ id }) => id)).toEqual(data.map(({ id }: Body) => id));
    },
  },
  {
    covers: ['prediction./positions', 'prediction.positions.ownerPubkey'],
    says: '/positions answers 200 with data and pagination, an owner\'s alone',
    async play(fixture) {
      const { data, pagination } = await predictionOf(fixture, '/positions', { ownerPubkey: fixture.wallet.address });
      expect(new Set(data.map(({ ownerPubkey }: Body) => ownerPubkey))).toEqual(new Set([fixture.wallet.address]));
      expect(pagination)
        .toEqual({ start: 0, end: data.length, total: expect.any(Number), hasNext: expect.any(Boolean) });
      expect((await predictionOf(fixture, '/positions', { ownerPubkey: STRANGER })).pagination)
        .toEqual({ start: 0, end: 0, total: 0, hasNext: false });
      const read = await fixture.service.prediction.positions({ owner: fixture.wallet.address });
      expect(read.records.map(({ pubkey }) => pubkey)).toEqual(data.map(({ pubkey }: Body) => pubkey));
      await badParameter(fixture, '/positions', 'ownerPubkey', ['me']);
    },
  },
  {
    covers: ['prediction.positions.isYes'],
    says: 'positions on YES and on NO are found apart, and together are all',
    async play(fixture) {
      const ownerPubkey = fixture.wallet.address;
      const totals: number[] = [];
      for (const isYes of [true, false]) {
        const { data, pagination } = await predictionOf(fixture, '/positions', { ownerPubkey, isYes, end: 20 });
        expect(new Set(data.map((position: Body) => position.isYes))).toEqual(new Set([isYes]));
        expect(new Set((await fixture.service.prediction.positions({ owner: ownerPubkey, isYes }))
          .records.map((position) => position.isYes)))
          .toEqual(new Set([isYes]));
        totals.push(pagination.total);
      }
      expect(totals[0]! + totals[1]!)
        .toBe((await predictionOf(fixture, '/positions', { ownerPubkey })).pagination.total);
      await badParameter(fixture, '/positions', 'isYes', ['maybe'], { ownerPubkey });
    },
  },
  {
    covers: ['prediction./positions/{positionPubkey}', 'prediction.position.positionPubkey'],
    says: 'one position is found by its key; an unknown key is a 404',
    async play(fixture) {
      const { data: [, position] } = await predictionOf(fixture, '/positions', { ownerPubkey: fixture.wallet.address });
      expect(await predictionOf(fixture, `/positions/${position.pubkey}`)).toEqual(position);
      expect((await fixture.service.prediction.position(position.pubkey)).marketId).toBe(position.marketId);
      const none = await fixture.get(`${PREDICTION}/positions/${STRANGER}`);
      expect([none.status, none.body.type]).toEqual([404, 'invalid_request_error']);
      await expect(fixture.service.prediction.position(STRANGER))
        .rejects.toMatchObject({ code: 'SERVICE_STATUS', details: { status: 404 } });
      await refusedByOurs(fixture, ({ prediction }) => prediction.position(''), /positionPubkey/);
    },
  },
  {
    covers: ['prediction.pages-of-twenty'],
    says: 'a page is cut at twenty without a word, and our client still reads everything once',
    async play(fixture) {
      const ownerPubkey = fixture.wallet.address;
      const { data, pagination } = await predictionOf(fixture, '/history', { ownerPubkey, start: 0, end: 90 });
      expect([data.length, pagination.end, pagination.hasNext]).toEqual([20, 20, true]);
      const ids: number[] = [];
      for await (const { records } of fixture.service.prediction.allHistory({ owner: ownerPubkey }))
        ids.push(...records.map(({ id }) => id));
      expect([ids.length, new Set(ids).size]).toEqual([pagination.total, pagination.total]);
    },
  },
];
