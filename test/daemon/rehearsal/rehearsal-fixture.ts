import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, RequestListener } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo, Server, Socket } from 'node:net';
import { connect, createServer as createSocketServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import bs58 from 'bs58';
import { request } from 'undici';
import { readHere } from '../../../src/config/strategies/read-here.ts';
import type { Check } from '../../../src/daemon/doctor/check.ts';
import { examineConfig } from '../../../src/daemon/doctor/config-checks.ts';
import { createHostRecord } from '../../../src/daemon/rehearsal/host-record.ts';
import type { Rehearsal } from '../../../src/daemon/rehearsal/rehearse.ts';
import { rehearse } from '../../../src/daemon/rehearsal/rehearse.ts';
import { swapsOfStrategies } from '../../../src/daemon/rehearsal/rehearsed-swaps.ts';
import { openConnections } from '../../../src/daemon/run/connections.ts';
import { systemClock } from '../../../src/daemon/watch/system-clock.ts';
import type { Profile, Sandbox } from '../../../src/sandbox/sandbox.ts';
import { startSandbox } from '../../../src/sandbox/sandbox.ts';
import { loadDialect } from '../../../src/service/wire/dialect.ts';
import { createSignerClient } from '../../../src/signer/channel/client.ts';
import { prepareWallet, serveSigner } from '../../../src/signer/channel/server.ts';
import { GOOD_MACHINE } from '../doctor/doctor-fixture.ts';
import { SESSION_KEY } from '../../signer/session.ts';

const API_KEY = 'the-key-of-an-operator';

type Members = Record<string, unknown>;

/** What the host between rehearsal and sandbox says in place of the truth. */
export interface Lies {
  /** Changes the query of a request of the service. */
  query?: (path: string, query: URLSearchParams) => void;
  /** Answers a request of the service itself. */
  service?: (path: string, query: URLSearchParams) => { readonly status: number; readonly body?: unknown } | undefined;
  /** Changes an answer of the service. */
  answer?: (path: string, body: Members, query: URLSearchParams) => void;
  /** Answers a method of the node itself. */
  rpc?: (method: string, params: readonly unknown[]) =>
    { readonly result: unknown } | { readonly error: { readonly code: number; readonly message: string } } | undefined;
  /** Changes the result of a method of the node. */
  result?: (method: string, result: unknown, params: readonly unknown[]) => unknown;
  /** Added to the time of each answer. */
  clockMs?: number;
}

/** A host that passes requests on to a sandbox, lies as told, and keeps what was asked. */
export interface RehearsalHost {
  readonly url: string;
  readonly sandbox: Sandbox;
  lies: Lies;
  /** Each path of the service, and each method of the node. */
  readonly asked: string[];
  /** The same host for another server, such as one with TLS. */
  readonly listener: RequestListener;
  close(): Promise<void>;
}

export async function startRehearsalHost(profile: Profile = 'reference'): Promise<RehearsalHost> {
  const sandbox = await startSandbox({ apiKeys: [API_KEY], speed: 0, profile });
  const host: { lies: Lies } = { lies: {} };
  const asked: string[] = [];
  const listener: RequestListener = (received, answer) => {
    void (async () => {
      const body = await textOf(received);
      const url = new URL(received.url ?? '/', 'http://host');
      answer.setHeader('date', new Date(Date.now() + (host.lies.clockMs ?? 0)).toUTCString());
      // It has no websocket.
      const isSocket = url.pathname === '/rpc' && received.method === 'GET';
      const { status, text } = isSocket ? { status: 404, text: '' }
        : url.pathname === '/rpc' ? { status: 200, text: await fromNode(body) }
          : await fromService(received, url, body);
      answer.statusCode = status;
      answer.setHeader('content-type', 'application/json');
      answer.end(text);
    })();
  };
  async function fromNode(body: string): Promise<string> {
    const { id, method, params } = JSON.parse(body) as { id: number; method: string; params: readonly unknown[] };
    asked.push(method);
    const lie = host.lies.rpc?.(method, params);
    if (lie !== undefined) return JSON.stringify({ jsonrpc: '2.0', id, ...lie });
    const passed = await request(sandbox.addresses.rpc_url, {
      method: 'POST', body, headers: { 'content-type': 'application/json' },
    });
    const text = await passed.body.text();
    if (host.lies.result === undefined) return text;
    const answer = JSON.parse(text) as Members;
    return JSON.stringify({ ...answer, result: host.lies.result(method, answer['result'], params) });
  }
  async function fromService(
    received: IncomingMessage, url: URL, body: string,
  ): Promise<{ readonly status: number; readonly text: string }> {
    asked.push(`${received.method} ${url.pathname}`);
    host.lies.query?.(url.pathname, url.searchParams);
    const lie = host.lies.service?.(url.pathname, url.searchParams);
    if (lie !== undefined) return { status: lie.status, text: JSON.stringify(lie.body ?? {}) };
    const key = received.headers['x-api-key'];
    const passed = await request(`${sandbox.addresses.base_url}${url.pathname}${url.search}`, {
      method: received.method === 'POST' ? 'POST' : 'GET', body: received.method === 'POST' ? body : null,
      headers: { 'content-type': 'application/json', ...(typeof key === 'string' ? { 'x-api-key': key } : {}) },
    });
    const text = await passed.body.text();
    if (host.lies.answer === undefined || passed.statusCode !== 200) return { status: passed.statusCode, text };
    const answer = JSON.parse(text) as Members;
    host.lies.answer(url.pathname, answer, url.searchParams);
    return { status: 200, text: JSON.stringify(answer) };
  }
  const server = createServer(listener);
  await new Promise<void>((done) => { server.listen(0, '127.0.0.1', done); });
  return {
    sandbox, asked, listener, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get lies() { return host.lies; },
    set lies(lies) { host.lies = lies; },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await sandbox.close();
    },
  };
}

