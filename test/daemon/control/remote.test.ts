import { chmodSync, copyFileSync, readFileSync, statSync, utimesSync } from 'node:fs';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer, request as forward } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { Agent, request } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import { daemonClient } from '../../../src/daemon/control/control-client.ts';
import { controlFilePath } from '../../../src/daemon/control/control-file.ts';
import { plainWarning, readTls } from '../../../src/daemon/control/tls-files.ts';
import { VirtualClock } from '../../../src/engine/virtual-clock.ts';
import { PROJECT } from '../../e2e/gannet.ts';
import { temporaryFolder } from '../../store/fixtures.ts';
import { startControl, startTestApi, TOKENS } from '../control-fixture.ts';

const NAME = 'gannet.example.com';
const BEARER = { authorization: `Bearer ${TOKENS.operator}` };
const JSON_TYPE = { 'content-type': 'application/json' };

/** Forwards as nginx and Caddy do with the configurations of docs/operations/remote.md. */
async function startProxy(target: string): Promise<string> {
  const pass = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    const { hostname, port } = new URL(target);
    const before = incoming.headers['x-forwarded-for'];
    const client = incoming.socket.remoteAddress ?? '';
    const passed = forward({
      hostname, port, path: incoming.url, method: incoming.method,
      headers: {
        ...incoming.headers, 'x-forwarded-for': before === undefined ? client : `${String(before)}, ${client}`,
        'x-forwarded-proto': 'https',
      },
    }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    incoming.pipe(passed);
    outgoing.on('close', () => { passed.destroy(); });
    passed.on('error', () => { outgoing.destroy(); });
  };
  const server: Server = createServer(pass);
  await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const ORDERS = (stateDir: string): readonly Readonly<Record<string, unknown>>[] =>
  readFileSync(join(stateDir, 'orders.ndjson'), 'utf8').trim().split('\n')
    .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);

/** Returns the address that the file of orders has for a request with this X-Forwarded-For. */
async function address(trustedProxies: readonly string[], forwarded: string): Promise<unknown> {
  const { url, stateDir } = await startControl({ trustedProxies });
  const answer = await request(`${url}/api/halt`, {
    method: 'POST', body: '{}', headers: { ...BEARER, ...JSON_TYPE, 'x-forwarded-for': forwarded },
  });
  await answer.body.dump();
  return (ORDERS(stateDir).at(-1)!['origin'] as { readonly address: string }).address;
}

describe('a reverse proxy', () => {
  it('serves login, commands and events under its name, and the file of orders names the client', async () => {
    const { url, stateDir } = await startControl({ allowedHosts: [NAME], trustedProxies: ['127.0.0.1'] });
    const proxy = await startProxy(url);
    // Stands for a browser of that address: the test itself is on the proxy's machine.
    const browser = { host: NAME, origin: `https://${NAME}`, 'x-forwarded-for': '203.0.113.7' };
    const login = await request(`${proxy}/session`, {
      method: 'POST', body: JSON.stringify({ token: TOKENS.operator }), headers: { ...browser, ...JSON_TYPE },
    });
    const { csrf } = await login.body.json() as { readonly csrf: string };
    const cookie = String(login.headers['set-cookie']);
    expect([login.statusCode, cookie]).toEqual([200, expect.stringMatching(/; SameSite=Strict; Secure$/)]);
    const session = { ...browser, cookie: cookie.split(';')[0]!, 'x-gannet-csrf': csrf };
    const halted = await request(`${proxy}/api/halt`, {
      method: 'POST', body: '{}', headers: { ...session, ...JSON_TYPE },
    });
    expect(halted.statusCode, await halted.body.text()).toBe(200);
    expect(ORDERS(stateDir).at(-1))
      .toMatchObject({ action: 'halt', origin: { role: 'operator', address: '203.0.113.7', port: 0, uid: null } });

    const events = await request(`${proxy}/api/events`, { headers: session, dispatcher: new Agent() });
    for await (const chunk of events.body) {
      expect(String(chunk)).toContain('retry: 3000');
      break;
    }
  });

  it('of another name, scheme or port is refused, and so is a host that a client claims', async () => {
    const { url } = await startTestApi({ stateDir: temporaryFolder(), allowedHosts: [NAME], trustedProxies: ['::1'] });
    const status = async (headers: Readonly<Record<string, string>>): Promise<number> => {
      const answer = await request(`${url}/api/state`, { headers: { ...BEARER, ...headers } });
      await answer.body.dump();
      return answer.statusCode;
    };
    expect(await status({ host: NAME })).toBe(200);
    expect(await status({ host: `${NAME}:8443`, origin: `https://${NAME}:8443` })).toBe(200);
    for (const headers of [
      { host: 'other.example.com' }, { host: 'other.example.com', 'x-forwarded-host': NAME },
      { host: NAME, origin: `http://${NAME}` }, { host: NAME, origin: `https://${NAME}:8443` },
      { host: NAME, origin: 'https://other.example.com' }, { host: NAME, origin: 'null' },
      { host: '127.0.0.1', origin: `https://${NAME}` },
    ]) expect(await status(headers), JSON.stringify(headers)).toBe(403);
  });

  it('that is not trusted cannot name a client, and one that is names its client alone', async () => {
    expect(await address([], '203.0.113.7')).toBe('127.0.0.1');
    expect(await address(['10.0.0.0/8'], '203.0.113.7')).toBe('127.0.0.1');
    expect(await address(['127.0.0.0/8'], '203.0.113.7')).toBe('203.0.113.7');
    // What the client wrote before the proxy is not believed.
    expect(await address(['127.0.0.1'], '198.51.100.1, 203.0.113.7')).toBe('203.0.113.7');
  });

  it('has the wrong tokens of each client counted apart', async () => {
    const { url } = await startTestApi({ stateDir: temporaryFolder(), trustedProxies: ['127.0.0.1'] });
    const guess = async (client: string): Promise<number> => {
      const answer = await request(`${url}/api/state`, { headers: { 'x-forwarded-for': client } });
      await answer.body.dump();
      return answer.statusCode;
    };
    for (let time = 0; time < 10; time++) expect(await guess('203.0.113.7')).toBe(401);
    expect(await guess('203.0.113.8')).toBe(401);
    expect(await guess('203.0.113.7')).toBe(429);
  });
});

