import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { seededRandom } from '../../../src/core/random.ts';
import { createChain } from '../../../src/sandbox/chain/chain.ts';
import { rpcMethods, startRpc } from '../../../src/sandbox/rpc/server.ts';
import { walletOf } from '../chain/market-fixture.ts';
import { sendRaw } from '../service/raw-socket.ts';

const chain = createChain({ genesisUnixSeconds: 1_780_000_000 });
let rpc: Awaited<ReturnType<typeof startRpc>>;

beforeAll(async () => {
  rpc = await startRpc({ chain, port: 0, host: '127.0.0.1' });
});

afterAll(async () => {
  await rpc.close();
});

async function post(body: string | Uint8Array<ArrayBuffer>): Promise<{ status: number; text: string }> {
  const response = await fetch(rpc.url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  return { status: response.status, text: await response.text() };
}

async function errorOf(body: string): Promise<unknown> {
  return JSON.parse((await post(body)).text) as unknown;
}

function codeOf(code: number, id: unknown = null): object {
  return { jsonrpc: '2.0', id, error: { code, message: expect.any(String) } };
}

describe('a body that is no call', () => {
  test.each([
    ['nothing', '', -32700],
    ['no JSON', '{"jsonrpc":', -32700],
    ['two documents', '{} {}', -32700],
    ['bytes that are no text', '\uFFFD\u0000', -32700],
    ['a number', '7', -32600],
    ['null', 'null', -32600],
    ['an empty batch', '[]', -32600],
    ['an empty object', '{}', -32600],
    ['another version', '{"jsonrpc":"1.0","id":null,"method":"getSlot"}', -32600],
    ['a method that is no name', '{"jsonrpc":"2.0","id":null,"method":["getSlot"]}', -32600],
    ['an id that is an object', '{"jsonrpc":"2.0","id":{},"method":"getSlot"}', -32600],
    ['a batch of more calls than allowed', `[${'1,'.repeat(5_000)}1]`, -32600],
    ['brackets without end', '['.repeat(500_000), -32700],
  ])('%s gets a JSON-RPC error', async (_, body, code) => {
    expect(await errorOf(body)).toEqual(codeOf(code));
  });

  test('nested very deeply, with a long number inside, is answered all the same', async () => {
    const deep = `${'['.repeat(200_000)}12345678901234567890${']'.repeat(200_000)}`;
    expect(await errorOf(`{"jsonrpc":"2.0","id":1,"method":"getBalance","params":[${deep}]}`))
      .toMatchObject({ error: { code: expect.any(Number) } });
  });

  test('names of the object\'s own inheritance are no methods', async () => {
    for (const method of ['constructor', '__proto__', 'toString', 'hasOwnProperty']) {
      expect(await errorOf(JSON.stringify({ jsonrpc: '2.0', id: 4, method }))).toEqual(codeOf(-32601, 4));
    }
  });

  test('parameters by name are refused', async () => {
    expect(await errorOf('{"jsonrpc":"2.0","id":"x","method":"getBalance","params":{"a":1}}'))
      .toEqual(codeOf(-32602, 'x'));
  });

  test('of more than a megabyte is refused', async () => {
    const { status, text } = await post(`"${'x'.repeat(1_100_000)}"`);
    expect(status).toBe(413);
    expect(JSON.parse(text)).toEqual(codeOf(-32600));
  });

  test('is not asked for by GET', async () => {
    const response = await fetch(rpc.url);
    expect(response.status).toBe(405);
    expect(await response.json()).toEqual(codeOf(-32600));
  });
});

describe('a batch', () => {
  test('answers each call in order, and none of the notifications', async () => {
    const body = '[{"jsonrpc":"2.0","id":1,"method":"getHealth"},{"jsonrpc":"2.0","method":"getHealth"},5,'
      + '{"jsonrpc":"2.0","id":"b","method":"nope"}]';
    expect(await errorOf(body)).toEqual([{ jsonrpc: '2.0', id: 1, result: 'ok' }, codeOf(-32600), codeOf(-32601, 'b')]);
  });

  test('whose answers would be too large together is refused, and the next one is answered', async () => {
    const schedule = { jsonrpc: '2.0', id: 1, method: 'getLeaderSchedule' };
    expect(await errorOf(JSON.stringify(Array.from({ length: 1_000 }, () => schedule)))).toEqual(codeOf(-32600, null));
    expect(await post(JSON.stringify([{ jsonrpc: '2.0', id: 1, method: 'getHealth' }])))
      .toMatchObject({ status: 200, text: '[{"jsonrpc":"2.0","id":1,"result":"ok"}]' });
  });

  test('of notifications alone gets no answer', async () => {
    expect(await post('[{"jsonrpc":"2.0","method":"getHealth"}]')).toEqual({ status: 204, text: '' });
  });
});

describe('parameters that are none', () => {
  const methods = Object.keys(rpcMethods(chain));
  const address = walletOf('another').address;
  const junk: readonly unknown[] = [
    null, true, -1, 1.5, 1e300, '', 'x', address, `${address}1`, '1'.repeat(44), '1'.repeat(2_000), 'A'.repeat(1_644),
    [], [null], [address], ['x'.repeat(90)], Array(300).fill(address), {}, { commitment: 5 },
    { commitment: 'max' }, { encoding: 'xml' }, { encoding: 'base64' }, { minContextSlot: -1 },
    { minContextSlot: 1e15 }, { filters: [{ memcmp: {} }] }, { filters: 7 }, { dataSlice: { offset: -1 } },
    { mint: 'x' }, { programId: address }, { accounts: { addresses: ['x'] } }, { limit: 0 }, { before: 'x' },
    { sigVerify: 'yes' }, { __proto__: null }, '\u0000'.repeat(32), 'ÿ'.repeat(44), Buffer.alloc(64).toString('base64'),
  ];

  test.each(methods)('%s answers each with a result or an error of the caller', async (method) => {
    const random = seededRandom(method);
    const pick = (): unknown => junk[Math.floor(random() * junk.length)];
    // A leader schedule has three megabytes.
    const calls = Array.from({ length: method === 'getLeaderSchedule' ? 12 : 150 }, (_, id) =>
      ({ jsonrpc: '2.0', id, method, params: Array.from({ length: Math.floor(random() * 4) }, pick) }));
    const answers =
      (await errorOf(JSON.stringify(calls))) as { id: number; error?: { code: number; message: string } }[];
    expect(answers.map(({ id }) => id)).toEqual(calls.map(({ id }) => id));
    const internal = answers.filter(({ error }) => error?.code === -32603)
      .map(({ id, error }) => ({ call: calls[id], error }));
    expect(internal).toEqual([]);
    for (const { error } of answers) expect((error?.message ?? '').length).toBeLessThan(400);
  });

  test.each([
    ['base58', '1'.repeat(1_683)],
    ['base58', 'z'.repeat(1_600)],
    ['base58', '0OIl'],
    ['base64', 'AAA'],
    ['base64', 'A'.repeat(1_640)],
    ['base64', 'A'.repeat(50_000)],
    ['base64', `AQ${'A'.repeat(86)}==`],
  ])('a transaction in %s that is none is refused', async (encoding, text) => {
    for (const method of ['sendTransaction', 'simulateTransaction']) {
      expect(await errorOf(JSON.stringify(
        { jsonrpc: '2.0', id: 1, method, params: [text, { encoding, skipPreflight: method === 'sendTransaction' }] },
      ))).toEqual(
        codeOf(-32602, 1),
      );
    }
  });
});

describe('an airdrop that cannot land', () => {
  test.each([
    ['too little for the rent of a new account', [walletOf('absent yet').address, 1]],
    ['to the system program', ['11111111111111111111111111111111', 5_000_000]],
  ])('%s is the fault of who asked', async (_, params) => {
    expect(await errorOf(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'requestAirdrop', params })))
      .toEqual(codeOf(-32602, 1));
  });
});

