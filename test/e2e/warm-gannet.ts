import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const PATIENCE_MS = 60_000;

/** A command line to run, with what it finds around it. */
export interface Order {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** How a command ended, and all that it said. */
export interface Ended {
  /** The exit code; null where a signal ended it. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A process that runs one command line after the other. */
export interface WarmGannet {
  serve(order: Order): Promise<Ended>;
  close(): Promise<void>;
}

/** Returns one that takes compiled code from a folder; its process starts with the first command line. */
export function createWarmGannet(compileCache: string): WarmGannet {
  let server: ChildProcess | undefined;
  let last: Promise<unknown> = Promise.resolve();

  const begin = (): ChildProcess => spawn(process.execPath, ['--disable-warning=ExperimentalWarning', join(import.meta.dirname, 'warm-gannet-process.ts')], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    env: { PATH: process.env['PATH'] ?? '', NODE_COMPILE_CACHE: compileCache },
  });

  const give = (order: Order): Promise<Ended> => new Promise((resolve, reject) => {
    const child = (server ??= begin());
    const settle = (end: () => void): void => {
      clearTimeout(patience);
      child.off('exit', lose).off('message', take);
      end();
    };
    const fail = (reason: string): void => { settle(() => { reject(new Error(`${reason}: gannet ${order.args.join(' ')}`)); }); };
    const lose = (code: number | null, signal: NodeJS.Signals | null): void => { fail(`the process of the commands ended with ${code ?? signal}`); };
    const take = (ended: Ended): void => { settle(() => { resolve(ended); }); };
    const patience = setTimeout(() => {
      child.kill('SIGKILL');
      fail('waited in vain');
    }, PATIENCE_MS);
    child.on('exit', lose).on('message', take);
    child.send(order);
  });

  return {
    serve(order) {
      const ended = last.then(() => give(order));
      last = ended.catch(() => undefined);
      return ended;
    },
    async close() {
      if (server === undefined || server.exitCode !== null || server.signalCode !== null) return;
      const exited = once(server, 'exit');
      server.kill('SIGKILL');
      await exited;
    },
  };
}
