import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import type { SandboxAddresses } from '../../src/sandbox/sandbox.ts';
import type { Ended } from './warm-gannet.ts';
import { createWarmGannet } from './warm-gannet.ts';

export type { Ended };

export const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
const GANNET = join(PROJECT, 'bin', 'gannet');
/** Where the launcher keeps compiled code; a command that is started without it finds the same there. */
export const COMPILE_CACHE = join(PROJECT, 'node_modules', '.cache', 'gannet');
const TIMEOUT_MS = 120_000;
const serveWarm = createWarmGannet(COMPILE_CACHE);

/** A line of `--json`; read with assertions, as a script would. */
export type JsonLine = Readonly<Record<string, unknown>> & { readonly type?: string };

/** A command that runs. */
export interface Running {
  readonly pid: number;
  readonly stdout: () => string;
  readonly stderr: () => string;
  readonly lines: () => JsonLine[];
  /** Resolves once the standard output is as wanted; rejects when the process ends before, saying what it said. */
  until(wanted: (stdout: string) => boolean): Promise<void>;
  signal(signal: NodeJS.Signals): void;
  readonly ended: Promise<Ended>;
}

export interface Surroundings {
  readonly cwd?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** As whom the process starts; only root can name another. */
  readonly user?: { readonly uid: number; readonly gid: number };
}

/** A place of its own for the files of one suite, and the processes started in it. */
export interface Playground {
  readonly dir: string;
  path(...parts: string[]): string;
  write(name: string, text: string): string;
  read(...parts: string[]): string;
  start(args: readonly string[], surroundings?: Surroundings): Running;
  run(args: readonly string[], surroundings?: Surroundings): Promise<Ended>;
  /**
   * Runs a command that needs no signer in a process that serves one after the other, which takes a twentieth of the
   * time. What the first process, signals, standard input or the end of a process have a part in is for `run`.
   */
  ask(args: readonly string[], surroundings?: Surroundings): Promise<Ended>;
  /** Ends what still runs and removes all files. */
  close(): Promise<void>;
}

