import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { PROJECT_DIR } from '../core/code-files.ts';

/** A command that runs in a process of its own beside the benchmark. */
export interface ChildCommand {
  readonly pid: number;
  readonly stdout: Readable;
  /** Throws when the command has ended, because then there is nothing to measure. */
  assertRunning(): void;
  /** Interrupts the command and waits for its end. */
  stop(): Promise<void>;
  /** Waits for the end of the command; throws unless its exit code is 0. */
  ended(): Promise<void>;
}

/** Starts a command of this checkout. Its standard error is shown. */
export function startCommand(args: readonly string[], env: NodeJS.ProcessEnv = process.env): ChildCommand {
  const child: ChildProcess =
    spawn(join(PROJECT_DIR, 'bin', 'gannet'), args, { cwd: PROJECT_DIR, env, stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const name = `gannet ${args[0] ?? ''}`;
  return {
    pid: child.pid!,
    stdout: child.stdout!,
    assertRunning: () => { if (child.exitCode !== null || child.signalCode !== null)
      throw new Error(`${name} ended while it was being measured`); },
    stop: async () => {
      child.kill('SIGINT');
      child.stdout!.resume();
      await exited;
    },
    ended: async () => {
      child.stdout!.resume();
      const [code, signal] = await exited as [number | null, string | null];
      if (code !== 0) throw new Error(`${name} ended with ${code ?? signal ?? 'nothing'}`);
    },
  };
}
