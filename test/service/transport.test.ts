import { asyncScheduler } from 'rxjs';
import { MockAgent } from 'undici';
import { describe, expect, test } from 'vitest';
import type { GannetError } from '../../src/core/errors.ts';
import { createTransport } from '../../src/service/transport.ts';
import { loadDialect } from '../../src/service/wire/dialect.ts';
import { ASKED, ASKED_BY_TAKER, orderAnswer, takerAnswer } from './answers.ts';
import type { Responder } from './loopback.ts';
import { API_KEY, clientOf, json, listen } from './loopback.ts';

const QUICK = { connectMs: 500, headersMs: 300, bodyMs: 300, totalMs: 600, executeMs: 600 };

async function faultOf(promise: Promise<unknown>): Promise<GannetError> {
  const fault = await promise.then(() => undefined, (thrown: unknown) => thrown as GannetError);
  expect(fault, 'a rejection').toBeDefined();
  expect(fault!.name).toBe('GannetError');
  return fault!;
}

/** Everything a log could show of an error. */
function everythingIn(fault: unknown): string {
  if (!(fault instanceof Error)) return String(fault);
  const own = Object.getOwnPropertyNames(fault)
    .map((name) => `${name}=${JSON.stringify((fault as unknown as Record<string, unknown>)[name]) ?? ''}`);
  return [fault.stack, ...own, everythingIn(fault.cause)].join('\n');
}

describe('a request', () => {
  test('carries the key in its header and nowhere else', async () => {
    const server = await listen(json(orderAnswer()));
    await clientOf(server).swap.order(ASKED);
    const [request] = server.received;
    expect(request!.headers['x-api-key']).toBe(API_KEY);
    expect(request!.headers['user-agent'], 'some firewalls refuse requests without a user agent')
      .toBe('gannet');
    expect(request!.path + request!.query.toString() + request!.body).not.toContain(API_KEY);
  });

  test('leaves without the header on a plan without key', async () => {
    const server = await listen(json(orderAnswer()));
    await clientOf(server, { apiKey: undefined }).swap.order(ASKED);
    expect(server.received[0]!.headers).not.toHaveProperty('x-api-key');
  });

  test('keeps the path of the base address', async () => {
    const server = await listen(json(orderAnswer()));
    await clientOf({ baseUrl: `${server.baseUrl}/behind/proxy/` }).swap.order(ASKED);
    expect(server.received[0]!.path).toBe('/behind/proxy/swap/v2/order');
  });

  test('goes through a dispatcher given from outside', async () => {
    const agent = new MockAgent();
    agent.disableNetConnect();
    agent.get('http://elsewhere.test').intercept({ path: /order/ }).reply(200, orderAnswer());
    const order = await clientOf({ baseUrl: 'http://elsewhere.test' }, { dispatcher: agent }).swap.order(ASKED);
    expect(order.outAmount).toBe(150_000_000n);
    await agent.close();
  });

  test.each([
    '', 'ftp://host', 'not an address', 'http://user:password@host', 'http://host/?key=1',
  ])('is never built on the base address "%s"', (baseUrl) => {
    expect(() => createTransport({ baseUrl, clock: asyncScheduler }))
      .toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }));
    expect(() => createTransport({ baseUrl, clock: asyncScheduler })).not.toThrow(/user:|key=1/);
  });

  test('refuses a key that no header can carry, without showing it', () => {
    const fault = (() => {
      try {
        createTransport({ baseUrl: 'http://host', apiKey: 'secret\r\nx: y', clock: asyncScheduler });
      } catch (thrown) {
        return thrown as GannetError;
      }
    })();
    expect(fault?.code).toBe('CONFIG_INVALID');
    expect(fault?.message).not.toContain('secret');
  });
});

function raw(body: string | Buffer, contentType = 'application/json'): Responder {
  return (_request, response) => void response.writeHead(200, { 'content-type': contentType }).end(body);
}