/** The files of a certificate, as a renewal replaces them. */
function tlsFiles(): { readonly files: { cert: string; key: string }; readonly use: (name: string) => void } {
  const folder = temporaryFolder();
  const files = { cert: join(folder, 'tls.crt'), key: join(folder, 'tls.key') };
  const use = (name: string): void => {
    for (const [ending, path] of [['crt', files.cert], ['key', files.key]] as const) {
      copyFileSync(join(PROJECT, 'test', 'fixtures', 'tls', `${name}.${ending}`), path);
      chmodSync(path, 0o600);
    }
  };
  use('first');
  return { files, use };
}

describe('control.tls', () => {
  it('serves commands and secure cookies, and uses renewed files without a restart', async () => {
    const clock = new VirtualClock(1_000_000);
    const { files, use } = tlsFiles();
    const { url, stateDir } = await startControl({ tls: files, clock, allowedHosts: [NAME] });
    expect(url).toMatch(/^https:\/\/127\.0\.0\.1:/);
    const client = (): ReturnType<typeof daemonClient> => daemonClient({ options: { stateDir }, environment: {} });
    expect(await client().ask('/api/state')).toBeTypeOf('object');
    const dispatcher = new Agent({ connect: { rejectUnauthorized: false } });
    const login = await request(`${url}/session`, {
      method: 'POST', body: JSON.stringify({ token: TOKENS.operator }), headers: JSON_TYPE, dispatcher,
    });
    await login.body.dump();
    expect(login.headers['set-cookie']).toMatch(/; Secure$/);

    const stale = client();
    use('renewed');
    utimesSync(files.cert, 1, 1);
    clock.advanceTo(1_061_000);
    expect(await client().ask('/api/state')).toBeTypeOf('object');
    await expect(stale.ask('/api/state')).rejects.toMatchObject({
      code: 'CONTROL_UNREACHABLE', message: expect.stringContaining('another certificate'),
    });
    expect(statSync(controlFilePath(stateDir)).mode & 0o777).toBe(0o600);

    // A renewal that went wrong changes nothing.
    copyFileSync(join(PROJECT, 'test', 'fixtures', 'tls', 'first.key'), files.key);
    clock.advanceTo(1_122_000);
    expect(await client().ask('/api/state')).toBeTypeOf('object');
  });

  it('refuses versions before 1.2', async () => {
    const { files } = tlsFiles();
    const { url } = await startTestApi({ stateDir: temporaryFolder(), tls: files });
    const outcome = async (maxVersion: 'TLSv1.1' | 'TLSv1.2'): Promise<string> => new Promise((resolve) => {
      const { hostname, port } = new URL(url);
      const socket = connectTls({
        host: hostname, port: Number(port), rejectUnauthorized: false, minVersion: 'TLSv1', maxVersion,
        ciphers: 'DEFAULT@SECLEVEL=0',
      });
      socket.on('secureConnect', () => {
        resolve(socket.getProtocol() ?? 'none');
        socket.destroy();
      });
      socket.on('error', () => { resolve('refused'); });
    });
    expect([await outcome('TLSv1.1'), await outcome('TLSv1.2')]).toEqual(['refused', 'TLSv1.2']);
  });

  it('refuses a key that others may read, files that are missing, and a key of another certificate', () => {
    const { files } = tlsFiles();
    chmodSync(files.key, 0o644);
    expect(() => readTls(files)).toThrow(/others may read or write the key .*mode 0644.*chmod 600/);
    chmodSync(files.key, 0o640);
    expect(readTls(files).fingerprint).toMatch(/^[\dA-F:]{95}$/);
    copyFileSync(join(PROJECT, 'test', 'fixtures', 'tls', 'renewed.key'), files.key);
    chmodSync(files.key, 0o600);
    expect(() => readTls(files)).toThrow(/cannot be used: .*expected a certificate with its chain and the key to it/);
    expect(() => readTls({ ...files, cert: `${files.cert}.gone` })).toThrow(/no such file/);
  });

  it('is missed where others can reach the API', () => {
    const control = {
      enabled: true, host: '0.0.0.0', port: 1, isPortGiven: true, allowedHosts: [], publicUrl: undefined,
      tls: undefined, trustedProxies: [],
    };
    expect(plainWarning(control)).toMatch(/listens on 0\.0\.0\.0 without TLS/);
    for (const other of [
      { host: '127.0.0.1' }, { enabled: false }, { trustedProxies: ['10.0.0.1'] }, { tls: { cert: 'a', key: 'b' } },
    ]) expect(plainWarning({ ...control, ...other })).toBeUndefined();
  });
});
