import { inspect } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { RpcClient } from '../../src/chain/rpc-client.ts';
import { createRpcClient, httpTransport, parseRpcUrl } from '../../src/chain/rpc-client.ts';
import { startHostileNode, wallClock, type Answer, type HostileNode } from './hostile-node.ts';

let node: HostileNode;
let rpc: RpcClient;

function clientOf(url: string, options: { timeoutMs?: number; signal?: AbortSignal } = {}): RpcClient {
  const transport = httpTransport({ rpcUrl: url, connectTimeoutMs: 500, maxResponseBytes: 4_096 });
  return createRpcClient({ transport, clock: wallClock, host: new URL(url).host, ...options });
}

const raw = (body: string, status = 200): Answer => (_request, response) => {
  response.writeHead(status).end(body);
};
const answered = (members: object): Answer => (request, response) => {
  response.end(JSON.stringify({ jsonrpc: '2.0', id: request.id, ...members }));
};

beforeAll(async () => {
  node = await startHostileNode();
  rpc = clientOf(node.url);
});
afterAll(async () => {
  await rpc.close();
  await node.close();
});

describe('an RPC call', () => {
  test('sends one request with method and parameters, and returns the result', async () => {
    node.result(() => 'ok');
    const before = node.requests.length;
    expect(await rpc.call('getHealth', [1, { a: true }], z.literal('ok'))).toBe('ok');
    expect(node.requests.slice(before)).toMatchObject([{ method: 'getHealth', params: [1, { a: true }] }]);
  });

  test('keeps integers beyond the range of a double', async () => {
    node.answer((request, response) => {
      response.end(`{"jsonrpc":"2.0","id":${request.id},"result":{"rentEpoch":18446744073709551615}}`);
    });
    const result = await rpc.call('getAccountInfo', [], z.object({ rentEpoch: z.bigint() }));
    expect(result.rentEpoch).toBe(18_446_744_073_709_551_615n);
  });

  test('matches many concurrent calls to their results', async () => {
    node.result(({ params }) => params[0]);
    const results = await Promise.all(Array.from({ length: 40 }, (_, index) => rpc.call('echo', [index], z.int())));
    expect(results).toEqual(Array.from({ length: 40 }, (_, index) => index));
  });
});

describe('an error answer of a node', () => {
  test('is CHAIN_RPC_ERROR with its code and a printable message', async () => {
    const error = { code: -32_005, message: `behind\u001b]0;\n${'x'.repeat(500)}`, data: { numSlotsBehind: 9 } };
    node.answer(answered({ error }));
    const failure = await rpc.call('getSlot', [], z.int()).catch((caught: unknown) => caught);
    expect(failure).toMatchObject({ code: 'CHAIN_RPC_ERROR', details: { rpcCode: -32_005, method: 'getSlot' } });
    const { message } = failure as Error;
    expect(message).toContain('\\u001b');
    expect(message.length).toBeLessThan(350);
  });

  test('carries the transaction error in the details', async () => {
    const data = { err: { InstructionError: [2, { Custom: 6_001 }] }, logs: [] };
    node.answer(answered({ error: { code: -32_002, message: 'simulation failed', data } }));
    await expect(rpc.call('sendTransaction', [], z.string()))
      .rejects.toMatchObject({ details: { transactionErrorCode: '6001' } });
  });

  test('is accepted without an id, or with another HTTP status', async () => {
    node.answer(raw('{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse error"}}'));
    await expect(rpc.call('getSlot', [], z.int()))
      .rejects.toMatchObject({ code: 'CHAIN_RPC_ERROR', details: { rpcCode: -32_700 } });
    node.answer((request, response) => {
      response.writeHead(429)
        .end(JSON.stringify({ jsonrpc: '2.0', id: request.id, error: { code: 429, message: 'slow down' } }));
    });
    await expect(rpc.call('getSlot', [], z.int()))
      .rejects.toMatchObject({ code: 'CHAIN_RPC_ERROR', details: { rpcCode: 429 } });
  });
});

describe('an invalid answer is CHAIN_RESPONSE_INVALID', () => {
  test.each<[string, Answer]>([
    ['no JSON', raw('<html>')],
    ['nothing', raw('')],
    ['cut', raw('{"jsonrpc":"2.0","id":1,"resu')],
    ['no object', raw('[1]')],
    ['a number', raw('7')],
    ['no result', answered({})],
    ['a result of another kind', answered({ result: { slot: 1 } })],
    ['a negative number', answered({ result: -1 })],
    ['a fraction', answered({ result: 1.5 })],
    ['an error without code', answered({ error: { message: 'no' } })],
    ['the answer to another question', (_request, response) =>
      response.end('{"jsonrpc":"2.0","id":999999,"result":1}')],
    ['an error of another question', (_request, response) =>
      response.end('{"jsonrpc":"2.0","id":999999,"error":{"code":1,"message":"x"}}')],
    ['an id that is a text', (request, response) => response.end(`{"jsonrpc":"2.0","id":"${request.id}","result":1}`)],
    ['deep nesting', raw('['.repeat(2_000))],
    ['more than the cap', raw(`"${'x'.repeat(5_000)}"`)],
  ])('%s', async (_what, answer) => {
    node.answer(answer);
    const failure = await rpc.call('getSlot', [], z.int().nonnegative()).catch((caught: unknown) => caught);
    expect(failure).toMatchObject({ code: 'CHAIN_RESPONSE_INVALID', details: { method: 'getSlot' } });
    expect((failure as Error).message).not.toContain('not-to-be-shown');
  });
});