/** Returns whether a call simulates a transaction of version 1. */
export function isVersionOne(method: string, [transaction]: readonly unknown[]): boolean {
  return method === 'simulateTransaction' && typeof transaction === 'string'
    && Buffer.from(transaction, 'base64')[0] === 0x81;
}

async function textOf(received: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of received.setEncoding('utf8')) text += String(chunk);
  return text;
}

/** The place of one rehearsal; a row changes it before. */
export interface RehearsalScene {
  readonly folder: string;
  readonly stateDir: string;
  config: string;
  environment: Record<string, string | undefined>;
  /** What the doctor would find in addition. */
  configChecks: readonly Check[];
  replace(part: string | RegExp, by: string): void;
  rehearse(): Promise<Rehearsal>;
  close(): void;
}

/** Returns the place of a live configuration on which nothing is wrong. */
export function rehearsalScene({ url, sandbox }: RehearsalHost): RehearsalScene {
  const folder = mkdtempSync(join(tmpdir(), 'gannet-rehearsal-'));
  const stateDir = join(folder, 'state');
  const keyFile = join(folder, 'wallet.key');
  mkdirSync(stateDir, { mode: 0o700 });
  writeFileSync(keyFile, sandbox.addresses.wallet.private_key, { mode: 0o600 });
  const scene: RehearsalScene = {
    folder, stateDir, environment: { GANNET_API_KEY: API_KEY }, configChecks: [],
    config: `
mode: live
service: { base_url: "${url}", api_key: "\${GANNET_API_KEY}", requests_per_second: 100 }
chain: { rpc_url: "${url}/rpc" }
wallet: { key_from: "file:${keyFile}", address: ${sandbox.addresses.wallet.address}, sol_reserve: "0.05 SOL" }
tokens: { SOL: So11111111111111111111111111111111111111112, USDC: EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v }
signer: { caps: { USDC: { per_trade: "50", per_hour: "200", per_day: "500" },
    SOL: { per_trade: "5", per_hour: "20", per_day: "50" } } }
risk:
  max_trade: "25 USDC"
  max_position: { SOL: "100 USDC" }
  max_fee_bps: 30
  max_swaps: { per_minute: 2, per_hour: 12, per_day: 60 }
  max_quote_age: 20s
  protections: [{ kind: daily_loss, limit: "25 USDC", action: halt }]
strategies:
  - { use: mean-reversion, name: dip, budget: "100 USDC", max_age: 30s,
      params: { pair: SOL/USDC, size: "10 USDC", every: 5s, window: 30, k: 2 } }
`,
    replace(part, by) {
      const changed = scene.config.replace(part, () => by);
      if (changed === scene.config) throw new Error(`the configuration has no ${String(part)}`);
      scene.config = changed;
    },
    rehearse: () => rehearseHere(scene),
    close: () => { rmSync(folder, { recursive: true, force: true }); },
  };
  return scene;
}

