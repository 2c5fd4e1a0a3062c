import { expect } from 'vitest';
import type { Case } from '../../case.ts';
import { refusedByBoth, refusedByOurs, STRANGER } from '../../scenes.ts';
import type { Answer } from '../../service-fixture.ts';
import { API_KEY } from '../../service-fixture.ts';
import { badParameter, PREDICTION, predictionOf } from './prediction-scenes.ts';

type Body = Answer['body'];

const BOOK = 'SPRINGTIDE-26DEC31';

/** Returns what the events of an answer are called. */
const ids = ({ data }: Body): string[] => data.map(({ eventId }: Body) => eventId);

export const predictionCases: readonly Case[] = [
  {
    covers: ['prediction./events/suggested/{pubkey}', 'prediction.suggested.pubkey', 'prediction.suggested.provider'],
    says: 'events are suggested for an order\'s key, of provider_b unless another is named; an unknown provider is '
      + 'refused by both sides',
    async play(fixture) {
      const { data: [{ orderPubkey }] } =
        await predictionOf(fixture, '/history', { ownerPubkey: fixture.wallet.address });
      const [usual, b, a] = [
        await predictionOf(fixture, `/events/suggested/${orderPubkey}`),
        await predictionOf(fixture, `/events/suggested/${orderPubkey}`, { provider: 'provider_b' }),
        await predictionOf(fixture, `/events/suggested/${orderPubkey}`, { provider: 'provider_a' }),
      ];
      expect([ids(usual).length > 0, ids(usual)]).toEqual([true, ids(b)]);
      expect(ids(a).filter((id) => ids(b).includes(id))).toEqual([]);
      expect((await fixture.service.prediction.suggestedEvents(orderPubkey, { provider: 'provider_a' }))
        .records.map(({ eventId }) => eventId))
        .toEqual(ids(a));
      await refusedByBoth(fixture, {
        theirs: () => fixture.get(`${PREDICTION}/events/suggested/${orderPubkey}`, { provider: 'provider_c' }),
        ours: ({ prediction }) => prediction.suggestedEvents(orderPubkey, { provider: 'provider_c' }),
        about: /provider/,
      });
      await refusedByOurs(fixture, ({ prediction }) => prediction.suggestedEvents(''), /pubkey/);
    },
  },
  {
    covers: ['prediction./events/search', 'prediction.search.provider'],
    says: 'events are found by their title, of provider_b unless another is named',
    async play(fixture) {
      const usual = await predictionOf(fixture, '/events/search', { query: 'harbour' });
      expect(ids(usual)).toContain('90200');
      expect(ids(await predictionOf(fixture, '/events/search', { query: 'HARBOUR', provider: 'provider_b' })))
        .toEqual(ids(usual));
      expect(ids(await predictionOf(fixture, '/events/search', { query: 'tide', provider: 'provider_a' })))
        .toContain('SPRINGTIDE');
      expect(ids(await predictionOf(fixture, '/events/search', { query: 'spring tide' }))).toEqual([]);
      const read = await fixture.service.prediction.searchEvents({ query: 'tide', provider: 'provider_a' });
      expect(read.records.map(({ eventId }) => eventId)).toContain('SPRINGTIDE');
      await refusedByBoth(fixture, {
        theirs: () => fixture.get(`${PREDICTION}/events/search`, { query: 'x', provider: 'provider_c' }),
        ours: ({ prediction }) => prediction.searchEvents({ query: 'x', provider: 'provider_c' }), about: /provider/,
      });
    },
  },
  ...([
    [
      'prediction.search.query', 'limit.event-search-term', 'query', 'a search term has 1 to 200 characters',
      ['', 'x'.repeat(201)], ['x', 'x'.repeat(200)],
    ],
    [
      'prediction.search.limit', 'limit.event-search-results', 'limit', 'a search gives 1 to 20 results', [0, 21, 1.5],
      [1, 20],
    ],
  ] as const).map(([parameter, limit, name, says, wrong, right]): Case => ({
    covers: [parameter, limit],
    says: `${says}; others are refused by both sides`,
    async play(fixture) {
      const path = `${PREDICTION}/events/search`;
      for (const value of wrong) {
        const request = { query: 'the', [name]: value };
        await refusedByBoth(fixture, {
          theirs: () => fixture.get(path, request), ours: ({ prediction }) => prediction.searchEvents(request),
          about: new RegExp(name),
        });
      }
      for (const value of right) expect((await fixture.get(path, { query: 'the', [name]: value })).status).toBe(200);
      expect((await predictionOf(fixture, '/events/search', { query: 'e', limit: 1 })).data).toHaveLength(1);
      expect((await fixture.service.prediction.searchEvents({ query: 'e', limit: 1 })).records).toHaveLength(1);
      expect((await predictionOf(fixture, '/events/search', { query: 'e', limit: 20 })).data.length)
        .toBeLessThanOrEqual(20);
    },
  })),
  {
    covers: [
      'prediction./events/{eventId}/markets', 'prediction.markets.eventId', 'prediction.markets.start',
      'prediction.markets.end',
    ],
    says: 'an event\'s markets come in pages of start and end, which may be null; an unknown event is a 404',
    async play(fixture) {
      const path = '/events/90200/markets';
      const all = [
        ...(await predictionOf(fixture, path, { start: 0, end: 20 })).data,
        ...(await predictionOf(fixture, path, { start: 20, end: 40 })).data,
      ];
      expect(new Set(all.map(({ marketId }) => marketId)).size).toBe(26);
      const part = await predictionOf(fixture, path, { start: 2, end: 5 });
      expect([part.data.map(({ marketId }: Body) => marketId), part.pagination.total])
        .toEqual([all.slice(2, 5).map(({ marketId }) => marketId), 26]);
      expect((await predictionOf(fixture, path, { start: 'null', end: 'null' })).pagination.start).toBe(0);
      const read: string[] = [];
      for await (const { records } of fixture.service.prediction.allEventMarkets('90200'))
        read.push(...records.map(({ marketId }) => marketId));
      expect(read).toEqual(all.map(({ marketId }) => marketId));
      for (const name of ['start', 'end']) await badParameter(fixture, path, name, [-1, 'x']);
      await refusedByOurs(fixture, ({ prediction }) => prediction.eventMarkets('90200', { start: -1 }), /start/);
      expect((await fixture.get(`${PREDICTION}/events/NOTHING/markets`)).status).toBe(404);
      await expect(fixture.service.prediction.eventMarkets('NOTHING'))
        .rejects.toMatchObject({ code: 'SERVICE_STATUS', details: { status: 404 } });
      await refusedByOurs(fixture, ({ prediction }) => prediction.eventMarkets(''), /eventId/);
    },
  },
  {
    covers: ['prediction./orderbook/{marketId}', 'prediction.orderbook.marketId'],
    says: 'a market of either provider has its book; an unknown market is a 404',
    async play(fixture) {
      for (const marketId of [BOOK, '541266']) {
        expect(Object.keys(await predictionOf(fixture, `/orderbook/${marketId}`)).toSorted())
          .toEqual(['no', 'no_dollars', 'yes', 'yes_dollars']);
        expect(await fixture.service.prediction.orderBook(marketId)).toBeDefined();
      }
      expect((await fixture.get(`${PREDICTION}/orderbook/NOTHING`)).status).toBe(404);
      await refusedByOurs(fixture, ({ prediction }) => prediction.orderBook(''), /marketId/);
    },
  },
  {
    covers: ['prediction.no-placing'],
    says: 'placing, closing and claiming are answered with why they are not there',
    async play(fixture) {
      for (const [method, path] of [
        ['POST', '/orders'], ['DELETE', `/positions/${STRANGER}`], ['POST', `/positions/${STRANGER}/claim`],
      ] as const) {
        const answer =
          await fixture.raw(method, fixture.dialect.toWire.path(`${PREDICTION}${path}`), { 'x-api-key': API_KEY });
        expect([404, 405]).toContain(answer.status);
        expect(answer.body).toMatchObject({
          type: 'invalid_request_error', message: expect.stringMatching(/outside the description/),
          code: 'not_supported',
        });
      }
    },
  },
  {
    covers: ['error.body-of-a-bad-prediction-request'],
    says: 'the prediction API refuses in an envelope of its own, which our client reads',
    async play(fixture) {
      const { status, body } = await fixture.get(`${PREDICTION}/history`, { ownerPubkey: 'me' });
      expect([status, Object.keys(body).toSorted()]).toEqual([400, ['code', 'message', 'param', 'request_id', 'type']]);
      await expect(fixture.service.prediction.history({ owner: 'me' })).rejects.toMatchObject({
        code: 'SERVICE_STATUS', details: {
          status: 400, serviceMessage: body.message, serviceParameter: 'ownerPubkey', requestId: expect.any(String),
        },
      });
    },
  },
  {
    covers: ['purpose.micro-usd', 'purpose.prediction-beta', 'version.prediction-is-beta'],
    says: 'dollars of the beta are whole millionths, and members it may add tomorrow do not disturb our client',
    async play(fixture) {
      const { data } = await predictionOf(fixture, '/positions', { ownerPubkey: fixture.wallet.address });
      const body = JSON.stringify(fixture.dialect.toWire.json(
        { ...data[0], totalCostUsd: '123456789', sizeUsd: '123456789', oddity: { new: [1] } },
      ));
      await fixture.fault({
        match: { path: `${PREDICTION}/positions/${data[0].pubkey}` }, fault: { kind: 'malformed', body }, times: 1,
      });
      // 123.456789 dollars.
      expect((await fixture.service.prediction.position(data[0].pubkey)).totalCostUsd).toBe(123_456_789n);
    },
  },
];