describe('a hostile answer', () => {
  test.each<[string, Responder]>([
    ['HTML', raw('<html><body>Bad gateway</body></html>', 'text/html; charset=utf-8')],
    ['JSON that claims to be HTML', raw(JSON.stringify(orderAnswer()), 'text/html')],
    ['an empty body', raw('')],
    ['half a document', raw('{"inputMint": "So1111')],
    ['two documents', raw('{}{}')],
    ['bytes that are not UTF-8', raw(Buffer.from([0x22, 0xff, 0xfe, 0x22]))],
    ['nesting without end', raw('['.repeat(100_000))],
    ['nesting that closes', raw(`${'{"a":'.repeat(200)}1${'}'.repeat(200)}`)],
    ['a word where an object belongs', raw('"yes"')],
    ['a list where an object belongs', raw('[]')],
    ['null', raw('null')],
    ['NaN', raw('{"inAmount": NaN}')],
  ])('%s is SERVICE_MALFORMED', async (_name, respond) => {
    const fault = await faultOf(clientOf(await listen(respond)).swap.order(ASKED));
    expect(fault.code).toBe('SERVICE_MALFORMED');
    expect(fault.message.length).toBeLessThan(400);
  });

  test('a bracket within a text is no nesting', async () => {
    const order = await clientOf(await listen(json(orderAnswer({ surprise: `${'['.repeat(500)}\\"{` }))))
      .swap.order(ASKED);
    expect(order.router).toBe('iris');
  });

  test('of a body without end is given up at the limit, and its connection with it', async () => {
    let written = 0;
    const server = await listen((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const piece = Buffer.alloc(64 * 1024, 0x20);
      const pour = (): void => {
        while (!response.destroyed && written < 1e9) {
          written += piece.length;
          if (!response.write(piece)) return void response.once('drain', pour);
        }
      };
      pour();
    });
    const fault = await faultOf(clientOf(server, { maxBodyBytes: 256 * 1024 }).swap.order(ASKED));
    expect(fault.code).toBe('SERVICE_MALFORMED');
    expect(fault.message).toContain('262144');
    expect(written).toBeLessThan(1e8);
    await expect.poll(() => server.openConnections()).toBe(0);
  });

  test('that drips without end is SERVICE_TIMEOUT', async () => {
    const server = await listen((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const drip = setInterval(() => response.write(' '), 20);
      response.on('close', () => clearInterval(drip));
    });
    expect((await faultOf(clientOf(server, { timeouts: QUICK }).swap.order(ASKED))).code).toBe('SERVICE_TIMEOUT');
    await expect.poll(() => server.openConnections()).toBe(0);
  });

  test.each<[string, Responder]>([
    ['never begins', () => undefined],
    ['stops after its headers', (_request, response) => response.writeHead(200).flushHeaders()],
  ])('that %s is SERVICE_TIMEOUT', async (_name, respond) => {
    expect((await faultOf(clientOf(await listen(respond), { timeouts: QUICK }).swap.order(ASKED))).code)
      .toBe('SERVICE_TIMEOUT');
  });

  test.each<[string, Responder]>([
    ['is cut off', (_request, response) => {
      response.writeHead(200, { 'content-length': '1000' });
      response.write('{"inputMint":');
      setTimeout(() => response.destroy(), 10);
    }],
    ['is no answer but a closed connection', (_request, response) => void response.destroy()],
  ])('that %s is SERVICE_UNREACHABLE', async (_name, respond) => {
    expect((await faultOf(clientOf(await listen(respond)).swap.order(ASKED))).code).toBe('SERVICE_UNREACHABLE');
  });

  test('that is not HTTP is SERVICE_MALFORMED', async () => {
    const server = await listen((_request, response) => void response.socket?.end('SSH-2.0-server\r\n\r\n'));
    expect((await faultOf(clientOf(server).swap.order(ASKED))).code).toBe('SERVICE_MALFORMED');
  });

  test('does not stop the next request', async () => {
    let count = 0;
    const server = await listen((request, response) => {
      count += 1;
      json(count === 1 ? '<html>' : orderAnswer())(request, response);
    });
    const { swap } = clientOf(server);
    await faultOf(swap.order(ASKED));
    expect((await swap.order(ASKED)).inAmount).toBe(1_000_000_000n);
  });
});

