import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { IncomingHttpHeaders, IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer as createSocketServer } from 'node:net';
import { join } from 'node:path';
import { SMTPServer } from 'smtp-server';
import { afterEach, describe, expect, it } from 'vitest';
import type { ChannelConfig } from '../../../src/config/notifications/channel-config.ts';
import { createChannel } from '../../../src/daemon/notify/channels.ts';
import type { Delivery, Message } from '../../../src/daemon/notify/notification.ts';
import { PROJECT, createPlayground } from '../../e2e/gannet.ts';
import { NOON, channelConfig } from './notify-fixture.ts';

const TOKEN = `123456:${'t'.repeat(35)}`;
const EVIL = 'buy <b>now</b> @everyone <@123> [x](http://evil.example) *bold* `code` & <!channel> /halt';

function message(more: Partial<Message> = {}): Message {
  return {
    topic: 'alerts', level: 'warning', title: 'the service does not answer', text: 'Entries wait.', key: 'k', at: NOON,
    lastAt: NOON, sentAt: NOON, id: 'id-1', runId: 'run-1', count: 1, uncertain: 0, dropped: 0, facts: { code: 'X' },
    ...more,
  };
}

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}

async function listening(server: Server): Promise<string> {
  await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  closing.push(() => { server.closeAllConnections(); server.close(); });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A receiver that answers each request as told; the last answer repeats. */
async function receiver(...answers: Answer[]): Promise<{
  readonly url: string; readonly received: Received[];
}> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      received.push({ path: request.url!, headers: request.headers, body });
      answers[Math.min(received.length, answers.length) - 1]!(response);
    });
  });
  return { url: await listening(server), received };
}

type Answer = (response: ServerResponse) => void;

function answer(status: number, body: string, headers: Record<string, string> = {}): Answer {
  return (response) => { response.writeHead(status, headers).end(body); };
}

async function send(config: ChannelConfig, one: Message, signal = new AbortController().signal): Promise<Delivery> {
  const channel = createChannel(config);
  try {
    return await channel.send(one, signal);
  } finally {
    await channel.close();
  }
}

function telegram(apiUrl: string): ChannelConfig {
  return channelConfig({ kind: 'telegram', token: TOKEN, chat: '-1001', apiUrl });
}

function email(port: number, more: object = {}): ChannelConfig {
  return channelConfig({
    kind: 'email', host: '127.0.0.1', port, security: 'none', from: 'gannet@example.org',
    to: ['a@example.org', 'b@example.org'], login: { user: 'me', password: 'right-password' }, ...more,
  });
}

/** A certificate of the test files with its key. */
function certificate(name: string): { readonly key: string; readonly cert: string } {
  const [key, cert] = ['key', 'crt'].map((ending) =>
    readFileSync(join(PROJECT, 'test', 'fixtures', 'tls', `${name}.${ending}`), 'utf8'));
  return { key: key!, cert: cert! };
}

const okTelegram = answer(200, '{"ok":true,"result":{"message_id":1}}');

