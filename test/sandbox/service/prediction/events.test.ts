import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestSandbox, type Answer, type TestSandbox } from '../sandbox-client.ts';
import { envelope, EVENT, EVENT_METADATA, FLAG, ISO_TIME, MARKET, NUMBER, PRICING, TEXT } from './shapes.ts';

let sandbox: TestSandbox;
let live: TestSandbox;
beforeAll(async () => {
  [sandbox, live] =
    await Promise.all([startTestSandbox({ slotMs: 60_000 }), startTestSandbox({ slotMs: 60_000, profile: 'live' })]);
});
afterAll(() => Promise.all([sandbox.close(), live.close()]));

const search = (query: Record<string, string | number>, from = sandbox): Promise<Answer> =>
  from.get('/prediction/v1/events/search', query);
const markets = (eventId: string, query: Record<string, string | number> = {}, from = sandbox): Promise<Answer> =>
  from.get(`/prediction/v1/events/${eventId}/markets`, query);
const suggested = (pubkey: string, query: Record<string, string> = {}): Promise<Answer> =>
  sandbox.get(`/prediction/v1/events/suggested/${pubkey}`, query);
const book = (): Promise<Answer> => sandbox.get('/prediction/v1/orderbook/HERRINGRUN-27MAR01');
const setBook = (yes: unknown, no: unknown): Promise<Answer> =>
  sandbox.post('/sandbox/book', { market_id: 'HERRINGRUN-27MAR01', yes, no }, {});
const titles = ({ body }: Answer): string[] =>
  body.data.map(({ metadata }: { metadata: { title: string } }) => metadata.title);

const LIVE_MARKET = {
  marketId: TEXT, status: TEXT, result: expect.toSatisfy((value) => value === null || typeof value === 'string'),
  openTime: NUMBER, closeTime: NUMBER,
  resolveAt: expect.toSatisfy((value) => value === null || /^\d{4}-/.test(String(value))), marketResultPubkey: TEXT,
  imageUrl: TEXT, title: TEXT,
  provider: expect.stringMatching(/^provider_[ab]$/), outcomes: ['Yes', 'No'], clobTokenIds: [TEXT, TEXT],
  marketOptions: [], isTeamMarket: FLAG, rulesPrimary: TEXT, rulesSecondary: TEXT, pricing: PRICING,
};

describe('GET /prediction/v1/events/search', () => {
  it('has every field of an event and its markets with its type', async () => {
    const { status, body } = await search({ query: 'a', provider: 'provider_a', limit: 20 });
    expect(status).toBe(200);
    expect(Object.keys(body)).toEqual(['data']);
    expect(body.data.length).toBeGreaterThan(5);
    for (const event of body.data) {
      expect(event).toEqual(EVENT);
      expect(event.markets.length).toBeGreaterThan(0);
      for (const market of event.markets) expect(market).toEqual(MARKET);
    }
  });

  it('searches titles for the term, in any case, of provider_b unless told otherwise', async () => {
    expect(titles(await search({ query: 'PEARL END' }))).toEqual(['Where does PEARL end the quarter?']);
    expect(titles(await search({ query: 'spring tide' }))).toEqual([]);
    expect(titles(await search({ query: 'spring tide', provider: 'provider_a' })))
      .toEqual(['How high is the spring tide?']);
    expect(titles(await search({ query: 'no such words' }))).toEqual([]);
  });

  it('gives as many as are wanted, those that trade first', async () => {
    expect(titles(await search({ query: 'KELP', limit: 3 }))).toHaveLength(3);
    expect((await search({ query: 'e' })).body.data.length).toBeLessThanOrEqual(10);
    const active = (await search({ query: 'k', limit: 20 }))
      .body.data.map(({ isActive }: { isActive: boolean }) => isActive);
    expect(active).toEqual(active.toSorted((a: boolean, b: boolean) => Number(b) - Number(a)));
    expect(new Set(active)).toEqual(new Set([true, false]));
  });

  it('holds titles that are hostile, and gives them as they are', async () => {
    const [event] = (await search({ query: 'bottle' })).body.data;
    expect(event.metadata.title).toContain('<img src=x');
    expect(event.metadata.title).toContain('\u001b[2J');
    expect(event.tags.join()).toContain('<script>');
  });

  it.each([
    [{}, 'query'], [{ query: '' }, 'query'], [{ query: 'x'.repeat(201) }, 'query'], [{ query: 'a', limit: 0 }, 'limit'],
    [{ query: 'a', limit: 21 }, 'limit'],
    [{ query: 'a', provider: 'provider_c' }, 'provider'],
  ])('refuses %j in the envelope', async (query, param) => {
    const answer = await search(query);
    expect([answer.status, answer.body]).toEqual([400, envelope('custom', param)]);
  });

  it('has pages in the live form, markets that are flat, and can leave them out', async () => {
    const { body } = await search({ query: 'e', start: 1, end: 4 }, live);
    expect(body.pagination).toEqual({ start: 1, end: 4, total: NUMBER, hasNext: true });
    for (const event of body.data) {
      expect(event).toEqual({ ...EVENT, metadata: { ...EVENT_METADATA, closeTime: ISO_TIME } });
      for (const market of event.markets) expect(market).toEqual(LIVE_MARKET);
    }
    expect((await search({ query: 'e', includeMarkets: 'false' }, live)).body.data[0]).not.toHaveProperty('markets');
  });
});

