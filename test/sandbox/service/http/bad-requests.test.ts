import { Pool } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sendRaw } from '../raw-socket.ts';
import { KEY, SOL, startTestSandbox, USDC, type Answer, type TestSandbox } from '../sandbox-client.ts';

let sandbox: TestSandbox;
let pool: Pool;
beforeAll(async () => {
  sandbox = await startTestSandbox({ slowestRequestMs: 300 });
  pool = new Pool(sandbox.addresses.base_url, { connections: 2 });
});
afterAll(async () => {
  await pool.close();
  await sandbox.close();
});

/** Asks with a query, or posts a body, written out to the byte. */
async function send(
  path: string, options: { method?: string; body?: string | Uint8Array; type?: string } = {},
): Promise<Answer> {
  const { method = 'GET', body, type = 'application/json' } = options;
  const response = await pool.request({
    method, path, headers: { ...KEY, ...(body === undefined ? {} : { 'content-type': type }) },
    ...(body === undefined ? {} : { body }),
  });
  const text = await response.body.text();
  const isJson = String(response.headers['content-type']).startsWith('application/json');
  return { status: response.statusCode, headers: response.headers, text, body: isJson && text !== ''
    ? JSON.parse(text) : undefined };
}

const order = (query: string): Promise<Answer> => send(`/swap/v2/order?inputMint=${USDC}&outputMint=${SOL}&${query}`);
const post = (path: string, body: string | Uint8Array): Promise<Answer> => send(path, { method: 'POST', body });

describe('a parameter', () => {
  it.each([
    ['leading zeros', 'amount=0005000000'],
    ['percent-encoding where none is needed', '%61mount=%35000000'],
    [
      'unknown ones beside it, however named',
      'amount=5000000&nonsense=1&nonsense=2&a[]=1&__proto__=x&constructor=y&%F0%9F%92%A5=z&=&&lonely',
    ],
    ['spaces around the names of a list', 'amount=5000000&excludeRouters=rfqz,%20routerA'],
    ['spaces as plus signs', 'amount=5000000&excludeRouters=rfqz,+routerA'],
  ])('may come with %s', async (_name, query) => {
    const answer = await order(query);
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body.inAmount).toBe('5000000');
  });

  it.each([
    ['twice', 'amount=5000000&amount=5000000', /amount: expected one value, got several/],
    ['twice, encoded differently', 'amount=5000000&%61mount=5000000', /amount: expected one value/],
    ['without a value', 'amount', /amount: expected a value/],
    ['with an empty value', 'amount=', /amount: expected a value/],
    ['with a sign', 'amount=-5', /amount: expected an integer/],
    ['with an encoded plus', 'amount=%2B5', /amount: expected an integer/],
    ['with a space', 'amount=+5', /amount: expected an integer/],
    ['with a point', 'amount=1.5', /amount: expected an integer/],
    ['with an exponent', 'amount=1e6', /amount: expected an integer/],
    ['in another base', 'amount=0x10', /amount: expected an integer/],
    ['in digits of another script', 'amount=%D9%A1%D9%A2', /amount: expected an integer/],
    ['of nothing', 'amount=0', /amount: expected an integer of 1/],
    ['beyond u64', 'amount=18446744073709551616', /amount: expected an integer/],
    ['of four thousand digits', `amount=${'9'.repeat(4_000)}`, /amount: expected an integer/],
    ['with a zero byte', 'amount=5%00', /amount: expected text without control characters/],
    ['with an end of line', 'amount=5%0D%0A', /amount: expected text without control characters/],
    ['as an array of another convention', 'amount[]=5', /amount: missing/],
    ['in another case', 'Amount=5', /amount: missing/],
    ['with a broken escape', 'amount=5%', /the query: expected percent-encoded UTF-8/],
    ['with bytes that are no UTF-8', 'amount=5&x=%ff', /the query: expected percent-encoded UTF-8/],
    [
      'in a list with a hole', 'amount=5&excludeRouters=rfqz,,routerA',
      /excludeRouters: expected names between the commas/,
    ],
    ['as a number out of range', 'amount=5&slippageBps=10001', /slippageBps: expected an integer of 0 to 10000/],
    ['as a negative number', 'amount=5&slippageBps=-1', /slippageBps/],
    [
      'of hidden characters', 'amount=5&swapMode=%E2%80%AEExactIn',
      /swapMode: expected one of ExactIn, got "\\u202eExactIn"/,
    ],
  ])('is refused %s', async (_name, query, error) => {
    const answer = await order(query);
    expect([answer.status, answer.body.error]).toEqual([400, expect.stringMatching(error)]);
  });
});

