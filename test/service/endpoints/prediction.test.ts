import { describe, expect, test } from 'vitest';
import { collect } from '../../../src/service/endpoints/paged-list.ts';
import type { Prediction } from '../../../src/service/endpoints/prediction.ts';
import type { Received } from '../loopback.ts';
import { clientOf, json, listen } from '../loopback.ts';
import {
  eventAnswer, flatMarketAnswer, historyAnswer, marketAnswer, ORDER, OWNER, pageAnswer, POSITION, positionAnswer,
} from './prediction-answers.ts';
import { dialectOf } from '../dialect-text.ts';

const askedOf = ({ path, query }: Received): unknown => [path, Object.fromEntries(query)];
const page = (elements: Parameters<typeof pageAnswer>[0]) => json(pageAnswer(elements, { start: 0, end: 20 }));
const rangeOf = ({ query }: Received) =>
  ({ start: Number(query.get('start') ?? 0), end: Number(query.get('end') ?? 10) });

describe('the prediction market API', () => {
  test.each<[string, (prediction: Prediction) => Promise<unknown>, string, Readonly<Record<string, string>>]>([
    ['a ledger', (api) => api.history({}), '/prediction/v1/history', {}],
    ['part of an owner’s ledger', (api) => api.history({ owner: OWNER, positionPubkey: POSITION, start: 0, end: 5 }),
      '/prediction/v1/history',
        { ownerPubkey: OWNER, positionPubkey: POSITION, start: '0', end: '5' }],
    ['one entry of it', (api) => api.history({ eventId: 1 }), '/prediction/v1/history', { id: '1' }],
    ['positions', (api) => api.positions({}), '/prediction/v1/positions', {}],
    [
      'an owner’s positions on YES', (api) => api.positions({ owner: OWNER, isYes: true, start: 20 }),
      '/prediction/v1/positions', { ownerPubkey: OWNER, isYes: 'true', start: '20' },
    ],
    ['positions on NO in one market',
      (api) => api.positions({ isYes: false, marketId: 'M', marketPubkey: 'K', end: 0 }), '/prediction/v1/positions',
        { isYes: 'false', marketId: 'M', marketPubkey: 'K', end: '0' }],
    [
      'an event’s markets', (api) => api.eventMarkets('A/B?', { start: 2, end: 2 }),
      '/prediction/v1/events/A%2FB%3F/markets', { start: '2', end: '2' },
    ],
  ])('asks for %s', async (_name, ask, path, query) => {
    const server = await listen(json({ data: [], pagination: { start: 0, end: 0, total: 0, hasNext: false } }));
    expect(await ask(clientOf(server).prediction))
      .toMatchObject({ records: [], rejected: [], pagination: { hasNext: false } });
    expect(server.received.map(askedOf)).toEqual([[path, query]]);
  });

  test('asks for one position', async () => {
    const server = await listen(json(positionAnswer()));
    expect(await clientOf(server).prediction.position(POSITION)).toMatchObject({ pubkey: POSITION, contracts: 12n });
    expect(server.received.map(askedOf)).toEqual([[`/prediction/v1/positions/${POSITION}`, {}]]);
  });

  test('asks for suggested events, of a provider or of the service’s choice', async () => {
    const server = await listen(json({ data: [eventAnswer('E')] }));
    const { prediction } = clientOf(server);
    expect(await prediction.suggestedEvents(ORDER)).toMatchObject({ records: [{ eventId: 'E' }] });
    await prediction.suggestedEvents(ORDER, { provider: 'provider_a' });
    expect(server.received.map(askedOf)).toEqual([
      [`/prediction/v1/events/suggested/${ORDER}`, {}],
      [`/prediction/v1/events/suggested/${ORDER}`, { provider: 'provider_a' }],
    ]);
  });

  test('searches events, and keeps the limit where the host does not', async () => {
    const server = await listen(json({ data: Array.from({ length: 9 }, (_, i) => eventAnswer(`E${i}`)) }));
    const { records } = await clientOf(server)
      .prediction.searchEvents({ query: 'tide & time', provider: 'provider_b', limit: 3 });
    expect(records.map(({ eventId }) => eventId)).toEqual(['E0', 'E1', 'E2']);
    expect(server.received.map(askedOf))
      .toEqual([['/prediction/v1/events/search', { query: 'tide & time', provider: 'provider_b', limit: '3' }]]);
  });

  test('names providers as its host does, and reads them back', async () => {
    const server =
      await listen(json({ data: [eventAnswer('E', { markets: [flatMarketAnswer('M', { provider: 'heron' })] })] }));
    const dialect = dialectOf('dialect: coast\nproviders: { provider_a: heron }\n');
    const { prediction } = clientOf(server, { dialect });
    const { records } = await prediction.searchEvents({ query: 'x', provider: 'provider_a' });
    expect(server.received[0]!.query.get('provider')).toBe('heron');
    expect(records[0]!.markets[0]!.provider).toBe('provider_a');
    await expect(prediction.searchEvents({ query: 'x', provider: 'provider_b' }))
      .rejects.toMatchObject({ code: 'SERVICE_BAD_REQUEST' });
  });

  test.each<[string, string, (prediction: Prediction) => Promise<unknown>]>([
    ['a negative start', 'at least 0', (api) => api.history({ start: -1 })],
    ['half an end', 'at least 0', (api) => api.positions({ end: 1.5 })],
    ['an end before the start', 'not to lie before start', (api) => api.history({ start: 5, end: 4 })],
    ['an end before the start of positions', 'not to lie before start', (api) => api.positions({ start: 5, end: 4 })],
    ['an end before the start of markets', 'not to lie before start', (api) =>
      api.eventMarkets('E', { start: 5, end: 4 })],
    ['an entry of the number 0', 'at least 1', (api) => api.history({ eventId: 0 })],
    ['an empty owner', 'at least 1', (api) => api.history({ owner: '' })],
    ['an empty position', 'at least 1', (api) => api.history({ positionPubkey: '' })],
    ['an empty owner of positions', 'at least 1', (api) => api.positions({ owner: '' })],
    ['an empty market', 'at least 1', (api) => api.positions({ marketId: '' })],
    ['a position without a key', 'at least 1', (api) => api.position('')],
    ['a position that climbs', 'visible ASCII', (api) => api.position('..')],
    ['an event without an id', 'at least 1', (api) => api.eventMarkets('')],
    ['a book without a market', 'at least 1', (api) => api.orderBook('')],
    ['suggestions on nothing', 'at least 1', (api) => api.suggestedEvents('')],
    ['suggestions of a stranger', 'provider_a, provider_b', (api) =>
      api.suggestedEvents(ORDER, { provider: 'provider_c' })],
    ['nothing', '1 to 200', (api) => api.searchEvents({ query: '' })],
    ['a term of 201 characters', '1 to 200', (api) => api.searchEvents({ query: 'x'.repeat(201) })],
    ['a stranger’s events', 'provider_a, provider_b', (api) =>
      api.searchEvents({ query: 'x', provider: 'provider_c' })],
    ['no events', '1 to 20', (api) => api.searchEvents({ query: 'x', limit: 0 })],
    ['21 events', '1 to 20', (api) => api.searchEvents({ query: 'x', limit: 21 })],
    ['a whole ledger of an empty owner', 'at least 1', (api) => collect(api.allHistory({ owner: '' }))],
    ['a ledger to a limit of 0', 'at least 1', (api) => collect(api.allHistory({ owner: OWNER }, { limit: 0 }))],
  ])('is never asked for %s', async (_name, words, ask) => {
    const server = await listen(json({ data: [] }));
    await expect(ask(clientOf(server).prediction))
      .rejects.toMatchObject({ code: 'SERVICE_BAD_REQUEST', message: expect.stringContaining(words) as string });
    expect(server.received).toHaveLength(0);
  });

  test('takes the longest search term and the largest limit', async () => {
    const server = await listen(json({ data: [] }));
    expect(await clientOf(server).prediction.searchEvents({ query: 'x'.repeat(200), limit: 20 }))
      .toEqual({ records: [], rejected: [] });
  });

  test('gives no more than the service does for one page, which is cut at 20 without a word', async () => {
    const server = await listen((request, response) => json(
      pageAnswer(Array.from({ length: 45 }, (_, i) => historyAnswer(100 - i)), rangeOf(request)),
    )(request, response));
    const page = await clientOf(server).prediction.history({ owner: OWNER, start: 0, end: 100 });
    expect([page.records.length, page.pagination]).toEqual([20, { start: 0, end: 20, total: 45, hasNext: true }]);
  });
});