describe('what is no request', () => {
  let impatient: Awaited<ReturnType<typeof startRpc>>;
  beforeAll(async () => {
    impatient = await startRpc({ chain, port: 0, host: '127.0.0.1', slowestRequestMs: 200 });
  });
  afterAll(() => impatient.close());

  test.each([
    ['no HTTP', '\u0016\u0003\u0001\r\n\r\n', 400],
    [
      'a length and chunks',
      'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n', 400,
    ],
    ['headers without end', `POST / HTTP/1.1\r\nhost: x\r\nx-bomb: ${'x'.repeat(60_000)}\r\n\r\n`, 431],
    ['half a header, and then nothing', 'POST / HT', 408],
    [
      'an expectation',
      'POST / HTTP/1.1\r\nhost: x\r\nexpect: wonders\r\nconnection: close\r\ncontent-length: 0\r\n\r\n', 417,
    ],
  ])('%s is told so in JSON-RPC, on both ports', async (_, bytes, status) => {
    for (const url of [impatient.url, impatient.wsUrl.replace('ws', 'http')]) {
      const answer = await sendRaw(url, bytes, { end: false });
      expect([answer.status, answer.body]).toEqual([status, expect.stringContaining('"code":-32600')]);
    }
  });

  test('half a body, and then nothing, is given up', async () => {
    const bytes = 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\n\r\n[';
    expect((await sendRaw(impatient.url, bytes, { end: false })).status).toBe(408);
    // There no client waits for it.
    expect((await sendRaw(impatient.wsUrl.replace('ws', 'http'), bytes, { end: false })).status).toBe(426);
  });

  test('an upgrade is what the websocket\'s own port wants', async () => {
    const response = await fetch(impatient.wsUrl.replace('ws', 'http'));
    expect([response.status, await response.json()]).toEqual([426, codeOf(-32600)]);
  });
});

describe('connections', () => {
  test('that break off in the middle of a request leave the others in peace', async () => {
    const { port } = new URL(rpc.url);
    for (const fragment of [
      'POST / HT', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 500\r\n\r\n{"jso',
      'GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: short\r\n\r\n',
      '\u0000\u0001\u0002\r\n\r\n',
    ]) {
      await new Promise<void>((resolve, reject) => {
        const socket = connect(Number(port), '127.0.0.1', () =>
          socket.write(fragment, () => setTimeout(() => socket.destroy(), 5)));
        socket.on('close', () => resolve());
        socket.on('error', reject);
      });
    }
    expect((await post('{"jsonrpc":"2.0","id":1,"method":"getHealth"}')).text)
      .toBe('{"jsonrpc":"2.0","id":1,"result":"ok"}');
  });

  test('to a port that is taken fail with what to do', async () => {
    const port = Number(new URL(rpc.url).port);
    await expect(startRpc({ chain, port, host: '127.0.0.1' }))
      .rejects.toMatchObject({ code: 'SANDBOX_FAILED', message: expect.stringContaining(`127.0.0.1:${port}`) });
  });
});