describe('a body', () => {
  it.each([
    ['nothing', '', 400, /expected JSON, got nothing/],
    ['half of it', '{"requestId":', 400, /the body/],
    ['two documents', '{} {}', 400, /the body/],
    ['single quotes', "{'a':1}", 400, /the body/],
    ['a comma too many', '{"a":1,}', 400, /the body/],
    ['a number that is none', '{"a":NaN}', 400, /the body/],
    ['a number that no double holds', '{"a":1e999}', 400, /the number 1e999 is too large/],
    ['bytes that are no UTF-8', new Uint8Array([0x22, 0xff, 0x22]), 400, /expected UTF-8/],
    ['a member twice', '{"requestId":"a","requestId":"b"}', 400, /"requestId" stands there twice/],
    ['a member twice, escaped once', '{"requestId":"a","request\\u0049d":"b"}', 400, /"requestId" stands there twice/],
    ['the prototype', '{"__proto__":{"requestId":"x"}}', 400, /__proto__/],
    ['the prototype, escaped', '{"\\u005f_proto__":{}}', 400, /__proto__/],
    ['levels without end', `${'['.repeat(20_000)}${']'.repeat(20_000)}`, 400, /levels of nesting/],
    [
      'levels without end, and a long number', `${'['.repeat(20_000)}12345678901234567890${']'.repeat(20_000)}`, 400,
      /levels of nesting/,
    ],
    ['more than there is room for', JSON.stringify({ requestId: 'x'.repeat(70_000) }), 413, /too large/],
  ])('is refused when it is %s', async (_name, body, status, error) => {
    const answer = await post('/swap/v2/execute', body);
    expect([answer.status, answer.body.error]).toEqual([status, expect.stringMatching(error)]);
  });

  it('is unprocessable where the superseded swap cannot read it', async () => {
    expect((await post('/swap/v1/swap', '{"userPublicKey":')).status).toBe(422);
    expect((await post('/swap/v2/execute', '{"userPublicKey":')).status).toBe(400);
  });

  it.each([
    '', 'null', '5', '"x"', '[]', '{}', '[{}]', 'true',
  ])('of the wrong shape, %j, is a 4xx everywhere', async (body) => {
    for (const path of [
      '/swap/v2/execute', '/swap/v1/swap', '/swap/v1/swap-instructions', '/sandbox/fund', '/sandbox/price',
      '/sandbox/time', '/sandbox/faults',
    ]) {
      const answer = await post(path, body);
      expect([path, answer.status, typeof answer.body])
        .toEqual([path, expect.toSatisfy((status: number) => status >= 400 && status < 500), 'object']);
    }
  });

  it.each([
    'text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'application/octet-stream',
    'text/json', 'x',
  ])(
    'of type %s is a 415', async (type) => {
      const answer = await send('/swap/v2/execute', { method: 'POST', body: '{"requestId":"x"}', type });
      expect([answer.status, answer.body.error]).toEqual([415, expect.any(String)]);
    },
  );

  it('may say its charset', async () => {
    const answer = await send('/swap/v2/execute', {
      method: 'POST', body: '{"requestId":"x","signedTransaction":"AAAA"}', type: 'application/json; charset=utf-8',
    });
    expect([answer.status, answer.body.code]).toEqual([400, -1]);
  });
});

