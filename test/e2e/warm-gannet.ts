import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { join } from 'node:path';

const TIMEOUT_MS = 120_000;

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

/** Runs a command line in a process that runs one after the other. */
export type ServeWarm = (order: Order) => Promise<Ended>;

/**
 * Returns what serves command lines, of all files of tests that share this process; it takes compiled code from a
 * folder. Its process starts with the first of them, and ends with this one.
 */
export function createWarmGannet(compileCache: string): ServeWarm {
  let server: ChildProcess | undefined;
  let last: Promise<unknown> = Promise.resolve();

  const begin = (): ChildProcess => {
    const child = spawn(process.execPath,
      ['--disable-warning=ExperimentalWarning', join(import.meta.dirname, 'warm-gannet-process.ts')], {
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
        env: { PATH: process.env['PATH'] ?? '', NODE_COMPILE_CACHE: compileCache },
      });
    child.once('exit', () => { server = undefined; });
    return child;
  };

  const give = (order: Order): Promise<Ended> => new Promise((resolve, reject) => {
    const child = (server ??= begin());
    hold(child, true);
    const settle = (end: () => void): void => {
      clearTimeout(timeout);
      child.off('exit', lose).off('message', take);
      hold(child, false);
      end();
    };
    const fail =
      (reason: string): void => { settle(() => { reject(new Error(`${reason}: gannet ${order.args.join(' ')}`)); }); };
    const lose = (
      code: number | null, signal: NodeJS.Signals | null,
    ): void => { fail(`the process of the commands ended with ${code ?? signal}`); };
    const take = (ended: Ended): void => { settle(() => { resolve(ended); }); };
    const timeout = setTimeout(() => {
      child.kill('SIGKILL');
      fail('the wait timed out');
    }, TIMEOUT_MS);
    child.on('exit', lose).on('message', take);
    child.send(order);
  });

  return (order) => {
    const ended = last.then(() => give(order));
    last = ended.catch(() => undefined);
    return ended;
  };
}

/** A process that waits for its next command line keeps no other running. */
function hold(child: ChildProcess, held: boolean): void {
  const act = held ? 'ref' : 'unref';
  child[act]();
  child.channel?.[act]();
}
