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
  /** Resolves when no process of the group is left: true where they ended by themselves within the time, else they were killed. */
  gone(withinMs: number): Promise<boolean>;
}

/** Starts the daemon as a person would, in a process group of its own. */
export function startDaemon(args: readonly string[], { cwd, environment }: { readonly cwd: string; readonly environment: Readonly<Record<string, string>> }): CrashDaemon {
  const child = spawn(join(PROJECT, 'bin', 'gannet'), args, { cwd, detached: true, stdio: ['ignore', 'pipe', 'pipe'], env: { PATH: process.env['PATH'] ?? '', ...environment } });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => { stdout += text; });
  child.stderr.setEncoding('utf8').on('data', (text: string) => { stderr += text; });
  const pid = child.pid!;
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
          return false;
        }
        await sleep(5);
      }
      return true;
    },
  };
}

function groupLives(pid: number): boolean {
  try {
    process.kill(-pid, 0);
    return true;
  } catch {
    // ESRCH: nobody is left.
    return false;
  }
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It ended between the look and the kill.
  }
}