describe('the key in a node’s address', () => {
  const KEY = 'ZodAbCdZWUe7cq9Lz8TFTRPtqFvbbQnsJntJf';

  test.each([
    `/v2/${KEY}`, `/?api-key=${KEY}`, `/?${KEY}`,
  ])('is repeated in nothing of what it says where it stands as %s', async (where) => {
    const url = new URL(where, node.url).href;
    const answers: Answer[] = [
      answered({ error: { code: -32_000, message: `unknown key ${KEY}, or ${KEY.slice(3, 22)}` } }),
      raw(`<html>${KEY}`, 200), raw(`<html>${KEY}`, 401),
      (request, response) => response.end(JSON.stringify({ jsonrpc: '2.0', id: KEY, result: request.id })),
      (request, response) => response.end(JSON.stringify({ jsonrpc: '2.0', id: request.id, result: { [KEY]: KEY } })),
    ];
    const client = clientOf(url);
    for (const answer of answers) {
      node.answer(answer);
      const failure =
        await client.call('getSlot', [], z.strictObject({ slot: z.int() })).catch((caught: unknown) => caught) as Error;
      expect(failure.name).toBe('GannetError');
      const told = inspect(failure, { depth: 9, showHidden: true });
      for (let at = 0; at + 16 <= KEY.length; at++) expect(told).not.toContain(KEY.slice(at, at + 16));
    }
    await client.close();
  });
});

describe('no answer is CHAIN_UNREACHABLE', () => {
  test.each<[string, Answer]>([
    ['an error page', raw('<h1>502 Bad Gateway</h1>', 502)],
    ['a redirection, which is not followed', (_request, response) =>
      response.writeHead(307, { location: '/elsewhere' }).end()],
    ['a result with the status of an error', (request, response) =>
      response.writeHead(503).end(`{"id":${request.id},"result":1}`)],
    ['a connection that is cut before', (_request, response) => response.destroy()],
    ['a connection that is cut within', (_request, response) => {
      response.writeHead(200, { 'content-length': 100 }).write('{"id"', () => response.destroy());
    }],
  ])('%s', async (_what, answer) => {
    node.answer(answer);
    const before = node.requests.length;
    const failure = await rpc.call('getSlot', [], z.int()).catch((caught: unknown) => caught);
    expect(failure).toMatchObject({ code: 'CHAIN_UNREACHABLE' });
    expect((failure as Error).message).not.toContain('not-to-be-shown');
    expect(node.requests.length).toBe(before + 1);
  });

  test('an address without a server', async () => {
    const gone = await startHostileNode();
    await gone.close();
    const client = clientOf(gone.url);
    await expect(client.call('getSlot', [], z.int()))
      .rejects.toMatchObject({ code: 'CHAIN_UNREACHABLE', message: expect.stringContaining('check rpc_url') });
    await client.close();
  });

  test('a node that never answers, at the timeout', async () => {
    node.answer(() => undefined);
    const client = clientOf(node.url, { timeoutMs: 60 });
    await expect(client.call('getSlot', [], z.int()))
      .rejects.toMatchObject({ code: 'CHAIN_UNREACHABLE', message: expect.stringContaining('no answer within 60 ms') });
    await client.close();
  });

  test('a node that stops in the middle of its answer, at the timeout', async () => {
    node.answer((_request, response) => response.writeHead(200).write('{'));
    const client = clientOf(node.url, { timeoutMs: 60 });
    await expect(client.call('getSlot', [], z.int()))
      .rejects.toMatchObject({ message: expect.stringContaining('no answer within 60 ms') });
    await client.close();
  });

  test('a call that is aborted by a signal or by closing', async () => {
    const arrived = Promise.withResolvers<void>();
    node.answer(() => arrived.resolve());
    const controller = new AbortController();
    const client = clientOf(node.url, { signal: controller.signal });
    const call = client.call('getSlot', [], z.int());
    const expectation = expect(call)
      .rejects.toMatchObject({ code: 'CHAIN_UNREACHABLE', message: expect.stringContaining('aborted') });
    await arrived.promise;
    controller.abort();
    await expectation;
    await expect(client.call('getSlot', [], z.int()))
      .rejects.toMatchObject({ message: expect.stringContaining('aborted') });

    const second = clientOf(node.url);
    const open = expect(second.call('getSlot', [], z.int()))
      .rejects.toMatchObject({ message: expect.stringContaining('aborted') });
    await second.close();
    await open;
    await client.close();
  });
});

describe('an address', () => {
  test.each([
    '', 'localhost:8899', 'ftp://host', 'wss://host', 'http://', 'http://user:secret@host',
  ])('is refused where it is "%s", without being shown', (text) => {
    expect(() => parseRpcUrl(text))
      .toThrow(expect.objectContaining({ code: 'CONFIG_INVALID', message: expect.not.stringContaining('secret') }));
  });
});