describe('a method', () => {
  it.each([
    ['POST', '/swap/v2/order', 'GET'], ['HEAD', '/swap/v2/order', 'GET'], ['OPTIONS', '/swap/v2/build', 'GET'],
    ['DELETE', '/ultra/v1/search', 'GET'], ['GET', '/swap/v2/execute', 'POST'], ['PUT', '/swap/v2/execute', 'POST'],
    ['PATCH', '/prediction/v1/orderbook/x', 'GET'], ['GET', '/sandbox/fund', 'POST'], ['POST', '/sandbox/state', 'GET'],
  ] as const)('%s of %s is not allowed, and %s is named', async (method, path, allow) => {
    const answer = await send(path, { method, ...(method === 'POST' ? { body: 'no JSON', type: 'text/plain' } : {}) });
    expect([answer.status, answer.headers['allow']]).toEqual([405, allow]);
    if (method !== 'HEAD') expect(answer.body.error).toBe(`${method} is not for ${path}; use ${allow}`);
  });
});

describe('a path', () => {
  it('that leads nowhere is told with the nearest one', async () => {
    const answer = await send('/swap/v2/ordr?inputMint=x');
    expect([answer.status, answer.body])
      .toEqual([404, { error: 'No endpoint GET /swap/v2/ordr; did you mean /swap/v2/order?' }]);
    expect((await send('/sandbox/nothing')).body).toEqual({ error: 'No endpoint GET /sandbox/nothing' });
  });

  it('has one plain form', async () => {
    expect((await send(`/%73wap/v2/%6Frder?inputMint=${USDC}&outputMint=${SOL}&amount=5`)).status).toBe(200);
    for (const path of [
      '/swap/v2/order/', '//swap/v2/order', '/swap/v2/../v2/order', '/SWAP/v2/order', '/swap%2Fv2/order',
      '/swap/v2/order%00', '/swap/v2/order;a=1',
    ]) {
      expect([path, (await send(path)).status]).toEqual([path, 404]);
    }
  });

  it.each([
    '/%zz', '/prediction/v1/orderbook/%ff', `/prediction/v1/orderbook/${'x'.repeat(9_000)}`,
  ])('%.30s is refused in JSON', async (path) => {
    const answer = await send(path);
    expect([answer.status, answer.body.error])
      .toEqual([expect.toSatisfy((status: number) => status >= 400 && status < 500), expect.any(String)]);
    expect(answer.headers['x-api-gateway-request-id']).toMatch(/^[\da-f-]{36}$/);
  });
});

const base = (): string => sandbox.addresses.base_url;

