import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { GannetError } from '../../src/core/errors.ts';
import { ASKED, ASKED_BY_TAKER, orderAnswer, takerAnswer } from './answers.ts';
import type { Responder } from './loopback.ts';
import { clientOf, json, listen } from './loopback.ts';

const QUICK = { connectMs: 500, headersMs: 500, bodyMs: 2_000, totalMs: 2_000, executeMs: 2_000, errorBodyMs: 100 };
const ORDER = JSON.stringify(orderAnswer());

async function faultOf(promise: Promise<unknown>): Promise<GannetError> {
  const fault = await promise.then(() => undefined, (thrown: unknown) => thrown as GannetError);
  expect(fault?.name).toBe('GannetError');
  return fault!;
}

/** Answers with a head and pieces of a body written straight onto the connection. */
function onTheWire(head: string, write: (socket: Socket) => void): Responder {
  return (_request, response) => {
    const socket = response.socket!;
    socket.write(`HTTP/1.1 ${head}\r\n\r\n`);
    write(socket);
  };
}

async function orderFault(respond: Responder, options = {}): Promise<GannetError> {
  return faultOf(clientOf(await listen(respond), { timeouts: QUICK, ...options }).swap.order(ASKED));
}

describe('an answer', () => {
  test('in an encoding that was not asked for is refused before it is decoded', async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024, 0x20));
    const server = await listen((_request, response) =>
      void response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(bomb));
    const fault = await faultOf(clientOf(server).swap.order(ASKED));
    expect(server.received[0]!.headers['accept-encoding']).toBe('identity');
    expect([fault.code, fault.message]).toEqual(['SERVICE_MALFORMED', expect.stringContaining('"gzip"')]);
  });

  test('that says it has no encoding is one like any other', async () => {
    const server = await listen(json(orderAnswer(), { headers: { 'content-encoding': 'Identity' } }));
    expect((await clientOf(server).swap.order(ASKED)).router).toBe('iris');
  });

  test.each([
    'text/plain', 'application/octet-stream', 'application/json; charset=utf-8', 'nonsense',
  ])('of the type %s is JSON all the same', async (type) => {
    expect((await clientOf(await listen(json(orderAnswer(), { headers: { 'content-type': type } }))).swap.order(
      ASKED,
    )).router).toBe('iris');
  });

  test.each<[string, string, string]>([
    ['a member twice', ORDER.replace('"router"', '"outAmount":"1","router"'), '"outAmount" twice'],
    [
      'a member that reaches for the nature of objects',
      ORDER.replace('"router"', '"__proto__":{"router":"x"},"router"'), '__proto__',
    ],
    ['a number without end', ORDER.replace('"1000000000"', '1'.repeat(1_000_000)), 'at most 100 characters'],
    ['a number beyond all doubles', ORDER.replace('"1000000000"', '1e999'), 'inAmount'],
    ['NaN', ORDER.replace('"1000000000"', 'NaN'), 'expected JSON'],
    ['Infinity', ORDER.replace('"1000000000"', '-Infinity'), 'expected JSON'],
    ['Infinity in text', ORDER.replace('"1000000000"', '"Infinity"'), 'inAmount'],
    ['an amount with decimals that a double can hold', ORDER.replace('"1000000000"', '1000000000.5'), 'inAmount'],
    [
      'an amount in more digits than a double can hold, and a point',
      ORDER.replace('"150000000"', '9007199254740993.0'), 'outAmount',
    ],
    ['objects without end', `[${'{},'.repeat(300_000)}{}]`, '250000 objects'],
    ['a list of lists of lists', '[[],'.repeat(200) + '1' + ']'.repeat(200), '64 levels'],
  ])('with %s is SERVICE_MALFORMED', async (_name, body, words) => {
    const fault = await orderFault(json(body));
    expect([fault.code, fault.message]).toEqual(['SERVICE_MALFORMED', expect.stringContaining(words)]);
    expect(fault.message.length).toBeLessThan(400);
  });

  test('byte by byte in pieces is given up long before its size is', async () => {
    const pieces = Buffer.from('1\r\n \r\n'.repeat(150_000));
    const fault = await orderFault(onTheWire('200 OK\r\ntransfer-encoding: chunked', (socket) => socket.write(pieces)));
    expect([fault.code, fault.message]).toEqual(['SERVICE_MALFORMED', expect.stringContaining('100000 pieces')]);
  });

  test('that is longer than it said is cut there, and the next one is its own', async () => {
    let count = 0;
    const server = await listen((request, response) => {
      count += 1;
      if (count === 1) onTheWire(`200 OK\r\ncontent-length: 20`, (socket) => socket.write(ORDER))(request, response);
      else json(ORDER)(request, response);
    });
    const { swap } = clientOf(server, { timeouts: QUICK });
    expect((await faultOf(swap.order(ASKED))).code).toBe('SERVICE_MALFORMED');
    expect((await swap.order(ASKED)).router).toBe('iris');
  });

  test('that is shorter than it said is no answer', async () => {
    const fault = await orderFault(onTheWire(`200 OK\r\ncontent-length: ${ORDER.length + 1}`, (socket) =>
      socket.end(ORDER)));
    expect(['SERVICE_UNREACHABLE', 'SERVICE_MALFORMED']).toContain(fault.code);
  });

  test('with headers without end is SERVICE_MALFORMED', async () => {
    const fault = await orderFault(onTheWire(`200 OK\r\nx-long: ${'x'.repeat(200_000)}`, () => undefined));
    expect(fault.code).toBe('SERVICE_MALFORMED');
  });

  test('of 204 has nothing in it', async () => {
    expect((await orderFault((_request, response) => void response.writeHead(204).end())).code)
      .toBe('SERVICE_MALFORMED');
  });

  test('of random bytes is a typed error, whatever its status, and the next one is read', async () => {
    let body: Uint8Array = new Uint8Array();
    let status = 200;
    const server = await listen((_request, response) =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(body));
    const { swap } = clientOf(server, { timeouts: QUICK });
    const bytes = fc.oneof(fc.uint8Array({ maxLength: 200 }),
      fc.jsonValue().map((value) => Buffer.from(JSON.stringify(value))),
        fc.tuple(fc.nat(ORDER.length), fc.uint8Array({ minLength: 1, maxLength: 3 })).map(([at, damage]) =>
          Buffer.concat([Buffer.from(ORDER.slice(0, at)), damage, Buffer.from(ORDER.slice(at + 1))])));
    await fc.assert(fc.asyncProperty(bytes, fc.constantFrom(200, 200, 400, 404, 500), async (sent, answered) => {
      [body, status] = [sent, answered];
      const outcome = await swap.order(ASKED)
        .then(() => 'order', (thrown: GannetError) => thrown.name === 'GannetError' && thrown.code);
      if (status === 200) expect(['order', 'SERVICE_MALFORMED']).toContain(outcome);
      else expect(outcome).toBe('SERVICE_STATUS');
    }), { numRuns: 150 });
    [body, status] = [Buffer.from(ORDER), 200];
    expect((await swap.order(ASKED)).router).toBe('iris');
  });
});