describe('a host that does not know a filter', () => {
  const other = 'Other111111111111111111111111111111111111111';

  test('refuses a ledger of another owner', async () => {
    const elements =
      [historyAnswer(3), historyAnswer(2, { ownerPubkey: other }), historyAnswer(1, { ownerPubkey: '' })];
    const { prediction } = clientOf(await listen(page(elements)));
    const { records, rejected, ids } = await prediction.history({ owner: OWNER });
    expect([records.map(({ id }) => id), ids]).toEqual([[3, 1], ['3', '2', '1']]);
    expect(rejected)
      .toEqual([{ id: '2', message: `history, ownerPubkey: expected ${OWNER}, which was asked for, got "${other}"` }]);
    expect((await prediction.history({ owner: `${OWNER},${other}` })).records).toHaveLength(3);
    expect((await prediction.history({ positionPubkey: 'another' })).records).toHaveLength(0);
  });

  test('passes no position off as one on another side, market or of another owner', async () => {
    const elements = [positionAnswer(), positionAnswer({ pubkey: 'B', isYes: false }), positionAnswer({
      pubkey: 'C', marketId: 'elsewhere',
    }), positionAnswer({ pubkey: 'D', owner: other, ownerPubkey: other })];
    const { prediction } = clientOf(await listen(page(elements)));
    const { isYes, marketId } = (await prediction.positions({})).records[0]!;
    expect((await prediction.positions({ owner: OWNER, isYes, marketId })).records.map(({ pubkey }) => pubkey))
      .toEqual([POSITION]);
  });
});