describe('on the wire', () => {
  const HOST = 'host: x\r\nx-api-key: test\r\n';
  const EXECUTE = `POST /swap/v2/execute HTTP/1.1\r\n${HOST}`;

  it.each([
    [
      'both a length and chunks',
      `${EXECUTE}content-type: application/json\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
      400,
    ],
    ['two lengths', `POST /swap/v2/execute HTTP/1.1\r\n${HOST}content-length: 2\r\ncontent-length: 3\r\n\r\n{}`, 400],
    ['a length that is none', `POST /swap/v2/execute HTTP/1.1\r\n${HOST}content-length: -1\r\n\r\n`, 400],
    [
      'malformed chunks',
      `${EXECUTE}content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`, 400,
    ],
    ['another transfer encoding', `POST /swap/v2/execute HTTP/1.1\r\n${HOST}transfer-encoding: gzip, x\r\n\r\n`, 400],
    ['a space before a colon', 'GET /swap/v2/order HTTP/1.1\r\nhost : x\r\n\r\n', 400],
    ['a folded header', `GET /swap/v2/order HTTP/1.1\r\n${HOST}x-a: 1\r\n 2\r\n\r\n`, 400],
    ['no host', 'GET /swap/v2/order HTTP/1.1\r\nx-api-key: test\r\nconnection: close\r\n\r\n', 400],
    ['a zero byte in a header', `GET /swap/v2/order HTTP/1.1\r\n${HOST}x-a: \u0000\r\n\r\n`, 400],
    ['an unknown method', `BREW /swap/v2/order HTTP/1.1\r\n${HOST}\r\n`, 400],
    ['a version of the future', `GET /swap/v2/order HTTP/9.9\r\n${HOST}\r\n`, 400],
    ['the first line of another protocol', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
    ['no HTTP at all', '\u0016\u0003\u0001 this is not HTTP\r\n\r\n', 400],
    ['headers without end', `GET / HTTP/1.1\r\n${HOST}${'x-bomb: 1234567890\r\n'.repeat(2_000)}\r\n`, 431],
    ['one endless header', `GET / HTTP/1.1\r\n${HOST}x-bomb: ${'x'.repeat(60_000)}\r\n\r\n`, 431],
    ['an endless path', `GET /${'x'.repeat(60_000)} HTTP/1.1\r\n${HOST}\r\n`, 431],
    ['an expectation', `${EXECUTE}expect: the-impossible\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`, 417],
    ['a tunnel', `CONNECT example.test:443 HTTP/1.1\r\n${HOST}\r\n`, 405],
    ['an asterisk', `OPTIONS * HTTP/1.1\r\n${HOST}connection: close\r\n\r\n`, 404],
  ])('%s is refused in JSON', async (_name, bytes, status) => {
    const answer = await sendRaw(base(), bytes);
    expect([answer.status, JSON.parse(answer.body)]).toEqual([status, { error: expect.any(String) }]);
  });

  it('a request as to a proxy is answered like any other, faults included', async () => {
    await sandbox.post('/sandbox/faults', {
      match: { path: '/ultra/v1/search' }, fault: { kind: 'status', status: 503 }, times: 1,
    });
    const request = `GET ${base()}/ultra/v1/search?query=SOL#part HTTP/1.1\r\n${HOST}connection: close\r\n\r\n`;
    expect((await sendRaw(base(), request)).status).toBe(503);
    expect((await sendRaw(base(), request)).status).toBe(200);
  });

  it('an answer follows each of several requests in one breath', async () => {
    const one = `GET /ultra/v1/search?query=SOL HTTP/1.1\r\n${HOST}\r\n`;
    const { body } = await sendRaw(base(), `${one.repeat(3)}GET /nowhere HTTP/1.1\r\n${HOST}connection: close\r\n\r\n`);
    expect(body.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(2);
    expect(body).toContain('HTTP/1.1 404');
  });

  it('an expectation in the same breath as a request before it is refused in its turn', async () => {
    const { status, body } = await sendRaw(
      base(),
      `GET /ultra/v1/search?query=SOL HTTP/1.1\r\n${HOST}\r\nGET /nowhere HTTP/1.1\r\n${HOST}expect: wonders\r\n\r\n`,
    );
    expect(status).toBe(200);
    expect(body).toContain('HTTP/1.1 417');
    expect((await order('amount=5000000')).status).toBe(200);
  });

  it('an upgrade that is not offered is an ordinary request', async () => {
    const answer =
      await sendRaw(base(), `GET /nowhere HTTP/1.1\r\n${HOST}connection: upgrade, close\r\nupgrade: websocket\r\n\r\n`);
    expect(answer.status).toBe(404);
  });

  it.each([
    ['its headers', 'GET /swap/v2/order HTTP/1.1\r\nhost:'],
    [
      'its body',
      `POST /swap/v2/execute HTTP/1.1\r\n${HOST}content-type: application/json\r\ncontent-length: 500\r\n\r\n{"request`,
    ],
  ])('a request that never ends %s is given up', async (_name, bytes) => {
    const answer = await sendRaw(base(), bytes, { end: false });
    expect([answer.status, JSON.parse(answer.body)]).toEqual([408, { error: 'the request did not arrive in time' }]);
  });

  it('a connection that is dropped in the middle harms no other', async () => {
    await sendRaw(
      base(),
      `POST /swap/v2/execute HTTP/1.1\r\n${HOST}content-type: application/json\r\ncontent-length: 500\r\n\r\n{"request`,
    );
    expect((await order('amount=5000000')).status).toBe(200);
  });
});