describe('GET /prediction/v1/events/suggested/{pubkey}', () => {
  it('suggests what trades, by provider, always the same for one key', async () => {
    const [first, again, other] =
      [await suggested('an-order'), await suggested('an-order'), await suggested('another')];
    expect(first.status).toBe(200);
    expect(first.body.data.length).toBeGreaterThan(3);
    for (const event of first.body.data) expect(event).toEqual({ ...EVENT, isActive: true });
    expect(titles(first)).toEqual(titles(again));
    expect(titles(first)).not.toEqual(titles(other));
    expect(
      titles(await suggested('an-order', { provider: 'provider_a' })).filter((title) => titles(first).includes(title)),
    ).toEqual([]);
  });

  it('starts with events of the kind that the order was about', async () => {
    const { data } = (await sandbox.get('/prediction/v1/history', { end: 20 })).body;
    const order = data.find(({ eventType, eventId }: { eventType: string; eventId: string }) =>
      eventType === 'order_created' && /^\d/.test(eventId));
    const { data: found } = (await suggested(order.orderPubkey)).body;
    const [{ category }] = (await search({ query: order.eventMetadata.title })).body.data;
    expect(found[0].category).toBe(category);
  });

  it('refuses another provider, and a key that is none', async () => {
    expect((await suggested('an-order', { provider: 'x' })).body).toEqual(envelope('custom', 'provider'));
    expect((await suggested('')).body).toEqual(envelope('custom', 'pubkey'));
  });
});

