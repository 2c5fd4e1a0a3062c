import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { PROJECT } from '../e2e/gannet.ts';

/** A daemon with all its processes. */
export interface CrashDaemon {
  /** Of the first process, and of the group of all of them. */
  readonly pid: number;
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** Resolves with exit code or signal when the first process has ended. */
  readonly ended: Promise<number | NodeJS.Signals>;
  signal(signal: NodeJS.Signals): void;
  /**
   * Resolves when no process of the group is left: true where they ended by themselves within the time, else they were
   * killed.
   */
  gone(withinMs: number): Promise<boolean>;
}

/** Where bin/gannet keeps it too; a signer that is started without it has it from here. */
const COMPILED = join(PROJECT, 'node_modules', '.cache', 'gannet');
/** Those that may still live: in groups of their own they would outlive a campaign that is interrupted. */
const groups = new Set<number>();
process.on('exit', () => {
  for (const pid of groups) killGroup(pid);
});

/** How a daemon is started. */
export interface DaemonStart {
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
  /**
   * Modules to be loaded before the signer too, which takes none from the environment; absent: started as a person
   * would.
   */
  readonly signerPreloads?: readonly string[] | undefined;
  /** The checkout whose code runs; this one by default. */
  readonly project?: string | undefined;
}

/** Starts the daemon in a process group of its own. */
export function startDaemon(
  args: readonly string[], { cwd, environment, signerPreloads, project = PROJECT }: DaemonStart,
): CrashDaemon {
  const [command, first] = signerPreloads === undefined
    ? [join(project, 'bin', 'gannet'), []]
    : [
      process.execPath,
      ['--disable-warning=ExperimentalWarning', ...signerPreloads, join(project, 'src', 'signer', 'main.ts')],
    ];
  const child = spawn(command, [...first, ...args], {
    cwd, detached: true, stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'] ?? '', NODE_COMPILE_CACHE: COMPILED, ...environment },
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => { stdout += text; });
  child.stderr.setEncoding('utf8').on('data', (text: string) => { stderr += text; });
  const pid = child.pid!;
  groups.add(pid);
  return {
    pid,
    stdout: () => stdout,
    stderr: () => stderr,
    ended: once(child, 'exit').then(([code, signal]) => (code ?? signal) as number | NodeJS.Signals),
    signal: (signal) => { child.kill(signal); },
    async gone(withinMs) {
      const giveUpAt = performance.now() + withinMs;
      while (groupLives(pid)) {
        if (performance.now() > giveUpAt) {
          killGroup(pid);
          groups.delete(pid);
          return false;
        }
        await sleep(5);
      }
      groups.delete(pid);
      return true;
    },
  };
}

function groupLives(pid: number): boolean {
  try {
    process.kill(-pid, 0);
    return true;
  } catch {
    // ESRCH: no process is left.
    return false;
  }
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It ended between the check and the kill.
  }
}
