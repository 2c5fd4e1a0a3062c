import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Json } from '../../../../src/core/json.ts';
import { isPointer, matches, patchDocument } from '../../../../src/sandbox/service/faults/faults.ts';
import { SOL, startTestSandbox, USDC, type Answer, type TestSandbox } from '../sandbox-client.ts';

let sandbox: TestSandbox;
beforeEach(async () => {
  sandbox = await startTestSandbox({
    rateLimit: { kind: 'sliding', requests: 1_000, windowMs: 60_000, executeRequests: 100, headers: true },
  });
});
afterEach(() => sandbox.close());

const search = (): Promise<Answer> => sandbox.get('/ultra/v1/search', { query: 'SOL' });
const order = (): Promise<Answer> => sandbox.order({ inputMint: USDC, outputMint: SOL, amount: '25000000' });

async function arrange(fault: unknown, path = '/ultra/v1/search'): Promise<void> {
  const answer = await sandbox.post('/sandbox/faults', { match: { path }, fault, times: 1 }, {});
  expect(answer.status, answer.text).toBe(200);
}

describe('the fault', () => {
  it('"status" may speak in anything but JSON', async () => {
    await arrange({ kind: 'status', status: 502, body: '<h1>Bad gateway</h1>', content_type: 'text/html' });
    const { status, text, headers } = await search();
    expect([status, text, headers['content-type']])
      .toEqual([502, '<h1>Bad gateway</h1>', expect.stringContaining('text/html')]);
    expect(headers).not.toHaveProperty('x-ratelimit-remaining');
  });

  it('"malformed" may be a page of HTML with status 200', async () => {
    await arrange({ kind: 'malformed', body: '<!doctype html>', content_type: 'text/html; charset=utf-8' });
    const { status, text, headers } = await search();
    expect([status, text, headers['content-type']]).toEqual([200, '<!doctype html>', 'text/html; charset=utf-8']);
  });

  it('"headers" takes away what is told of the limit, or says something else', async () => {
    await arrange({ kind: 'headers', headers: false });
    for (const name of ['x-ratelimit-remaining', 'x-ratelimit-current', 'x-ratelimit-reset'])
      expect((await order()).headers).toHaveProperty(name);
    const silent = await search();
    for (const name of ['x-ratelimit-remaining', 'x-ratelimit-current', 'x-ratelimit-reset'])
      expect(silent.headers).not.toHaveProperty(name);
    await arrange({
      kind: 'headers', headers: { 'x-ratelimit-remaining': '-3', 'x-ratelimit-reset': false, 'retry-after': '1' },
    });
    const { headers } = await search();
    expect(headers).toMatchObject({ 'x-ratelimit-remaining': '-3', 'x-ratelimit-current': '5', 'retry-after': '1' });
    expect(headers).not.toHaveProperty('x-ratelimit-reset');
  });

  it('"drip" lets the body trickle, whole in the end', async () => {
    const { text } = await search();
    await arrange({ kind: 'drip', bytes_per_second: Buffer.byteLength(text) * 4 });
    const start = performance.now();
    const slow = await search();
    expect(performance.now() - start).toBeGreaterThan(180);
    expect(slow.body.map(({ id }: { id: string }) => id)).toEqual(JSON.parse(text).map(({ id }: { id: string }) => id));
    expect(slow.headers['content-length']).toBe(String(Buffer.byteLength(slow.text)));
  });

  it('"patch" changes what an answer says', async () => {
    await arrange({
      kind: 'patch', set: { '/outAmount': '999999999999', '/routePlan/*/swapInfo/label': '<b>' },
      remove: ['/platformFee', '/routePlan/0/bps'],
    }, '/swap/v2/order');
    const { body } = await order();
    expect(body).toMatchObject({ outAmount: '999999999999', inAmount: '25000000' });
    expect(body).not.toHaveProperty('platformFee');
    expect(body.routePlan[0]).not.toHaveProperty('bps');
    for (const { swapInfo } of body.routePlan)
      expect(swapInfo).toMatchObject({ label: '<b>', inputMint: expect.any(String) });
    expect((await order()).body.outAmount).not.toBe('999999999999');
  });

  it('"patch" says numbers exactly', async () => {
    const rule = '{"match":{"path":"/ultra/v1/search"},'
      + '"fault":{"kind":"patch","set":{"/0/fdv":18446744073709551615},"remove":[]},"times":1}';
    const response = await fetch(`${sandbox.addresses.base_url}/sandbox/faults`, {
      method: 'POST', headers: { 'content-type': 'application/json' }, body: rule,
    });
    expect(await response.text()).toBe(`{"faults":[${rule}]}`);
    expect((await search()).text).toContain('"fdv":18446744073709551615');
  });

  it.each([
    [{ kind: 'status', status: 200 }, /fault\.status: expected a whole number of 300 to 599/],
    [{ kind: 'status', status: 502, body: { a: 1 }, content_type: 'text/html' }, /fault\.body/],
    [{ kind: 'malformed', content_type: 'html' }, /content_type: expected a type/],
    [{ kind: 'malformed', content_type: 'text/html\r\nx: y' }, /content_type: expected a type/],
    [{ kind: 'drip' }, /bytes_per_second: missing/],
    [{ kind: 'drip', bytes_per_second: 0 }, /bytes_per_second: expected a whole number of 1/],
    [{ kind: 'headers' }, /fault\.headers: expected an object/],
    [{ kind: 'headers', headers: true }, /fault\.headers: expected an object/],
    [{ kind: 'headers', headers: { 'content-length': '1' } }, /"content-length" cannot be set/],
    [{ kind: 'headers', headers: { 'Transfer-Encoding': 'x' } }, /cannot be set/],
    [{ kind: 'headers', headers: { 'x y': '1' } }, /"x y" cannot be set/],
    [{ kind: 'headers', headers: { 'x-y': 'a\r\nb: c' } }, /fault\.headers\.x-y: expected a text/],
    [{ kind: 'headers', headers: { 'x-y': 1 } }, /fault\.headers\.x-y/],
    [{ kind: 'patch' }, /something to set or to remove/],
    [{ kind: 'patch', set: [] }, /fault\.set/],
    [{ kind: 'patch', remove: '/a' }, /fault\.remove/],
    [{ kind: 'patch', remove: ['a'] }, /JSON pointers .* got "a"/],
    [{ kind: 'patch', set: { '': 1 } }, /JSON pointers/],
  ])('is refused when it makes no sense: %j', async (fault, error) => {
    const answer = await sandbox.post('/sandbox/faults', { match: { path: '/x' }, fault });
    expect([answer.status, answer.body.error]).toEqual([400, expect.stringMatching(error)]);
  });

  it('of a thousand and one, the oldest is forgotten', async () => {
    await arrange({ kind: 'status', status: 599 });
    for (let i = 0; i < 1_000; i++)
      await sandbox.post('/sandbox/faults', { match: { path: '/elsewhere' }, fault: { kind: 'drop_before' } });
    expect((await search()).status).toBe(200);
    expect((await sandbox.get('/sandbox/state')).body.faults).toHaveLength(1_000);
  });
});