describe('a failure', () => {
  test('of the connection is SERVICE_UNREACHABLE', async () => {
    const fault = await faultOf(clientOf({ baseUrl: 'http://127.0.0.1:1' }).swap.order(ASKED));
    expect(fault.code).toBe('SERVICE_UNREACHABLE');
    expect(fault.message).toContain('service.base_url');
  });

  test.each([
    [400, { requestId: 'r-9', error: 'Failed to get quotes' }, 'SERVICE_STATUS'],
    [401, { code: 401, message: 'Unauthorized' }, 'SERVICE_UNAUTHORIZED'],
    [402, { code: 402, message: 'Payment required' }, 'SERVICE_FORBIDDEN'],
    [403, { code: 403, message: 'API key does not have access to this endpoint' }, 'SERVICE_FORBIDDEN'],
    [407, 'Proxy Authentication Required', 'SERVICE_STATUS'],
    [451, '<html>not here</html>', 'SERVICE_FORBIDDEN'],
    [404, 'Not Found', 'SERVICE_STATUS'],
    [429, { code: 429, message: 'Too many requests' }, 'SERVICE_RATE_LIMITED'],
    [500, { error: 'Something unexpected occurred' }, 'SERVICE_STATUS'],
    [502, '<html>bad gateway</html>', 'SERVICE_STATUS'],
    [302, '', 'SERVICE_STATUS'],
  ] as const)('with the status %i and %j is %s', async (status, body, code) => {
    const server = await listen(json(body, { status, headers: { location: 'http://elsewhere.test/' } }));
    const fault = await faultOf(clientOf(server).swap.order(ASKED));
    expect(fault.code).toBe(code);
    expect(fault.details['status']).toBe(status);
    expect(server.received).toHaveLength(1);
  });

  test('by region, address or key says so in the words of the service, cut short and without the key', async () => {
    const message = `\u001b[31m${API_KEY} is not for ${'you '.repeat(200)}`;
    const server = await listen(json({ message }, { status: 403 }));
    const fault = await faultOf(clientOf(server).swap.order(ASKED));
    expect(fault.message)
      .toMatch(/refuses your region, address or key \(403\): "\\u001b\[31m\[API key\] is not for you /);
    expect(fault.message.length).toBeLessThan(450);
  });

  test('says in its own words what the service said, with controls escaped and cut short', async () => {
    const server = await listen(json({ error: `\u001b[31mred\u202e ${'x'.repeat(5_000)}` }, { status: 400 }));
    const fault = await faultOf(clientOf(server).swap.order(ASKED));
    expect(fault.message).toMatch(/^GET \/swap\/v2\/order: the service answered 400: "\\u001b\[31mred\\u202e x+…"$/);
    expect(fault.message.length).toBeLessThan(300);
  });

  test('by rate says when the service will answer again, by its own clock', async () => {
    const server = await listen(json({}, { status: 429, headers: {
      'x-ratelimit-reset': '2000000009', 'x-ratelimit-remaining': '-1', date: new Date(2_000_000_000_000).toUTCString(),
    } }));
    expect((await faultOf(clientOf(server).swap.order(ASKED))).details['resetInMs']).toBe(9_000);
  });

  test('never shows the key, even where the service repeats it', async () => {
    const responders: Responder[] = [
      json({ message: `the key ${API_KEY} is wrong` }, { status: 401 }),
      json({ error: `no quote for ${API_KEY}`, requestId: API_KEY, signature: API_KEY }, { status: 400 }),
      json(`key ${API_KEY}`, { status: 503 }),
      json(`<p>${API_KEY}</p>`),
      json('', { status: 302, headers: { location: `https://elsewhere.test/?key=${API_KEY}` } }),
      json('', { status: 302, headers: { location: `https://elsewhere.test/${API_KEY.replaceAll('-', '%2d')}` } }),
      json(orderAnswer(), { headers: { 'content-type': `text/html; ${API_KEY}` } }),
      json(orderAnswer(), { headers: { 'content-encoding': API_KEY } }),
      json(`{"error":"${API_KEY.replaceAll('-', '\\u002D').replaceAll('c', '\\u0063')}"}`, { status: 400 }),
      json(orderAnswer({ inAmount: API_KEY })),
      (_request, response) => void response.destroy(),
      () => undefined,
    ];
    for (const respond of responders) {
      const fault = await faultOf(clientOf(await listen(respond), { timeouts: QUICK }).swap.order(ASKED));
      expect(everythingIn(fault)).not.toContain(API_KEY);
      expect(everythingIn(fault)).not.toContain(API_KEY.replaceAll('-', '%2d'));
    }
    const refused = await clientOf(
      await listen(json(takerAnswer({ transaction: '', errorCode: 1, errorMessage: `key ${API_KEY}` }))),
    ).swap.order(ASKED_BY_TAKER);
    expect(refused.buildError?.message).toBe('key [API key]');
  });

  test('shows no part of a longer key either, in whatever spelling', async () => {
    const key = 'QbrB9UyNStjeEB6ogyBGju2YLwTMDu9c7epao';
    const part = key.slice(9, 28);
    const spelled = [
      part, Array.from(part, (char) => `\\u00${char.charCodeAt(0).toString(16)}`).join(''),
      Array.from(part, (char) => `%${char.charCodeAt(0).toString(16)}`).join(''),
    ];
    for (const text of spelled) {
      const responders: Responder[] = [
        json(`{"error":"no key begins abc${text}xyz"}`, { status: 400 }),
        json(`<p>${text}</p>`, { status: 502, headers: { 'content-type': 'text/plain' } }),
        json('', { status: 302, headers: { location: `https://elsewhere.test/${text}` } }),
        json(orderAnswer(), { headers: { 'content-type': `text/html; ${text}` } }),
        json(orderAnswer(), { headers: { 'content-encoding': text } }),
      ];
      for (const respond of responders) {
        const fault = await faultOf(clientOf(await listen(respond), { apiKey: key, timeouts: QUICK })
          .swap.order(ASKED));
        const shown = everythingIn(fault).replaceAll(/\\+u00|%/g, (sign) => (sign === '%' ? '%' : '\\u00'));
        expect(shown).toContain('[API key]');
        expect(shown).not.toContain(text);
      }
    }
  });

  test('ignores a code that is not finite, since JSON cannot hold it', async () => {
    const fault = await faultOf(clientOf(await listen(json('{"code":1e999,"error":"no"}', { status: 400 })))
      .swap.order(ASKED));
    expect(fault).toMatchObject({ code: 'SERVICE_STATUS', details: { serviceMessage: 'no', serviceCode: undefined } });
  });

  test('for want of a key says that one is wanted, not that one was refused', async () => {
    const respond = json({ code: 401, message: 'Unauthorized' }, { status: 401 });
    const [without, refused] = await Promise.all([undefined, API_KEY].map(async (apiKey) =>
      faultOf(clientOf(await listen(respond), { apiKey }).swap.order(ASKED))));
    expect(without!.message).toContain('the service wants an API key: "Unauthorized"; set service.api_key');
    expect(refused!.message).toContain('the service refused the API key: "Unauthorized"; check service.api_key');
  });

  test('is not tried again', async () => {
    const server = await listen((_request, response) => void response.destroy());
    await faultOf(clientOf(server).swap.execute({ signedTransaction: new Uint8Array([1]), requestId: 'r-1' }));
    expect(server.received).toHaveLength(1);
  });

  test('rejects requests in flight when the client closes', async () => {
    const server = await listen(() => undefined);
    const service = clientOf(server);
    const order = faultOf(service.swap.order(ASKED));
    await expect.poll(() => server.received.length).toBe(1);
    await service.close();
    expect((await order).code).toBe('SERVICE_UNREACHABLE');
    expect((await faultOf(service.swap.order(ASKED))).code).toBe('SERVICE_UNREACHABLE');
  });
});

describe('landing', () => {
  test('never waits behind polls that hang', async () => {
    const server = await listen((request, response) => {
      if (request.path.endsWith('/execute'))
        json({ status: 'Success', code: 0, signature: '5'.repeat(87) })(request, response);
    });
    const service = clientOf(server);
    const polls = Array.from({ length: 60 }, (_, i) =>
      service.prediction.orderBook(`M-${i}`, { priority: 'watch' }).catch(() => undefined));
    await expect.poll(() => service.stats().main.inFlight).toBe(48);
    const answer = await service.swap.execute({ signedTransaction: new Uint8Array([1]), requestId: 'r-1' });
    expect(answer.status).toBe('success');
    expect(service.stats().main.queued).toBe(12);
    await service.close();
    await Promise.all(polls);
  });

  test('an order does not wait for a connection that polls hold', async () => {
    const server = await listen((request, response) => {
      if (request.path.endsWith('/order')) json(orderAnswer())(request, response);
    });
    const service = clientOf(server);
    const polls = Array.from({ length: 60 }, (_, i) =>
      service.prediction.orderBook(`M-${i}`, { priority: 'watch' }).catch(() => undefined));
    expect((await service.swap.order(ASKED, { priority: 'exit' })).router).toBe('iris');
    await service.close();
    await Promise.all(polls);
  });
});

describe('the id that the host gives to a request', () => {
  const dialect = { ...loadDialect('neutral'), requestIdHeader: 'x-edge-request-id' };
  const ID = { headers: { 'x-edge-request-id': 'edge-42' } };
  const named = { message: expect.stringMatching(/\(request edge-42\)$/), details: { gatewayRequestId: 'edge-42' } };

  test.each([400, 401, 402, 403, 404, 407, 410, 429, 451, 500, 503])('is in the fault of a %d', async (status) => {
    const server = await listen(json({ error: 'no' }, { status, ...ID }));
    expect(await faultOf(clientOf(server, { dialect }).swap.order(ASKED))).toMatchObject(named);
  });

  test.each([
    ['that is no JSON', '<html>'], ['of another form', '{}'], ['in which an amount is not readable',
      orderAnswer({ outAmount: 'much' })], ['of another swap', orderAnswer({ inAmount: '7' })],
  ])('is in the fault of an answer %s', async (_name, body) => {
    const server = await listen(json(body, ID));
    expect(await faultOf(clientOf(server, { dialect }).swap.order(ASKED)))
      .toMatchObject({ code: 'SERVICE_MALFORMED', ...named });
  });

  test('is in the fault of an answer that does not end', async () => {
    const server = await listen((_request, response) =>
      void response.writeHead(200, { 'content-type': 'application/json', ...ID.headers }).write('{'));
    expect(await faultOf(clientOf(server, { dialect, timeouts: QUICK }).swap.order(ASKED)))
      .toMatchObject({ code: 'SERVICE_TIMEOUT', ...named });
  });

  test('is told with what became of a transaction', async () => {
    const server = await listen(json({ status: 'Failed', code: -1000, error: 'Failed to land' }, ID));
    const { swap } = clientOf(server, { dialect });
    const sent = { signedTransaction: Uint8Array.of(1), requestId: 'r' };
    expect(await swap.execute(sent)).toMatchObject({ code: -1000, gatewayRequestId: 'edge-42' });
    const refusing = await listen(json({ error: 'Order not found', code: -1 }, { status: 400, ...ID }));
    expect(await clientOf(refusing, { dialect }).swap.execute(sent))
      .toMatchObject({ code: -1, gatewayRequestId: 'edge-42' });
  });

  test('is cut, escaped and without the key, and absent where the host gives none', async () => {
    const headers = { 'x-edge-request-id': `${API_KEY}${'x'.repeat(5_000)}` };
    const long = await listen(json({}, { status: 500, headers }));
    const fault = await faultOf(clientOf(long, { dialect }).swap.order(ASKED));
    expect(fault.message).toMatch(/\(request \[API key\]x+…\)$/);
    expect(fault.message.length).toBeLessThan(250);
    const silent = await listen(json({}, { status: 500 }));
    const other = await faultOf(clientOf(silent, { dialect }).swap.order(ASKED));
    expect([other.message, other.details['gatewayRequestId']])
      .toEqual([expect.not.stringContaining('(request'), undefined]);
  });
});

test('an optional member that cannot be read is named once, however many answers have it', async () => {
  const server = await listen(json(orderAnswer({ routePlan: [{ swapInfo: 'none' }], priceImpactPct: 'NaN' })));
  const unread: string[] = [];
  const { swap } = clientOf(server, { onUnread: (member) => { unread.push(member); } });
  for (let time = 0; time < 3; time++) await swap.order(ASKED);
  expect(unread.toSorted()).toEqual(['order, priceImpactPct', 'order, routePlan']);
});