async function rehearseHere(scene: RehearsalScene): Promise<Rehearsal> {
  const { folder, stateDir, config: text, environment } = scene;
  const file = join(folder, 'live.yaml');
  writeFileSync(file, text, { mode: 0o600 });
  const { config, checks, probe } = await examineConfig({
    config: file, stateDir, workingDir: folder, environment, withheld: [], connectSigner: undefined,
    overrides: { baseUrl: undefined, rpcUrl: undefined, apiKeyEnv: undefined }, strategyReader: readHere,
    machine: GOOD_MACHINE, offline: false, clock: systemClock,
  });
  if (config === undefined) throw new Error(JSON.stringify(checks.filter(({ ok }) => !ok)));
  const record = createHostRecord(loadDialect(config.service.dialect));
  const connections = await openConnections({
    baseUrl: config.service.baseUrl, rpcUrl: config.chain.rpcUrl, apiKey: config.service.apiKey,
    dialect: config.service.dialect, plan: config.service.plan, seed: 1, clock: systemClock,
    onAnswer: (answer) => { record.heard(answer); },
  });
  const [near, far, server] = await socketPair(join(folder, `signer-${Math.trunc(performance.now())}`));
  const wallet = prepareWallet({
    args: ['rehearse', '--config', file, '--state-dir', stateDir], workingDir: folder, environment,
  })();
  serveSigner({ channel: far, sessionKey: SESSION_KEY, wallet, onFault: (fault) => { throw new Error(fault); } });
  const client = createSignerClient(near, SESSION_KEY);
  try {
    return await rehearse({
      config, connections, connectSigner: () => client, probe, environment, swaps: swapsOfStrategies(config),
      clock: systemClock, record, configChecks: [...checks, ...scene.configChecks],
    });
  } finally {
    client.close();
    wallet.close();
    far.destroy();
    server.close();
    await connections.close();
  }
}

async function socketPair(path: string): Promise<readonly [Socket, Socket, Server]> {
  const { promise: far, resolve } = Promise.withResolvers<Socket>();
  const server = createSocketServer(resolve);
  await new Promise<void>((done) => { server.listen(path, done); });
  const near = connect(path);
  return [near, await far, server];
}

/** Where a token account's data hold its mint, owner, amount and state. */
const [MINT, OWNER, AMOUNT, STATE, ACCOUNT_BYTES] = [0, 32, 64, 108, 165];

/** Returns the data of a token account in base64. */
export function tokenAccountData({ mint, owner, amount }: {
  readonly mint: string; readonly owner: string; readonly amount: bigint;
}): string {
  const data = Buffer.alloc(ACCOUNT_BYTES);
  data.set(bs58.decode(mint), MINT);
  data.set(bs58.decode(owner), OWNER);
  data.writeBigUInt64LE(amount, AMOUNT);
  data.writeUInt8(1, STATE);
  return data.toString('base64');
}

/** Returns the data of a token account as its issuer leaves it when it freezes it. */
export function frozenData(text: string): string {
  const data = Buffer.from(text, 'base64');
  data.writeUInt8(2, STATE);
  return data.toString('base64');
}