describe('a path to match', () => {
  it.each([
    ['/prediction/v1/events/*/markets', '/prediction/v1/events/EVT-1/markets', true],
    ['/prediction/v1/events/*/markets', '/prediction/v1/events/EVT-1/markets/2', false],
    ['/prediction/v1/events/*/markets', '/prediction/v1/events/markets', false],
    ['/prediction/v1/events/*/*', '/prediction/v1/events/suggested/x', true],
    ['/prediction/*', '/prediction/v1/events/suggested/x', true],
    ['/prediction/v1/pos*', '/prediction/v1/positions/x', true],
    ['/tokens/v2/*/1h', '/tokens/v2/toptraded/1h', true],
    ['/swap/*/order', '/swap/v2/order', true],
    ['/swap/v2/order', '/swap/v2/orders', false],
    ['/swap/v2/*', '/swap/v2', false],
    ['/*', '/', true],
  ])('%s and %s: %s', (path, found, expected) => {
    expect(matches({ path }, { method: 'GET', path: found })).toBe(expected);
    expect(matches({ path, method: 'POST' }, { method: 'GET', path: found })).toBe(false);
  });
});

describe('a patch', () => {
  const key = fc.constantFrom('a', 'b/c', 'd~e', '0', '*');
  const { value } = fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 }, fc.integer(), fc.string(), fc.constant(null), fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(key, tie('value'), { maxKeys: 3 }),
    ),
  }));
  const pointer = fc.array(fc.constantFrom('a', 'b~1c', 'd~0e', '0', '1', '*'), { minLength: 1, maxLength: 4 })
    .map((segments) => `/${segments.join('/')}`);

  it('of nothing changes nothing, and one that removes what it set leaves nothing of it', () => {
    fc.assert(fc.property(value, pointer, value, (document, place, set) => {
      expect(isPointer(place)).toBe(true);
      expect(patchDocument(document, { set: {}, remove: [] })).toEqual(document);
      const removed = patchDocument(document, { set: {}, remove: [place] });
      if (!/\/\d+$|\*/.test(place))
        expect(patchDocument(document, { set: { [place]: set }, remove: [place] })).toEqual(removed);
    }));
  });

  it('never makes an object where there was none', () => {
    expect(patchDocument({ a: 1, list: [{ b: 1 }, 5] }, {
      set: { '/a/b': 2, '/c': { d: 1 }, '/list/*/b': 3, '/list/7': 1 }, remove: ['/list/1'],
    })).toEqual({ a: 1, c: { d: 1 }, list: [{ b: 3 }] });
  });
});
