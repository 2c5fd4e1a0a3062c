import { describe, expect, test } from 'vitest';
import type { Mint } from '../../../src/market/token.ts';
import type { Tokens } from '../../../src/service/endpoints/tokens.ts';
import { mintNumber, tokenAnswer } from '../answers.ts';
import { clientOf, json, listen } from '../loopback.ts';
import { dialectOf } from '../dialect-text.ts';

const FIRST = mintNumber(0);

const mints = (count: number): Mint[] => Array.from({ length: count }, (_, i) => mintNumber(i));

describe('token discovery', () => {
  test.each<[string, (tokens: Tokens) => Promise<unknown>, string, Readonly<Record<string, string>>]>([
    ['a search of its own', (tokens) => tokens.discoverySearch([FIRST]), '/tokens/v2/search', { query: FIRST }],
    ['a tag', (tokens) => tokens.tag('lst'), '/tokens/v2/tag', { query: 'lst' }],
    ['an unknown tag', (tokens) => tokens.tag('sea-birds'), '/tokens/v2/tag', { query: 'sea-birds' }],
    [
      'a category', (tokens) => tokens.category({ category: 'toptraded', interval: '6h' }), '/tokens/v2/toptraded/6h',
      {},
    ],
    ['a category to a limit', (tokens) => tokens.category({
      category: 'toporganicscore', interval: '24h', limit: 100,
    }), '/tokens/v2/toporganicscore/24h', { limit: '100' }],
    ['an unknown category and interval', (tokens) => tokens.category({
      category: 'topfeeding', interval: '7d', limit: 1,
    }), '/tokens/v2/topfeeding/7d', { limit: '1' }],
    ['what is recent', (tokens) => tokens.recent(), '/tokens/v2/recent', {}],
  ])('asks for %s', async (_name, ask, path, query) => {
    const server = await listen(json([tokenAnswer(FIRST), { id: 'spoilt' }]));
    expect(await ask(clientOf(server).tokens))
      .toMatchObject({ records: [{ id: FIRST }], rejected: [{ id: 'spoilt' }] });
    expect(server.received.map((request) => [request.path, Object.fromEntries(request.query)]))
      .toEqual([[path, query]]);
  });

  test('takes a tag’s whole list, which is longer than any other answer', async () => {
    const server = await listen(json(Array.from({ length: 5_000 }, (_, i) =>
      tokenAnswer(mintNumber(i % 3_000), { bondingCurve: 'x'.repeat(2_000) }))));
    const { tokens } = clientOf(server);
    expect((await tokens.tag('verified')).records).toHaveLength(5_000);
    await expect(tokens.recent()).rejects.toMatchObject({ code: 'SERVICE_MALFORMED' });
  });

  test('asks where the dialect says', async () => {
    const server = await listen(json([]));
    const dialect = dialectOf('dialect: coast\npaths: { /tokens/v2: /shells }\n');
    await clientOf(server, { dialect }).tokens.recent();
    expect(server.received[0]!.path).toBe('/shells/recent');
  });

  test.each<[string, (tokens: Tokens) => Promise<unknown>]>([
    ['an empty tag', (tokens) => tokens.tag('')],
    ['a tag with a slash', (tokens) => tokens.tag('a/b')],
    ['a category that is another list', (tokens) => tokens.category({ category: 'content', interval: 'feed' })],
    ['a category that climbs', (tokens) => tokens.category({ category: '..', interval: '5m' })],
    ['an interval that climbs', (tokens) => tokens.category({ category: 'toptraded', interval: '../../x' })],
    ['no interval', (tokens) => tokens.category({ category: 'toptraded', interval: '' })],
    ['a limit of 0', (tokens) => tokens.category({ category: 'toptraded', interval: '5m', limit: 0 })],
    ['a limit of 101', (tokens) => tokens.category({ category: 'toptraded', interval: '5m', limit: 101 })],
    ['half a token', (tokens) => tokens.category({ category: 'toptraded', interval: '5m', limit: 1.5 })],
    ['content of nothing', (tokens) => tokens.content([])],
    ['content of what is no mint', (tokens) => tokens.content([FIRST, 'SOL'])],
    ['a feed of what is no mint', (tokens) => tokens.contentFeed({ mint: 'SOL' })],
    ['a feed’s page 0', (tokens) => tokens.contentFeed({ mint: FIRST, page: 0 })],
    ['a feed to a limit of 101', (tokens) => tokens.contentFeed({ mint: FIRST, limit: 101 })],
  ])('never asks for %s', async (_name, ask) => {
    const server = await listen(json([]));
    await expect(ask(clientOf(server).tokens)).rejects.toMatchObject({ code: 'SERVICE_BAD_REQUEST' });
    expect(server.received).toHaveLength(0);
  });

  test('asks for the content of at most fifty mints at once, each once', async () => {
    const server = await listen((request, response) =>
      json({ data: request.query.get('mints')!.split(',').map((mint) => contentAnswer(mint)) })(request, response));
    const { records } = await clientOf(server).tokens.content([...mints(120), FIRST]);
    expect(server.received.map((request) => request.query.get('mints')!.split(',').length).sort((a, b) => a - b))
      .toEqual([20, 50, 50]);
    expect(server.received.every(({ path }) => path === '/tokens/v2/content')).toBe(true);
    expect(new Set(records.map(({ mint }) => mint))).toEqual(new Set(mints(120)));
  });

  test('reads content in every field, and leaves out what it cannot read, by its own id', async () => {
    const spoilt = { ...itemAnswer('c-2'), content: 7 };
    const server = await listen(
      json({ data: [contentAnswer(FIRST, { contents: [itemAnswer('c-1'), spoilt, null] }), contentAnswer('no mint')] }),
    );
    const { records, rejected } = await clientOf(server).tokens.cooking();
    expect(server.received[0]!.path).toBe('/tokens/v2/content/cooking');
    expect(records).toEqual([{
      mint: FIRST,
      contents: [{
        contentId: 'c-1', content: 'It dives.', contentType: 'text', status: 'approved',
        source: 'https://source.example', submittedAt: Date.UTC(2026, 0, 2, 3, 4, 5),
        submittedBy: { id: 'u-1', username: 'ana', role: 'curator' }, updatedAt: undefined,
        updatedBy: { id: undefined, username: undefined, role: undefined }, postedAt: undefined,
      }],
      tokenSummary: {
        summaryFull: 'All of it.', summaryShort: 'A bit.', updatedAt: Date.UTC(2026, 0, 3),
        citations: ['https://cited.example'],
      },
      newsSummary: undefined,
    }]);
    expect(rejected.map(({ id }) => id)).toEqual(['c-2', undefined, 'no mint']);
  });

  test('reads one page of a token’s content', async () => {
    const pagination = { limit: 2, total: 5, page: 2, totalPages: 3 };
    const data = {
      contents: [itemAnswer('c-3', { contentType: 'song', status: 'weighed' }), {}], tokenSummary: null,
      newsSummary: { summaryShort: 'news', citations: null }, pagination,
    };
    const server = await listen(json({ data }));
    const feed = await clientOf(server).tokens.contentFeed({ mint: FIRST, page: 2, limit: 2 });
    expect(server.received.map(({ path, query }) => [path, Object.fromEntries(query)]))
      .toEqual([['/tokens/v2/content/feed', { mint: FIRST, page: '2', limit: '2' }]]);
    expect(feed).toMatchObject({
      contents: [{ contentId: 'c-3', contentType: 'song', status: 'weighed' }], pagination,
      newsSummary: { summaryShort: 'news', citations: [] },
    });
    expect(feed.tokenSummary).toBeUndefined();
    expect(feed.rejected).toHaveLength(1);
  });

  test.each<[string, unknown]>([
    ['null', 'null'], ['a list', []], ['no data', { contents: [] }], ['data that is no object', { data: 'none' }],
  ])('with a feed of %s is malformed', async (_name, body) => {
    await expect(clientOf(await listen(json(body))).tokens.contentFeed({ mint: FIRST }))
      .rejects.toMatchObject({ code: 'SERVICE_MALFORMED' });
  });

  test.each<[string, unknown]>([
    ['null', 'null'], ['an object', {}], ['data that is no list', { data: {} }],
  ])('with content of %s is malformed', async (_name, body) => {
    await expect(clientOf(await listen(json(body))).tokens.cooking())
      .rejects.toMatchObject({ code: 'SERVICE_MALFORMED' });
  });

  test('bounds what people write', async () => {
    const server = await listen(
      json({ data: [contentAnswer(FIRST, { contents: [itemAnswer('c', { content: 'x'.repeat(100_000) })] })] }),
    );
    expect((await clientOf(server).tokens.cooking()).records[0]!.contents[0]!.content).toHaveLength(10_000);
  });
});

function itemAnswer(contentId: string, changes: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return {
    contentId, content: 'It dives.', contentType: 'text', status: 'approved', source: 'https://source.example',
    submittedAt: '2026-01-02T03:04:05Z', submittedBy: { id: 'u-1', username: 'ana', role: 'curator' }, updatedAt: null,
    updatedBy: { id: null, username: null, role: null }, postedAt: null, surprise: 1,
    ...changes,
  };
}

function contentAnswer(mint: string, changes: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return {
    mint, contents: [], newsSummary: null,
    tokenSummary: {
      summaryFull: 'All of it.', summaryShort: 'A bit.', updatedAt: '2026-01-03T00:00:00Z',
      citations: ['https://cited.example'],
    },
    ...changes,
  };
}
