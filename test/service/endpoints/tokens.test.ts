import { describe, expect, test } from 'vitest';
import { mintNumber, tokenAnswer } from '../answers.ts';
import type { Received } from '../loopback.ts';
import { clientOf, json, listen } from '../loopback.ts';

const [FIRST, SECOND, THIRD] = [mintNumber(0), mintNumber(1), mintNumber(2)];
const termsOf = (request: Received): string[] => request.query.get('query')!.split(',');

describe('a token search', () => {
  test('asks for several terms at once', async () => {
    const server = await listen(json([tokenAnswer(FIRST)]));
    const { records } = await clientOf(server).tokens.search([FIRST, SECOND]);
    expect(server.received.map((request) => [request.path, request.query.get('query')]))
      .toEqual([['/ultra/v1/search', `${FIRST},${SECOND}`]]);
    expect(records.map(({ id }) => id)).toEqual([FIRST]);
  });

  test('names at most a hundred mints a request, each once, and each word alone: not every host takes commas between '
    + 'words', async () => {
    const server = await listen((request, response) =>
      json(termsOf(request).filter((term) => term.length > 30).map((term) => tokenAnswer(term)))(request, response));
    const mints = Array.from({ length: 250 }, (_, i) => mintNumber(i));
    const { records } = await clientOf(server).tokens.search([...mints, 'SOL', mints[0]!, 'USD coin']);
    expect(server.received.map((request) => termsOf(request).length).sort((a, b) => a - b))
      .toEqual([1, 1, 50, 100, 100]);
    expect(server.received.map((request) => request.query.get('query')))
      .toEqual(expect.arrayContaining(['SOL', 'USD coin']));
    expect(records).toHaveLength(250);
  });

  test.each([[[]], [['']], [['a,b']], [['x'.repeat(201)]]])('for %j never leaves', async (terms) => {
    const server = await listen(json([]));
    await expect(clientOf(server).tokens.search(terms)).rejects.toMatchObject({ code: 'SERVICE_BAD_REQUEST' });
    expect(server.received).toHaveLength(0);
  });

  test.each([
    ['an object', {}], ['null', 'null'], ['a word', '"none"'],
  ])('answered with %s is malformed', async (_name, body) => {
    await expect(clientOf(await listen(json(body))).tokens.search(['SOL']))
      .rejects.toMatchObject({ code: 'SERVICE_MALFORMED' });
  });

  test('keeps the good records when others are broken, and says which are', async () => {
    const answer = [
      tokenAnswer(FIRST), tokenAnswer(SECOND, { decimals: 'nine' }), 'a word', null,
      tokenAnswer(THIRD, { decimals: 256 }), tokenAnswer('not a mint'),
    ];
    const { records, rejected } = await clientOf(await listen(json(answer))).tokens.search(['x']);
    expect(records.map(({ id }) => id)).toEqual([FIRST]);
    expect(rejected.map(({ id }) => id)).toEqual([SECOND, undefined, undefined, THIRD, 'not a mint']);
    expect(rejected[0]!.message).toContain('decimals');
  });
});