describe('a webhook', () => {
  it('gets the documented body, the id of the message as its key, and a signature over time and body', async () => {
    const { url, received } = await receiver(answer(204, ''));
    const secret = 's'.repeat(32);
    expect(await send(channelConfig({ url: `${url}/hook`, secret }), message({ strategy: 'dip', count: 3 })))
      .toEqual({ kind: 'sent' });
    const [{ headers, body, path }] = received as [Received];
    expect(path).toBe('/hook');
    expect(headers['idempotency-key']).toBe('id-1');
    expect(headers['gannet-signature']).toBe(`t=${NOON / 1_000},v1=${
      createHmac('sha256', secret).update(`${NOON / 1_000}.${body}`).digest('hex')}`);
    expect(JSON.parse(body)).toEqual({
      version: 1, id: 'id-1', topic: 'alerts', level: 'warning', title: 'the service does not answer',
      text: 'Entries wait.', strategy: 'dip', key: 'k', count: 3, at: '2026-06-01T12:00:00.000Z',
      last_at: '2026-06-01T12:00:00.000Z', sent_at: '2026-06-01T12:00:00.000Z', run_id: 'run-1', facts: { code: 'X' },
      may_have_arrived: false, dropped_before: 0,
    });
  });

  it.each([
    ['waits as long as it is asked', answer(429, '', { 'retry-after': '7' }),
      { kind: 'failed', retryAfterMs: 7_000, mayHaveArrived: false }],
    ['is tried again after an error of the server', answer(503, 'busy'), { kind: 'failed', mayHaveArrived: false }],
    ['is parked where it is not allowed', answer(401, 'who?'), { kind: 'refused', of: 'channel' }],
    ['is parked where it is gone', answer(410, ''), { kind: 'refused', of: 'channel' }],
    ['lets others pass where one message is refused', answer(400, 'bad'), { kind: 'refused', of: 'message' }],
    ['follows no redirect', answer(302, '', { location: 'http://127.0.0.1:1/' }), { kind: 'refused', of: 'channel' }],
    ['does not wait for an answer of any size', (response: ServerResponse) => {
      response.writeHead(200);
      const more = (): void => { while (!response.destroyed && response.write('x'.repeat(65_536))) continue; };
      response.on('drain', more);
      more();
    }, { kind: 'sent' }],
    ['may have got what it did not answer', (response: ServerResponse) => { response.destroy(); },
      { kind: 'failed', mayHaveArrived: true }],
  ])('%s', async (_what, answered, expected) => {
    const { url } = await receiver(answered);
    expect(await send(channelConfig({ url }), message())).toMatchObject(expected);
  });

  it('without a server got nothing, and one that hangs is given up', async () => {
    const { url } = await receiver(answer(200, ''));
    closing.splice(0).forEach((close) => { close(); });
    expect(await send(channelConfig({ url }), message())).toMatchObject({ kind: 'failed', mayHaveArrived: false });
    const hanging = await receiver(() => undefined);
    expect(await send(channelConfig({ url: hanging.url }), message(), AbortSignal.timeout(300)))
      .toMatchObject({ kind: 'failed', mayHaveArrived: true });
  });
});

describe('Telegram', () => {
  it('gets plain text without a parse mode, and no text calls a person or a bot', async () => {
    const { url, received } = await receiver(okTelegram);
    expect(await send(telegram(url), message({ title: EVIL }))).toEqual({ kind: 'sent' });
    const [{ path, body }] = received as [Received];
    expect(path).toBe(`/bot${TOKEN}/sendMessage`);
    const sent = JSON.parse(body) as { text: string };
    expect(sent).toMatchObject({ chat_id: '-1001', link_preview_options: { is_disabled: true } });
    expect(sent).not.toHaveProperty('parse_mode');
    expect(sent.text).not.toMatch(/@everyone|\/halt/);
    expect(sent.text).toContain('WARNING · Gannet: buy <b>now<');
  });

  it.each([
    [answer(429, '{"ok":false,"error_code":429,"description":"Too Many Requests","parameters":{"retry_after":9}}'),
      { kind: 'failed', retryAfterMs: 9_000, mayHaveArrived: false }],
    [answer(401, '{"ok":false,"error_code":401,"description":"Unauthorized"}'), { kind: 'refused', of: 'channel' }],
    [answer(403, '{"ok":false,"error_code":403,"description":"Forbidden: bot was blocked by the user"}'),
      { kind: 'refused', of: 'channel', remedy: expect.stringContaining('/start') }],
    [answer(400, '{"ok":false,"error_code":400,"description":"Bad Request: chat not found"}'),
      { kind: 'refused', of: 'channel' }],
    [answer(400, '{"ok":false,"error_code":400,"description":"Bad Request: message text is empty"}'),
      { kind: 'refused', of: 'message' }],
    [answer(200, '<html>welcome</html>'), { kind: 'failed', mayHaveArrived: true }],
    [answer(502, 'bad gateway'), { kind: 'failed', mayHaveArrived: false }],
    [answer(404, `no ${TOKEN} here`), { kind: 'failed', mayHaveArrived: false }],
  ])('is understood in what it answers: %#', async (answered, expected) => {
    const { url } = await receiver(answered);
    const delivery = await send(telegram(url), message());
    expect(delivery).toMatchObject(expected);
    expect(JSON.stringify(delivery)).not.toContain(TOKEN);
  });
});

