import type { ChildProcessByStdio } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
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

/** A started process that has loaded its code, or is loading it, and waits for its options. */
interface WaitingProcess {
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>;
  /** The end of its standard error. */
  readonly errorText: () => string;
  readonly exited: Promise<number | null>;
}

let prepared: WaitingProcess | undefined;

/** Starts the process of the next sandbox, so that it loads its code while this process loads its own. */
export function prepareSandbox(): void {
  prepared ??= startProcess();
}

/** Ends a prepared process that no sandbox needs. */
export function dropPreparedSandbox(): void {
  prepared?.child.kill('SIGTERM');
  prepared = undefined;
}

function startProcess(): WaitingProcess {
  // It gets its own environment only, without the keys of the parent's.
  const { NODE_COMPILE_CACHE: compileCache } = process.env;
  const environment = { PATH: process.env['PATH'] ?? '', TZ: 'UTC', ...(compileCache === undefined ? {}
    : { NODE_COMPILE_CACHE: compileCache }) };
  const child = spawn(process.execPath, [entryFile('sandbox')], { stdio: ['pipe', 'pipe', 'pipe'], env: environment });
  let errorText = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errorText = (errorText + text).slice(-KEPT_ERROR_CHARACTERS);
  });
  // A child that ended closes the pipe; its exit is reported already.
  child.stdin.on('error', () => undefined);
  const exited = once(child, 'exit').then(([code]) => code as number | null);
  // The one that takes the process sees the failure.
  exited.catch(() => undefined);
  return { child, errorText: () => errorText, exited };
}

/**
 * Starts a sandbox as a child process that ends with this one, in the prepared process where there is one. Throws
 * SANDBOX_FAILED with its error output when it does not start.
 */
export async function spawnSandbox(options: SandboxOptions = {}): Promise<SpawnedSandbox> {
  const { child, errorText, exited } = prepared ?? startProcess();
  prepared = undefined;
  child.stdin.write(`${JSON.stringify(options)}\n`);
  const lines = createInterface({ input: child.stdout });
  const first =
    await Promise.race([once(lines, 'line').then(([line]) => line as string), exited.then((code) => ({ code }))]);
  if (typeof first !== 'string') {
    throw new GannetError('SANDBOX_FAILED',
      `expected the sandbox to start, it ended with code ${first.code}: ${printable(errorText().trim(), 600)}`, {
        details: { code: first.code },
      });
  }
  return {
    addresses: JSON.parse(first) as SandboxAddresses,
    // It has written a line, so it has a process id.
    pid: child.pid!,
    errorOutput: () => printable(errorText().trim(), KEPT_ERROR_CHARACTERS),
    exited,
    async stop() {
      // It has nothing to save, and a signal works even while it is busy.
      child.kill('SIGTERM');
      await exited;
    },
  };
}