describe('a failure', () => {
  test('whose body drips is told by its status, soon', async () => {
    const server = await listen((_request, response) => {
      response.writeHead(429, { 'content-type': 'application/json', 'x-ratelimit-remaining': '0' });
      const drip = setInterval(() => response.write(' '), 20);
      response.on('close', () => clearInterval(drip));
    });
    expect((await faultOf(
      clientOf(server, { timeouts: { ...QUICK, totalMs: 60_000, bodyMs: 60_000 } }).swap.order(ASKED),
    )).code).toBe('SERVICE_RATE_LIMITED');
    await expect.poll(() => server.openConnections()).toBe(0);
  });

  test('whose body has no end is told by its status', async () => {
    const server = await listen((_request, response) => {
      response.writeHead(503);
      const piece = Buffer.alloc(64 * 1024, 0x20);
      const pour = (): void => {
        while (!response.destroyed) if (!response.write(piece)) return void response.once('drain', pour);
      };
      pour();
    });
    expect((await faultOf(clientOf(server, { timeouts: QUICK }).swap.order(ASKED))).details['status']).toBe(503);
    await expect.poll(() => server.openConnections()).toBe(0);
  });

  test.each<[string, Responder, string]>([
    [
      'in an encoding', (_request, response) => void response.writeHead(400, { 'content-encoding': 'br' }).end('x'),
      'the service answered 400',
    ],
    [
      'of bytes that are no text', (_request, response) => void response.writeHead(500).end(Buffer.from([0xff, 0xfe])),
      'the service answered 500',
    ],
    [
      'that says it twice', json('{"error":"one","error":"two"}', { status: 400 }),
      'the service answered 400: "{"error":"one"',
    ],
    ['in plain text of no JSON, at a path that is not there',
      json('Not Found', { status: 404, headers: { 'content-type': 'text/plain' } }),
        'the service answered 404: "Not Found"; check service.base_url and service.dialect'],
    [
      'of the service’s own at a path that is there', json({ error: 'no such market' }, { status: 404 }),
      'the service answered 404: "no such market"',
    ],
    ['that points elsewhere', json('', { status: 308, headers: { location: 'https://new.example/' } }),
      'the service answered 308; it points to "https://new.example/", where the key is not taken'],
    ['of what was retired',
      json({ error: `createOrder moved to /trigger/v1: ${'it is explained there. '.repeat(15)}` }, { status: 410 }),
        `explained there. "; it is retired and will not come back`],
  ])('%s says what it can', async (_name, respond, words) => {
    const fault = await orderFault(respond);
    expect([fault.code, fault.message]).toEqual(['SERVICE_STATUS', expect.stringContaining(words)]);
  });

  test('names the parameter that the service blames', async () => {
    const fault = await orderFault(json(
      { type: 'invalid_request_error', message: 'required', code: 'custom', param: 'ownerPubkey', request_id: 'r-1' },
      { status: 400 },
    ));
    expect(fault.details).toMatchObject({ serviceParameter: 'ownerPubkey', serviceCode: 'custom', requestId: 'r-1' });
  });

  test('never shows a key that came back with its slashes escaped', async () => {
    const apiKey = 'canary/with/slashes';
    const [escaped, plain] = [apiKey.replaceAll('/', '\\/'), apiKey];
    for (const text of [escaped, plain]) {
      const refused = await orderFault(json(`{"error":"the key ${text} is wrong"}`, { status: 400 }), { apiKey });
      expect(refused.message).toContain('the key [API key] is wrong');
      const order = await clientOf(
        await listen(json(JSON.stringify(takerAnswer({ transaction: '', errorMessage: '#' })).replace('#', text))),
        { apiKey },
      ).swap.order(ASKED_BY_TAKER);
      expect(order.buildError?.message).toBe('[API key]');
    }
  });
});