describe('a whole list of the prediction market API', () => {
  test('of history has every entry once, though one comes in and one goes meanwhile', async () => {
    let ledger = Array.from({ length: 45 }, (_, i) => historyAnswer(100 - i, i === 30 ? { timestamp: 'never' } : {}));
    const server = await listen((request, response) => {
      json(pageAnswer(ledger, rangeOf(request)))(request, response);
      ledger = ledger.filter((_, place) => place !== 3 && place !== 4 && place !== 5);
      if (server.received.length === 2) ledger = [historyAnswer(101), ...ledger];
    });
    const { records, rejected } = await collect(clientOf(server)
      .prediction.allHistory({ owner: OWNER, positionPubkey: POSITION }));
    const ids = records.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ledger.map(({ id }) => id).filter((id) => id !== 70 && !ids.includes(id as number))).toEqual([]);
    expect(ids).toContain(101);
    expect(rejected.map(({ id }) => id)).toEqual(['70']);
    expect(server.received.every(({ query }) =>
      query.get('ownerPubkey') === OWNER && query.get('positionPubkey') === POSITION)).toBe(true);
    expect(server.received.every((request) => rangeOf(request).end - rangeOf(request).start === 20)).toBe(true);
  });

  test('of positions and of markets is read the same way', async () => {
    const positions = Array.from({ length: 33 }, (_, i) =>
      positionAnswer({ pubkey: `${POSITION.slice(0, 42)}${10 + i}` }));
    const markets = Array.from({ length: 25 }, (_, i) => (i % 2 === 0 ? marketAnswer : flatMarketAnswer)(`M${i}`));
    const server = await listen((request, response) =>
      json(pageAnswer(request.path.endsWith('/positions') ? positions : markets, rangeOf(request)))(request, response));
    const { prediction } = clientOf(server);
    expect((await collect(prediction.allPositions({ owner: OWNER, isYes: true }))).records.map(({ pubkey }) => pubkey))
      .toEqual(positions.map(({ pubkey }) => pubkey));
    expect((await collect(prediction.allEventMarkets('E'))).records.map(({ marketId }) => marketId))
      .toEqual(markets.map(({ marketId }) => marketId));
    expect((await collect(prediction.allEventMarkets('E', { limit: 3 }))).records).toHaveLength(3);
    expect(server.received.filter(({ query }) => query.get('isYes') === 'true')).toHaveLength(3);
  });

  test('knows elements apart by the whole of the longest ids', async () => {
    const markets = Array.from({ length: 500 }, (_, i) => marketAnswer(`${'M'.repeat(190)}${i}`));
    const server = await listen((request, response) => json(pageAnswer(markets, rangeOf(request)))(request, response));
    expect((await collect(clientOf(server).prediction.allEventMarkets('E'))).records).toHaveLength(500);
  });

  test('is not joined to a page that someone else asked for', async () => {
    const answers: (() => void)[] = [];
    const server = await listen((request, response) =>
      answers.push(() => json(pageAnswer([historyAnswer(1)], rangeOf(request)))(request, response)));
    const { prediction } = clientOf(server);
    const others = prediction.history({ owner: OWNER, start: 0, end: 20 });
    await expect.poll(() => server.received.length).toBe(1);
    const whole = collect(prediction.allHistory({ owner: OWNER }));
    await expect.poll(() => server.received.length).toBe(2);
    for (const answer of answers) answer();
    expect((await whole).records).toHaveLength(1);
    expect((await others).records).toHaveLength(1);
  });

  test('ends with what a request throws', async () => {
    const server = await listen((request, response) => (request.query.get('start') === '0'
      ? json(pageAnswer(Array.from({ length: 45 }, (_, i) => historyAnswer(100 - i)), rangeOf(request)))
      : json({ type: 'api_error', message: 'upstream' }, { status: 502 }))(request, response));
    const read: number[] = [];
    await expect(async () => {
      for await (const { records } of clientOf(server).prediction.allHistory({ owner: OWNER }))
        read.push(...records.map(({ id }) => id));
    }).rejects.toMatchObject({ code: 'SERVICE_STATUS' });
    expect(read).toHaveLength(20);
  });
});
