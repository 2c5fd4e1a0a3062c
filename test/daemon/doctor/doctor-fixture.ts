import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { request } from 'undici';
import { readHere } from '../../../src/config/strategies/read-here.ts';
import type { Check, DoctorScope } from '../../../src/daemon/doctor/check.ts';
import { examine } from '../../../src/daemon/doctor/doctor.ts';
import type { Machine } from '../../../src/daemon/doctor/machine.ts';
import { systemClock } from '../../../src/daemon/watch/system-clock.ts';
import type { Sandbox } from '../../../src/sandbox/sandbox.ts';
import { startSandbox } from '../../../src/sandbox/sandbox.ts';
import { prepareWallet } from '../../../src/signer/channel/server.ts';

export const API_KEY = 'the-key-of-an-operator';
const MIB = 1024 * 1024;

/** A machine on which nothing is wrong. */
export const GOOD_MACHINE: Machine = {
  node: '26.10.0', nodeWanted: '26.10.0', packagesFault: undefined, user: process.getuid?.(), openFiles: 20_000,
  freeMemoryBytes: 4_000 * MIB, timeZone: undefined, unitsDir: '/nowhere', guardsBoxes: true,
  room: () => ({ device: 1, bytes: 50_000 * MIB, inodes: 1_000_000 }),
};

/** What a lying server says in place of the true answer; undefined for the true one. */
export interface Lies {
  /** Added to the time of each answer. */
  clockMs: number;
  /** The result or the error of a method of the node. */
  readonly rpc: Map<string, Lie | ((asked: { readonly params: readonly unknown[] }) => Lie)>;
}

type Lie = { readonly result: unknown } | { readonly error: { code: number; message: string } };

/** A service and a node between which and the doctor a liar stands. */
export interface LyingHost {
  readonly sandbox: Sandbox;
  readonly url: string;
  readonly lies: Lies;
  close(): Promise<void>;
}

/** Starts a sandbox behind a server that passes requests on, and lies where it is told to. */
export async function startLyingHost(): Promise<LyingHost> {
  const sandbox = await startSandbox({ apiKeys: [API_KEY] });
  const lies: Lies = { clockMs: 0, rpc: new Map() };
  const server = createServer((asked, answer) => {
    void (async () => {
      const body = await textOf(asked);
      const told = asked.url === '/rpc' ? lies.rpc.get((JSON.parse(body) as { method: string }).method) : undefined;
      const lie = typeof told === 'function' ? told(JSON.parse(body) as { params: unknown[] }) : told;
      answer.setHeader('date', new Date(Date.now() + lies.clockMs).toUTCString());
      if (lie !== undefined) {
        const { id } = JSON.parse(body) as { id: number };
        answer.end(JSON.stringify({ jsonrpc: '2.0', id, ...lie }));
        return;
      }
      const { base_url: service, rpc_url: node } = sandbox.addresses;
      const key = asked.headers['x-api-key'];
      const passed = await request(asked.url === '/rpc' ? node : `${service}${asked.url}`, {
        method: asked.method === 'POST' ? 'POST' : 'GET', body: asked.method === 'POST' ? body : null,
        headers: { 'content-type': 'application/json', ...(typeof key === 'string' ? { 'x-api-key': key } : {}) },
      });
      answer.statusCode = passed.statusCode;
      answer.end(await passed.body.text());
    })();
  });
  await new Promise<void>((done) => { server.listen(0, '127.0.0.1', done); });
  return {
    sandbox, lies, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await sandbox.close();
    },
  };
}

async function textOf(asked: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of asked.setEncoding('utf8')) text += String(chunk);
  return text;
}

/** The place of one examination; a case changes it before. */
export interface Scene {
  readonly folder: string;
  readonly stateDir: string;
  readonly keyFile: string;
  /** The configuration; `replace` changes a part that must be there. */
  config: string;
  replace(part: string | RegExp, by: string): void;
  machine: Machine;
  environment: Record<string, string | undefined>;
  offline: boolean;
  examine(): Promise<readonly Check[]>;
}

/** Returns the place of a live daemon on which nothing is wrong. The caller deletes the folder. */
export function soundScene({ url, sandbox }: LyingHost): Scene {
  const folder = mkdtempSync(join(tmpdir(), 'gannet-doctor-'));
  const [stateDir, keyDir] = [join(folder, 'state'), join(folder, 'keys')];
  for (const dir of [stateDir, keyDir]) mkdirSync(dir, { mode: 0o700 });
  const keyFile = join(keyDir, 'wallet.key');
  writeFileSync(keyFile, sandbox.addresses.wallet.private_key, { mode: 0o600 });
  const scene: Scene = {
    folder, stateDir, keyFile, machine: GOOD_MACHINE, environment: { GANNET_API_KEY: API_KEY }, offline: false,
    config: `
mode: live
service: { base_url: "${url}", api_key: "\${GANNET_API_KEY}", plan: developer }
chain: { rpc_url: "${url}/rpc" }
wallet: { key_from: "file:${keyFile}", address: ${sandbox.addresses.wallet.address}, sol_reserve: "0.05 SOL" }
tokens: { SOL: So11111111111111111111111111111111111111112, USDC: EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v }
signer: { caps: { USDC: { per_trade: "50", per_hour: "200", per_day: "500" },
    SOL: { per_trade: "5", per_hour: "20", per_day: "50" } } }
risk:
  max_trade: "25 USDC"
  max_position: { SOL: "100 USDC" }
  max_swaps: { per_minute: 2, per_hour: 12, per_day: 60 }
  protections: [{ kind: daily_loss, limit: "25 USDC", action: halt }]
control: { port: 0 }
strategies:
  - { use: mean-reversion, name: dip, budget: "100 USDC", max_age: 30s,
      params: { pair: SOL/USDC, size: "10 USDC", every: 5s, window: 30, k: 2 } }
`,
    replace(part, by) {
      const changed = scene.config.replace(part, () => by);
      if (changed === scene.config) throw new Error(`the configuration has no ${String(part)}`);
      scene.config = changed;
    },
    async examine() {
      const file = join(folder, 'live.yaml');
      writeFileSync(file, scene.config);
      chmodSync(file, 0o600);
      const place = { args: ['doctor', '--config', file, '--state-dir', scene.stateDir], workingDir: folder,
        environment: scene.environment };
      const wallet = prepareWallet(place)();
      const scope: DoctorScope = {
        config: file, stateDir: scene.stateDir, workingDir: folder, environment: scene.environment, withheld: [],
        clock: systemClock,
        overrides: { baseUrl: undefined, rpcUrl: undefined, apiKeyEnv: undefined }, strategyReader: readHere,
        connectSigner: () => ({ address: () => wallet.address(), close: () => { wallet.close(); } }),
        machine: scene.machine, offline: scene.offline,
      };
      return examine(scope);
    },
  };
  return scene;
}
