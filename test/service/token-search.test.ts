import { describe, expect, test } from 'vitest';
import { TOKEN_STAT_NAMES } from '../../src/market/token-stats.ts';
import { mintNumber, tokenAnswer } from './answers.ts';
import type { Received } from './loopback.ts';
import { clientOf, json, listen } from './loopback.ts';

const [FIRST, SECOND, THIRD] = [mintNumber(0), mintNumber(1), mintNumber(2)];
const termsOf = (request: Received): string[] => request.query.get('query')!.split(',');

describe('a token search', () => {
  test('asks for several terms at once', async () => {
    const server = await listen(json([tokenAnswer(FIRST)]));
    const { records } = await clientOf(server).tokens.search([FIRST, SECOND]);
    expect(server.received.map((request) => [request.path, request.query.get('query')])).toEqual([['/ultra/v1/search', `${FIRST},${SECOND}`]]);
    expect(records.map(({ id }) => id)).toEqual([FIRST]);
  });

  test('names at most a hundred mints a request, each once, and words apart from them', async () => {
    const server = await listen((request, response) => json(termsOf(request).filter((term) => term.length > 30).map((term) => tokenAnswer(term)))(request, response));
    const mints = Array.from({ length: 250 }, (_, i) => mintNumber(i));
    const { records } = await clientOf(server).tokens.search([...mints, 'SOL', mints[0]!, 'USD coin']);
    expect(server.received.map((request) => termsOf(request).length).sort((a, b) => a - b)).toEqual([2, 50, 100, 100]);
    expect(server.received.some((request) => request.query.get('query') === 'SOL,USD coin')).toBe(true);
    expect(records).toHaveLength(250);
  });

  test.each([[[]], [['']], [['a,b']], [['x'.repeat(201)]]])('for %j never leaves', async (terms) => {
    const server = await listen(json([]));
    await expect(clientOf(server).tokens.search(terms)).rejects.toMatchObject({ code: 'SERVICE_BAD_REQUEST' });
    expect(server.received).toHaveLength(0);
  });

  test.each([['an object', {}], ['null', 'null'], ['a word', '"none"']])('answered with %s is malformed', async (_name, body) => {
    await expect(clientOf(await listen(json(body))).tokens.search(['SOL'])).rejects.toMatchObject({ code: 'SERVICE_MALFORMED' });
  });

  test('keeps the good records when others are broken, and says which are', async () => {
    const answer = [
      tokenAnswer(FIRST), tokenAnswer(SECOND, { decimals: 'nine' }), 'a word', null, tokenAnswer(THIRD, { decimals: 256 }), tokenAnswer('not a mint'),
    ];
    const { records, rejected } = await clientOf(await listen(json(answer))).tokens.search(['x']);
    expect(records.map(({ id }) => id)).toEqual([FIRST]);
    expect(rejected.map(({ id }) => id)).toEqual([SECOND, undefined, undefined, THIRD, 'not a mint']);
    expect(rejected[0]!.message).toContain('decimals');
  });
});

async function read(changes: Readonly<Record<string, unknown>> | string) {
  const body = typeof changes === 'string' ? changes : [tokenAnswer(FIRST, changes)];
  const { records } = await clientOf(await listen(json(body))).tokens.search([FIRST]);
  return records[0]!;
}

describe('a token record', () => {
  test('keeps what the service says and invents nothing', async () => {
    const record = await read({ icon: null, isVerified: null, apy: { platformEarn: 4.2 }, firstPool: { id: 'pool', createdAt: '2024-01-02T03:04:05Z' }, ctLikes: 4 });
    expect(record).toMatchObject({
      id: FIRST, symbol: 'TKN', decimals: 6, audit: { mintAuthorityDisabled: true }, tags: ['verified'], platformEarn: 4.2,
      updatedAt: Date.UTC(2026, 10, 20, 10, 0, 0, 123), firstPool: { id: 'pool', createdAt: Date.UTC(2024, 0, 2, 3, 4, 5) },
    });
    expect(record.audit.freezeAuthorityDisabled).toBeUndefined();
    expect(record.isVerified).toBeUndefined();
    expect(record).not.toHaveProperty('ctLikes');
  });

  test('has its numbers by flat names, those that are missing absent and never zero', async () => {
    expect((await read({ liquidity: null, stats1h: { numBuys: 0 }, stats30d: { priceChange: 1 } })).values).toEqual({
      'usdPrice': 1.5, 'holderCount': 12, '5m.priceChange': -2.5, '5m.buyVolume': 100, '1h.numBuys': 0,
    });
  });

  test('drops numbers that cannot be', async () => {
    const text = JSON.stringify([tokenAnswer(FIRST, { usdPrice: '#', liquidity: -1, fdv: 'much', mcap: {}, stats5m: [1] })]).replace('"#"', '1e999');
    expect((await read(text)).values).toEqual({ holderCount: 12 });
  });

  test('takes numbers beyond 2^53 as the doubles they are for', async () => {
    const text = JSON.stringify([tokenAnswer(FIRST, { totalSupply: '#' })]).replace('"#"', '18446744073709551615');
    expect((await read(text)).values.totalSupply).toBe(Number(18_446_744_073_709_551_615n));
  });

  test('survives decoration of the wrong form', async () => {
    const record = await read({ icon: 5, twitter: [], createdAt: 'long ago', tags: 'none', firstPool: 'x', apy: [], launchpad: {} });
    expect(record).toMatchObject({ icon: undefined, createdAt: undefined, tags: [], firstPool: undefined, platformEarn: undefined });
  });

  test('bounds the length of what a token says of itself', async () => {
    const record = await read({ name: 'n'.repeat(100_000), symbol: '\u001b]0;x' });
    expect(record.name).toHaveLength(200);
    expect(record.symbol).toBe('\u001b]0;x');
  });

  test('is not fooled by members of every object', async () => {
    const record = await read('[{"__proto__":{"usdPrice":9},"id":"' + FIRST + '","name":"a","symbol":"b","decimals":0}]');
    expect(record.values).toEqual({});
    for (const name of TOKEN_STAT_NAMES) expect(record.values).not.toHaveProperty([name]);
  });
});