describe('GET /prediction/v1/events/{eventId}/markets', () => {
  it('has pages, twenty at most, of every field with its type', async () => {
    const first = await markets('90200');
    expect([first.status, first.body.pagination]).toEqual([200, { start: 0, end: 20, total: 26, hasNext: true }]);
    for (const market of first.body.data) expect(market).toEqual(MARKET);
    const second = await markets('90200', { start: 20, end: 40 });
    expect(second.body.pagination).toEqual({ start: 20, end: 26, total: 26, hasNext: false });
    expect(new Set([...first.body.data, ...second.body.data].map(({ marketId }) => marketId)).size).toBe(26);
    expect((await markets('90200', { start: 'null', end: 3 })).body.data).toHaveLength(3);
  });

  it('prices by the order book: YES is bought from the bids for NO', async () => {
    for (const { marketId, pricing } of (await markets('REGATTA27')).body.data) {
      const book = (await sandbox.get(`/prediction/v1/orderbook/${marketId}`)).body;
      const [yes, no] = [book.yes_dollars, book.no_dollars].map((side) => Math.round(Number(side[0]?.[0] ?? 0) * 1e6));
      expect(pricing).toMatchObject({
        sellYesPriceUsd: yes, sellNoPriceUsd: no, buyYesPriceUsd: no === 0 ? 0 : 1e6 - no!,
        buyNoPriceUsd: yes === 0 ? 0 : 1e6 - yes!,
      });
    }
    expect((await markets('LIGHTHOUSE')).body.data[0].pricing)
      .toMatchObject({ buyYesPriceUsd: 0, sellNoPriceUsd: 0, sellYesPriceUsd: expect.toSatisfy((price) => price > 0) });
  });

  it('shows markets that are closed, resolved and cancelled, with prices of 0', async () => {
    const { data } = (await markets('FOGHORN')).body;
    expect(data.map(({ status, result }: { status: string; result: string }) => [status, result]))
      .toEqual([['closed', 'yes'], ['closed', 'no'], ['cancelled', null], ['closed', null]]);
    for (const { pricing } of data)
      expect(pricing).toMatchObject({ buyYesPriceUsd: 0, buyNoPriceUsd: 0, sellYesPriceUsd: 0, sellNoPriceUsd: 0 });
    const flat = (await markets('FOGHORN', {}, live)).body.data;
    for (const market of flat) expect(market).toEqual(LIVE_MARKET);
    expect(flat.map(({ resolveAt }: { resolveAt: string | null }) => resolveAt !== null))
      .toEqual([true, true, true, false]);
  });

  it('follow time: what trades now closes and resolves', async () => {
    const [event] = (await search({ query: 'KELP up or down' })).body.data;
    const states = async (): Promise<string[]> => (await markets(event.eventId))
      .body.data.map(({ status, result }: { status: string; result: string }) => `${status} ${result}`);
    expect(new Set(await states())).toEqual(new Set(['open null']));
    await sandbox.passSlots(4_500);
    expect((await states()).every((state) => /^closed (?:yes|no|null)$/.test(state))).toBe(true);
    await sandbox.passSlots(75);
    expect((await states()).every((state) => /^closed (?:yes|no)$/.test(state))).toBe(true);
  });

  it('does not know every event', async () => {
    for (const id of ['unknown', '9999999999', '__proto__']) {
      const answer = await markets(id);
      expect([answer.status, answer.body]).toEqual([404, envelope('event_not_found', 'eventId')]);
    }
    expect((await markets('90200', { start: 5, end: 1 })).body).toEqual(envelope('custom', 'end'));
  });
});

describe('POST /sandbox/book', () => {
  it('plays books that are empty, one-sided, crossed, or not there, until they are released', async () => {
    const own = (await book()).body;
    expect((await setBook([[62, 5.5], [70.5, 1]], [[41, 2]])).body).toEqual({ books: ['HERRINGRUN-27MAR01'] });
    expect((await book()).body).toEqual({
      yes: [[71, 1], [62, 5.5]], no: [[41, 2]], yes_dollars: [['0.7050', 1], ['0.6200', 5.5]],
      no_dollars: [['0.4100', 2]],
    });
    expect((await markets('HERRINGRUN')).body.data[0].pricing)
      .toMatchObject({ sellYesPriceUsd: 705_000, buyYesPriceUsd: 590_000 });
    await setBook([[50, 1]], []);
    expect((await book()).body.no).toEqual([]);
    await setBook(null, null);
    expect((await book()).text).toBe('null');
    expect((await sandbox.remove('/sandbox/book?market_id=HERRINGRUN-27MAR01')).body).toEqual({ books: [] });
    expect((await book()).body).toEqual(own);
  });

  it.each([
    [{}], [{ market_id: 'unknown', yes: [], no: [] }], [{ market_id: '540817', yes: [], no: null }],
    [{ market_id: '540817', yes: [[101, 1]], no: [] }], [{ market_id: '540817', yes: [[5]], no: [] }],
    [{ market_id: '540817', yes: 'all', no: [] }], [{ market_id: '540817', yes: [[5, -1]], no: [] }],
  ])(
    'refuses %j', async (body) => {
      const answer = await sandbox.post('/sandbox/book', body);
      expect([answer.status, answer.body]).toEqual([400, { error: TEXT }]);
    },
  );
});
