import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { entryFile } from '../core/code-files.ts';
import { GannetError } from '../core/errors.ts';
import { printable } from '../core/text.ts';
import type { SandboxAddresses, SandboxOptions } from './sandbox.ts';

/** A sandbox in a process of its own. */
export interface SpawnedSandbox {
  readonly addresses: SandboxAddresses;
  readonly pid: number;
  /** Returns the end of its standard error, which says why it ended by itself. */
  errorOutput(): string;
  /** Ends the process at once and resolves when it is gone. */
  stop(): Promise<void>;
  /** Resolves with the exit code, null when a signal ended it. */
  readonly exited: Promise<number | null>;
}

const KEPT_ERROR_CHARACTERS = 4_000;

/**
 * Starts a sandbox as a child process that ends with this one. Throws SANDBOX_FAILED with its error output when it does
 * not start.
 */
export async function spawnSandbox(options: SandboxOptions = {}): Promise<SpawnedSandbox> {
  // It gets its own environment only, without the keys of the parent's.
  const { NODE_COMPILE_CACHE: compileCache } = process.env;
  const environment = { PATH: process.env['PATH'] ?? '', TZ: 'UTC', ...(compileCache === undefined ? {}
    : { NODE_COMPILE_CACHE: compileCache }) };
  const child = spawn(process.execPath, [entryFile('sandbox'), JSON.stringify(options)], {
    stdio: ['pipe', 'pipe', 'pipe'], env: environment,
  });
  let errorText = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errorText = (errorText + text).slice(-KEPT_ERROR_CHARACTERS);
  });
  // A child that ended closes the pipe; its exit is reported already.
  child.stdin.on('error', () => undefined);
  const exited = once(child, 'exit').then(([code]) => code as number | null);
  const lines = createInterface({ input: child.stdout });
  const first =
    await Promise.race([once(lines, 'line').then(([line]) => line as string), exited.then((code) => ({ code }))]);
  if (typeof first !== 'string') {
    throw new GannetError('SANDBOX_FAILED',
      `expected the sandbox to start, it ended with code ${first.code}: ${printable(errorText.trim(), 600)}`, {
        details: { code: first.code },
      });
  }
  return {
    addresses: JSON.parse(first) as SandboxAddresses,
    // It has written a line, so it has a process id.
    pid: child.pid!,
    errorOutput: () => printable(errorText.trim(), KEPT_ERROR_CHARACTERS),
    exited,
    async stop() {
      // It has nothing to save, and a signal works even while it is busy.
      child.kill('SIGTERM');
      await exited;
    },
  };
}
