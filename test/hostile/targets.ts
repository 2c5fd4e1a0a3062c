import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { Canaries, Leak } from '../campaign/canary/secrets.ts';
import { createMemorySearch, newCanaries } from '../campaign/canary/secrets.ts';
import type { Playground } from '../e2e/gannet.ts';
import { filesIn, isRunning, PROJECT } from '../e2e/gannet.ts';
import type { Aim } from './strategies/attack.ts';

/** What attacks aim at, and what shows that one of them worked. */
export interface Targets {
  readonly aim: Aim;
  readonly canaries: Canaries;
  /** The configuration that names the key; it must not change either. */
  readonly keyFile: string;
  /** What arrived at the listeners, each as `name: bytes`. */
  readonly arrivals: () => string[];
  /** What attacks wrote, each as `name: text`. */
  marks(): string[];
  /** What was changed or ended that no run of Gannet changes. */
  damage(): string[];
  /** Secrets in some bytes: the wallet's key, the API key, and the word of the file that every user can read. */
  readonly leaksIn: (bytes: Buffer) => Leak[];
  readonly close: () => Promise<void>;
}

/** Returns invented secrets, listeners and a process to signal, in the folder of a playground. */
export async function createTargets(playground: Playground, { stateDir, attacks }: {
  readonly stateDir: string; readonly attacks: readonly string[];
}): Promise<Targets> {
  const canaries = newCanaries();
  const marks = playground.path('marks');
  mkdirSync(marks);
  // Another user must find nothing in its way but the box.
  for (const folder of [playground.dir, marks]) chmodSync(folder, 0o777);
  const keyFile = playground.write('input-key.json', canaries.wallet.json);
  chmodSync(keyFile, 0o600);
  const canaryFile = playground.write('input-canary', canaries.rpcKey);
  const environment = playground.write('input-environment', `GANNET_API_KEY=${canaries.apiKey}\n`);
  playground.write('input-outside.mjs', `export default ${JSON.stringify(canaries.rpcKey)};\n`);
  const victim = spawn('sleep', ['3600'], { stdio: 'ignore' });
  const listeners = await listen(attacks, join(marks, '..', 'listener'));
  const guarded = [keyFile, canaryFile, environment, join(PROJECT, 'strategies', 'dca.ts'),
    join(PROJECT, 'src', 'signer', 'main.ts')];
  const before = guarded.map(stateOf);
  return {
    canaries, keyFile,
    aim: {
      keyFile, canaryFile, stateDir, marks, project: PROJECT.replace(/\/$/, ''), unix: listeners.unix,
      tcp: listeners.tcp, udp: listeners.udp, victim: victim.pid!,
    },
    arrivals: listeners.arrivals,
    marks: () => readdirSync(marks).map((name) => `${name}: ${markOf(join(marks, name))}`),
    damage: () => [
      ...guarded.filter((file, at) => stateOf(file) !== before[at]).map((file) => `${file} was changed`),
      ...(isRunning(victim.pid!) ? [] : ['a process that has nothing to do with the run was ended']),
    ],
    leaksIn: searchFor(canaries),
    close: async () => {
      await Promise.all([listeners.close(), ended(victim)]);
    },
  };
}

/** So long a part of a secret word is a leak. */
const RUN = 16;

/** Returns a search for the key in every usual form, and for parts of the other secrets as they are. */
function searchFor(canaries: Canaries): Targets['leaksIn'] {
  const searchKey = createMemorySearch(canaries);
  const words = [['API key', canaries.apiKey], ['RPC key', canaries.rpcKey]] as const;
  const needles = words.flatMap(([secret, word]) =>
    Array.from({ length: Math.floor((word.length - RUN) / (RUN / 2)) + 1 }, (_, at) => (
      { secret, part: Buffer.from(word.slice(at * RUN / 2, at * RUN / 2 + RUN)) })));
  return (bytes) => [
    ...searchKey(bytes),
    ...needles.filter(({ part }) => bytes.includes(part)).map(({ secret, part }) => ({ secret, around: String(part) })),
  ];
}

/** Returns the leaks in all files under a folder, except those that hold secrets by intention. */
export function leaksInFiles(folder: string, { leaksIn }: Targets): string[] {
  return filesIn(folder).filter((name) => !name.split('/').some((part) => part.startsWith('input-')))
    .flatMap((name) => leaksIn(readFileSync(join(folder, name))).map(({ secret }) => `${secret} in ${name}`));
}

function stateOf(file: string): string {
  if (!existsSync(file)) return 'gone';
  const { mode, uid, mtimeMs } = statSync(file);
  return `${mode} ${uid} ${mtimeMs} ${createHash('sha256').update(readFileSync(file)).digest('hex')}`;
}

function markOf(file: string): string {
  return statSync(file).isFile() ? readFileSync(file, 'latin1').slice(0, 200) : 'a folder';
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}

interface Listeners extends Pick<Aim, 'tcp' | 'udp' | 'unix'> {
  readonly arrivals: () => string[];
  readonly close: () => Promise<void>;
}

/** Listens on a port for each attack, on one for datagrams, and on a Unix socket. */
async function listen(attacks: readonly string[], path: string): Promise<Listeners> {
  const arrivals: string[] = [];
  const open = new Set<{ destroy(): void }>();
  const serve = async (name: string, at: number | string): Promise<ReturnType<typeof createServer>> => {
    const server = createServer((socket) => {
      arrivals.push(`${name}: connected`);
      open.add(socket);
      const note = (bytes: Buffer): void => { arrivals.push(`${name}: ${bytes.toString('latin1')}`); };
      socket.on('error', () => undefined).on('data', note);
    });
    if (typeof at === 'number') server.listen(at, '127.0.0.1');
    else server.listen(at);
    await once(server, 'listening');
    return server;
  };
  const servers = await Promise.all(attacks.map((name) => serve(name, 0)));
  const unixServer = await serve('unix-socket', path);
  chmodSync(path, 0o777);
  const datagrams = createSocket('udp4');
  datagrams.on('message', (bytes) => { arrivals.push(`udp: ${bytes.toString('latin1')}`); });
  datagrams.bind(0, '127.0.0.1');
  await once(datagrams, 'listening');
  return {
    tcp: Object.fromEntries(attacks.map((name, at) => [name, (servers[at]!.address() as AddressInfo).port])),
    udp: datagrams.address().port,
    unix: path,
    arrivals: () => arrivals,
    close: async () => {
      for (const socket of open) socket.destroy();
      datagrams.close();
      await Promise.all([...servers, unixServer].map((server) => new Promise((resolve) => { server.close(resolve); })));
    },
  };
}
