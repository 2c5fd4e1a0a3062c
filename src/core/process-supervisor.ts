import { spawn, type ChildProcess } from 'node:child_process';
import { printable } from './text.ts';
import type { Millis } from './time.ts';

/** The state that a process tells its service manager; several at once are one message. */
interface ServiceState {
  /** The start is complete: units that wait for this one may start. */
  readonly ready?: boolean;
  /** It is well: another span of the watchdog may begin. */
  readonly well?: boolean;
  readonly stopping?: boolean;
  /** One line for people. */
  readonly status?: string;
}

/** The service manager that supervises this process. */
export interface ServiceManager {
  /** It restarts the process after so long without `well`; undefined where it does not watch. */
  readonly watchdogMs: Millis | undefined;
  tell(state: ServiceState): void;
  /** Sends what was told, and tells nothing more. */
  close(): void;
}

const SOCKET = 'NOTIFY_SOCKET';
const WATCHDOG_US = 'WATCHDOG_USEC';
const WATCHDOG_PID = 'WATCHDOG_PID';
const STATUS_MAX = 300;
/** So much may wait for a manager that takes nothing. */
const WAITING_MAX_BYTES = 64 * 1024;
/**
 * Node has no datagram sockets of Unix, and `systemd-notify` sends one message. A shell starts it for each line: to
 * start it from a process with a large heap would stop the event loop for many milliseconds.
 */
const SENDER = `IFS='\t'; set -f; while read -r line; do set -- $line; systemd-notify "$@" || exit 1; done`;

/**
 * Returns the service manager that the variables name, and removes them, so that child processes neither see nor use
 * them; undefined without one. `onFault` is called once where it cannot be told anything.
 */
export function takeServiceManager(
  variables: Record<string, string | undefined>, onFault: (message: string) => void,
): ServiceManager | undefined {
  const { [SOCKET]: socket, [WATCHDOG_US]: watchdog, PATH: path = '/usr/bin:/bin' } = variables;
  for (const name of [SOCKET, WATCHDOG_US, WATCHDOG_PID]) delete variables[name];
  if (socket === undefined || socket === '') return undefined;
  const environment = { PATH: path, [SOCKET]: socket };
  let sender: ChildProcess | undefined;
  let isClosed = false;
  let isFaulty = false;
  const failed = (what: string): void => {
    sender = undefined;
    if (isFaulty || isClosed) return;
    isFaulty = true;
    onFault(`the service manager at ${printable(socket, 200)} cannot be told how this process is: ${what}`);
  };
  const open = (): ChildProcess => {
    const child = spawn('/bin/sh', ['-c', SENDER], { env: environment, cwd: '/', stdio: ['pipe', 'ignore', 'ignore'] });
    child.once('error', ({ message }) => { failed(message); });
    child.once('exit', (code, signal) => {
      if (sender === child) failed(`systemd-notify ended with ${code ?? signal}`);
    });
    // Its end is told by "exit".
    child.stdin.on('error', () => undefined);
    // It lives as long as this process has something else to do.
    child.unref();
    (child.stdin as typeof child.stdin & { unref(): void }).unref();
    return child;
  };
  return {
    watchdogMs: millisOf(watchdog),
    tell: (state) => {
      if (isClosed) return;
      sender ??= open();
      const { stdin } = sender;
      if (stdin === null || stdin.writableLength > WAITING_MAX_BYTES) return;
      stdin.write(`${wordsOf(state).join('\t')}\n`);
    },
    close: () => {
      isClosed = true;
      sender?.stdin?.end();
    },
  };
}

function wordsOf({ ready, well, stopping, status }: ServiceState): string[] {
  return [
    ...(ready === true ? ['READY=1'] : []),
    ...(well === true ? ['WATCHDOG=1'] : []),
    ...(stopping === true ? ['STOPPING=1'] : []),
    ...(status === undefined ? [] : [`STATUS=${printable(status, STATUS_MAX)}`]),
  ];
}

function millisOf(microseconds: string | undefined): Millis | undefined {
  const given = Number(microseconds ?? '');
  return Number.isSafeInteger(given) && given > 0 ? given / 1_000 : undefined;
}
