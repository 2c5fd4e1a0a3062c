import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { join, sep } from 'node:path';
import { startBox } from '../../src/daemon/hosts/box.ts';
import type { Playground } from '../e2e/gannet.ts';
import { COMPILE_CACHE, PROJECT } from '../e2e/gannet.ts';
import type { BareAnswer, BareTask } from './bare.ts';
import type { Attack } from './catalogue.ts';
import type { Targets } from './targets.ts';

const ENTRY = join(import.meta.dirname, 'bare.ts');
const ANSWER_FD = 3;
const SOCKET_FD = 9;
const LONGEST_MS = 60_000;
/** What a state directory holds, under names as they are there. */
const STATE_FILES = [
  'journal.sqlite', 'daemon.lock', 'signer-counters.sqlite', 'runs/run/decisions.ndjson', 'runs/run/manifest.json',
  'recordings/run/quotes.arrow', 'logs/gannet.log',
];

/** A run of attacks without a daemon. */
export interface BareRun {
  /** Undefined where the process ended, or was ended, before it answered. */
  readonly answer: BareAnswer | undefined;
  readonly arrivals: readonly string[];
  readonly marks: readonly string[];
  /** The bytes that came over a socket that the process inherited. */
  readonly overSocket: number;
}

/** Puts files into a state directory for attacks to find; nothing depends on them. */
export function furnish(playground: Playground, stateDir: string): void {
  for (const name of STATE_FILES) {
    mkdirSync(join(stateDir, name, '..'), { recursive: true });
    playground.write(join(stateDir.slice(playground.dir.length + 1), name), name.endsWith('.sqlite') ? '' : 'x');
  }
  playground.write(join(stateDir.slice(playground.dir.length + 1), 'control.json'),
    JSON.stringify({ version: 1, url: 'http://127.0.0.1:1/', token: 'not-a-token', pid: 1, run_id: 'run' }));
}

function taskOf(file: string, attacks: readonly Attack[], { aim }: Targets): string {
  const task: BareTask = {
    file: join(import.meta.dirname, 'strategies', `${file}.ts`), answer: ANSWER_FD,
    params: { pair: 'SOL/USDC', size: '25 USDC', every: '5s', attacks: attacks.map(({ name }) => name), aim },
  };
  return JSON.stringify(task);
}

/**
 * Makes attacks in the process of the engine, with nothing around it: with a key in its environment, and with an open
 * key file and a socket among its descriptors.
 */
export async function runBare(file: string, attacks: readonly Attack[], targets: Targets): Promise<BareRun> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [[other]] = await Promise.all([once(server, 'connection') as Promise<[Socket]>, once(socket, 'connect')]);
  let overSocket = 0;
  other.on('error', () => undefined).on('data', (bytes) => { overSocket += bytes.length; });
  const key = openSync(targets.keyFile, 'r');
  // The answer, the key file, and the socket where attacks search for one.
  const stdio = ['ignore', 'ignore', 'ignore', 'pipe', key, ...Array<'ignore'>(SOCKET_FD - 5).fill('ignore'), socket];
  const { PATH = '' } = process.env;
  const args = ['--disable-warning=ExperimentalWarning', ENTRY, taskOf(file, attacks, targets)];
  const child = spawn(process.execPath, args, {
    stdio: stdio as 'ignore'[],
    env: { PATH, NODE_COMPILE_CACHE: COMPILE_CACHE, GANNET_API_KEY: targets.canaries.apiKey },
  });
  const answer = await answerOf(child);
  closeSync(key);
  for (const end of [socket, other]) end.destroy();
  server.close();
  return { answer, arrivals: targets.arrivals(), marks: targets.marks(), overSocket };
}

/** Makes attacks in a box as the processes of strategies have it, but without what these remove from themselves. */
export async function runInBox(file: string, attacks: readonly Attack[], targets: Targets): Promise<BareRun> {
  const { child } = startBox({
    entry: ENTRY, args: [taskOf(file, attacks, targets)], heapMb: 200,
    readable: ['src', 'test', 'strategies', 'node_modules'].map((name) => join(PROJECT, name) + sep),
  });
  const answer = await answerOf(child);
  return { answer, arrivals: targets.arrivals(), marks: targets.marks(), overSocket: 0 };
}

async function answerOf(child: ChildProcess): Promise<BareAnswer | undefined> {
  let text = '';
  (child.stdio[ANSWER_FD] as Socket).on('error', () => undefined).on('data', (bytes: Buffer) => { text += bytes; });
  const timeout = setTimeout(() => { child.kill('SIGKILL'); }, LONGEST_MS);
  await once(child, 'close');
  clearTimeout(timeout);
  try {
    return JSON.parse(text) as BareAnswer;
  } catch {
    return undefined;
  }
}

/** Returns whether an attack showed that it works. */
export function hasWorked({ name, asset, evidence }: Attack, run: BareRun): boolean {
  const { answer, arrivals, marks, overSocket } = run;
  const gained = answer?.alerts.some((text) => text.startsWith(`worked ${name}: `)) === true
    || marks.some((mark) => mark.startsWith(`${name}:`) || mark.startsWith(`${name}.`));
  switch (evidence) {
    case 'gains': return gained || overSocket > 0;
    case 'arrives': return gained || arrivals.some((arrival) =>
      arrival.includes(asset === 'control API' ? 'control: ' : name));
    case 'disturbs': return answer?.isNeighbourDisturbed === true;
    case 'approved': return (answer?.approved ?? 0) > 0;
    case 'ends': return answer === undefined || answer.alerts.some((text) => text.includes('stopped: '));
    case 'none': return true;
  }
}