/** Returns a playground whose processes see nothing of this one's environment but the path. */
export function createPlayground(): Playground {
  const dir = mkdtempSync(join(tmpdir(), 'gannet-e2e-'));
  const temporary = join(dir, 'tmp');
  mkdirSync(temporary);
  const running = new Set<Running>();
  const variables = (environment: Readonly<Record<string, string>>): Record<string, string> =>
    ({ PATH: process.env['PATH'] ?? '', TMPDIR: temporary, ...environment });

  const start: Playground['start'] = (args, { cwd = dir, environment = {}, user } = {}) => {
    const child = spawn(GANNET, args, {
      cwd, stdio: ['ignore', 'pipe', 'pipe'], env: variables(environment), ...user,
    });
    let stdout = '';
    let stderr = '';
    const watchers = new Set<() => void>();
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
      for (const watch of watchers) watch();
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => { stderr += text; });
    const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, stdout, stderr }));
    const command: Running = {
      pid: child.pid!,
      stdout: () => stdout,
      stderr: () => stderr,
      lines: () => jsonLines(stdout),
      until: (wanted) => new Promise((resolve, reject) => {
        const give =
          (reason: string): void => { reject(new Error(`${reason}: gannet ${args.join(' ')}\n${stdout}\n${stderr}`)); };
        const timeout = setTimeout(() => { give('the wait timed out'); }, TIMEOUT_MS);
        const watch = (): void => {
          if (!wanted(stdout)) return;
          clearTimeout(timeout);
          watchers.delete(watch);
          resolve();
        };
        watchers.add(watch);
        void ended.then(({ code }) => {
          clearTimeout(timeout);
          give(`ended with ${code}`);
        });
        watch();
      }),
      signal: (signal) => { child.kill(signal); },
      ended,
    };
    running.add(command);
    void ended.then(() => running.delete(command));
    return command;
  };

  return {
    dir,
    path: (...parts) => join(dir, ...parts),
    write(name, text) {
      const file = join(dir, name);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
      return file;
    },
    read: (...parts) => readFileSync(join(dir, ...parts), 'utf8'),
    start,
    run: (args, surroundings) => start(args, surroundings).ended,
    ask: (args, { cwd = dir, environment = {} } = {}) => serveWarm({ args, cwd, environment: variables(environment) }),
    async close() {
      const left = [...running];
      for (const command of left) command.signal('SIGKILL');
      await Promise.all(left.map(({ ended }) => ended));
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** Starts a sandbox as a service of another process; `args` come after the seed. Returns where it is. */
export async function startSandbox(
  playground: Pick<Playground, 'start'>, seed: number, ...args: readonly string[]
): Promise<SandboxAddresses & { readonly running: Running }> {
  const running = playground.start(['sandbox', '--json', '--seed', String(seed), ...args]);
  await running.until((stdout) => stdout.includes('\n'));
  return { ...running.lines()[0] as unknown as SandboxAddresses, running };
}

/** Replays a finished run, and verifies its recording; returns the folder of the recording. */
export async function replayed(playground: Playground, summary: JsonLine, {
  state, environment,
}: { readonly state: string; readonly environment: Readonly<Record<string, string>> }): Promise<string> {
  const { run_id: run, decision_hash: hash } = summary;
  expect(document(await playground.ask(['replay', String(run), '--json', '--state-dir', state], { environment })))
    .toMatchObject({ match: true, decision_hash: hash });
  const recording = join(state, 'recordings', String(run));
  expect(document(await playground.ask(['recording', 'verify', recording, '--json', '--state-dir', state])))
    .toMatchObject({ valid: true });
  return recording;
}

/** Returns the whole lines of a stream of JSON documents; every one must be JSON. */
export function jsonLines(stdout: string): JsonLine[] {
  return stdout.split('\n').slice(0, -1).map((line) => JSON.parse(line) as JsonLine);
}

/** Returns the one document that a command printed. */
export function document(ended: Ended): JsonLine {
  const lines = jsonLines(ended.stdout);
  expect(lines, `${ended.stdout}\n${ended.stderr}`).toHaveLength(1);
  return lines[0]!;
}

/** Returns the text of a configuration of the project, changed where asked, with any free port for the control API. */
export function configText(name: string, changes: readonly (readonly [from: string, to: string])[] = []): string {
  let text = `control: { port: 0 }\n${readFileSync(join(PROJECT, 'config', name), 'utf8')}`;
  for (const [from, to] of changes) {
    expect(text).toContain(from);
    text = text.replace(from, to);
  }
  return text;
}

/** Returns the processes whose parent is `pid`. */
export function childrenOf(pid: number): number[] {
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name)).filter((name) => {
    const status = join('/proc', name, 'stat');
    // The name of the program may hold blanks and brackets; what follows the last one is fixed.
    return existsSync(status) && Number(readIfThere(status).split(') ').at(-1)?.split(' ')[1]) === pid;
  }).map(Number);
}

/** Returns the process that trades beside the signer that was started, as soon as it is there. */
export async function daemonOf({ pid }: Running): Promise<number> {
  const giveUpAt = Date.now() + TIMEOUT_MS;
  for (;;) {
    const [daemon] = childrenOf(pid);
    if (daemon !== undefined) return daemon;
    if (Date.now() > giveUpAt) throw new Error(`process ${pid} has no child`);
    await new Promise((resolve) => { setTimeout(resolve, 10); });
  }
}

/** Returns whether a process lives; one that ended but was not yet waited for does not. */
export function isRunning(pid: number): boolean {
  const state = readIfThere(`/proc/${pid}/stat`).split(') ').at(-1)?.charAt(0) ?? '';
  return state !== '' && state !== 'Z';
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    // Processes come and go during the scan.
    return '';
  }
}

/** Returns every file under a folder, relative to it; empty where there is none. */
export function filesIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(join(folder, name)).isFile())
    .sort();
}

/** Returns a copy of a state directory in which a test may spoil things. */
export function copyOf(playground: Playground, folder: string, name: string): string {
  const copy = playground.path(name);
  cpSync(folder, copy, { recursive: true });
  return copy;
}

/** Changes one byte in the middle of a file. */
export function flipByte(file: string): void {
  const bytes = readFileSync(file);
  const middle = Math.floor(bytes.length / 2);
  bytes[middle] = bytes[middle]! ^ 1;
  writeFileSync(file, bytes);
}