describe('texts', () => {
  it('are harmless and bounded on each channel, and keep their last line', async () => {
    const { url, received } = await receiver(okTelegram);
    const long = message({ title: `${EVIL} ${'😀&*'.repeat(300)}`, text: '<@1>\n'.repeat(600) });
    await send(telegram(url), long);
    await send(channelConfig({ kind: 'discord', url }), long);
    await send(channelConfig({ kind: 'slack', url }), long);
    const [one, discord, slack] = received.map(({ body }) => JSON.parse(body) as Record<string, string>);
    expect(one!['text']!.length).toBeLessThanOrEqual(4_096);
    expect(discord!['content']!.length).toBeLessThanOrEqual(2_000);
    expect(discord).toMatchObject({ allowed_mentions: { parse: [] } });
    expect(discord!['content']).not.toMatch(/@everyone|@\d|(?<!\\)[*<[]/);
    expect(slack!['text']!.length).toBeLessThanOrEqual(3_000);
    expect(slack!['text']).not.toMatch(/[<>]|@everyone/);
    for (const text of [one!['text']!, discord!['content']!, slack!['text']!]) {
      expect(text).toMatch(/12:00:00 UTC, run run.{0,2}1$/);
      expect(text.isWellFormed()).toBe(true);
    }
  });
});

describe('e-mail', () => {
  interface Mail { readonly from: string; readonly to: string[]; readonly text: string; readonly isEncrypted: boolean }

  async function mailServer(
    { refuseWith, ...more }: {
      refuseWith?: number; hideSTARTTLS?: boolean; secure?: boolean; key?: string; cert?: string;
    } = {},
  ): Promise<{ readonly port: number; readonly mails: Mail[] }> {
    const mails: Mail[] = [];
    const server = new SMTPServer({
      logger: false, authMethods: ['PLAIN', 'LOGIN'], authOptional: true, allowInsecureAuth: true, ...more,
      onAuth: ({ username, password }, _session, done) => {
        if (username === 'me' && password === 'right-password') done(null, { user: 'me' });
        else done(Object.assign(new Error('wrong password'), { responseCode: 535 }));
      },
      onData: (stream, { envelope, secure }, done) => {
        const parts: Buffer[] = [];
        stream.on('data', (part: Buffer) => { parts.push(part); });
        stream.on('end', () => {
          if (refuseWith !== undefined) {
            done(Object.assign(new Error('not now'), { responseCode: refuseWith }));
            return;
          }
          mails.push({
            from: envelope.mailFrom === false ? '' : envelope.mailFrom.address,
            to: envelope.rcptTo.map(({ address }) => address), text: Buffer.concat(parts).toString(),
            isEncrypted: secure,
          });
          done();
        });
      },
    });
    server.on('error', () => undefined);
    await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', () => { resolve(); }); });
    closing.push(() => new Promise<void>((resolve) => { server.close(() => { resolve(); }); }));
    return { port: (server.server.address() as AddressInfo).port, mails };
  }

  it('arrives as plain text with the id of the message, and no text adds a header', async () => {
    const { port, mails } = await mailServer({ hideSTARTTLS: true });
    expect(await send(email(port), message({ title: 'x\r\nBcc: c@example.org' }))).toEqual({ kind: 'sent' });
    expect(mails).toMatchObject([{ from: 'gannet@example.org', to: ['a@example.org', 'b@example.org'] }]);
    expect(mails[0]!.text).toContain('Message-ID: <id-1@gannet.invalid>');
    expect(mails[0]!.text).toContain('Content-Type: text/plain');
    expect(mails[0]!.text.split('\r\n\r\n')[0]).not.toMatch(/^Bcc:/m);
  });

  it('is parked where the password is wrong, and says what to do', async () => {
    const { port, mails } = await mailServer({ hideSTARTTLS: true });
    expect(await send(email(port, { login: { user: 'me', password: 'wrong-password' } }), message()))
      .toMatchObject({ kind: 'refused', of: 'channel', remedy: expect.stringContaining('"password"') });
    expect(mails).toEqual([]);
  });

  it('sends nothing where the server offers no encryption, or a certificate of an unknown authority', async () => {
    const plain = await mailServer({ hideSTARTTLS: true });
    expect(await send(email(plain.port, { security: 'starttls' }), message()))
      .toMatchObject({ kind: 'refused', of: 'channel' });
    const own = await mailServer();
    expect(await send(email(own.port, { security: 'starttls' }), message()))
      .toMatchObject({ kind: 'refused', of: 'channel', remedy: expect.stringContaining('NODE_EXTRA_CA_CERTS') });
    expect([...plain.mails, ...own.mails]).toEqual([]);
  });

  it.each([
    [451, { kind: 'failed', mayHaveArrived: false }],
    [554, { kind: 'refused', of: 'message' }],
  ])('is judged by the status %i of the server', async (refuseWith, expected) => {
    const { port } = await mailServer({ refuseWith, hideSTARTTLS: true });
    expect(await send(email(port), message())).toMatchObject(expected);
  });

  it('arrives encrypted where NODE_EXTRA_CA_CERTS names the authority, and nowhere else', async () => {
    const playground = createPlayground();
    closing.push(() => playground.close());
    const servers = [
      await mailServer(certificate('localhost')), await mailServer({ secure: true, ...certificate('localhost') }),
      await mailServer(certificate('first')), await mailServer({ secure: true, ...certificate('first') }),
    ];
    const channels = servers.map(({ port }, n) => `  - { kind: email, name: mail${n}, host: localhost, port: ${port}, `
      + `security: ${n % 2 === 0 ? 'starttls' : 'tls'}, from: a@example.org, to: b@example.org }`);
    const config = playground.write('gannet.yaml', ['mode: paper', 'notifications:', ...channels,
      'strategies: [{ use: dca, params: { buy: SOL, spend: "1 USDC", every: 1h } }]', ''].join('\n'));
    const { code, stdout } = await playground.run(['notify', 'test', '--json', '--config', config], {
      environment: { NODE_EXTRA_CA_CERTS: join(PROJECT, 'test', 'fixtures', 'tls', 'localhost.crt') },
    });
    expect(code).toBe(1);
    const refused = { ok: false, fault: expect.stringMatching(/^no trusted encryption with localhost:.*certificate/),
      remedy: expect.stringContaining('NODE_EXTRA_CA_CERTS') };
    expect(JSON.parse(stdout)).toMatchObject([{ ok: true }, { ok: true }, refused, refused]);
    expect(servers.map(({ mails }) => mails.map(({ isEncrypted }) => isEncrypted))).toEqual([[true], [true], [], []]);
  });

  it('gives up a server that says nothing, and keeps no connection to it', async () => {
    const left = Promise.withResolvers<void>();
    const server = createSocketServer({ allowHalfOpen: true }, (socket) => {
      closing.push(() => { socket.destroy(); });
      socket.on('error', () => undefined).on('end', () => { left.resolve(); }).resume();
    });
    await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve); });
    closing.push(() => { server.close(); });
    expect(await send(email((server.address() as AddressInfo).port), message(), AbortSignal.timeout(300)))
      .toMatchObject({ kind: 'failed', fault: 'no answer in time', mayHaveArrived: true });
    await left.promise;
  });
});
