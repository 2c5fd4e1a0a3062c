import { syncBuiltinESMExports } from 'node:module';

/**
 * Members of `process` that end or signal a process, load native code, reach Node's internals, or change what the
 * process may do. Node's permission model covers neither signals nor most of the others.
 */
const REMOVED = [
  'kill', '_kill', 'abort', 'reallyExit', 'execve', 'dlopen', 'binding', '_linkedBinding', '_debugProcess', '_debugEnd',
  '_startProfilerIdleNotifier', '_stopProfilerIdleNotifier', '_getActiveHandles', '_getActiveRequests', '_rawDebug',
  'setUncaughtExceptionCaptureCallback', 'addUncaughtExceptionCaptureCallback', 'getBuiltinModule', 'loadEnvFile',
  'chdir', 'umask', 'setuid', 'seteuid', 'setgid', 'setegid', 'setgroups', 'initgroups', 'send', 'disconnect', 'report',
] as const;

/** What a process that runs strategy code needs of itself once the calls are removed. */
export interface HardenedProcess {
  /** Ends the process; strategy code has no such call. */
  readonly exit: (code: number) => never;
}

/** The error of a strategy that ends its process. */
const NO_EXIT = 'process.exit() was called: a strategy cannot end the process that it runs in';

/**
 * Removes from this process, for good, the calls with which code could end or signal processes, load native code or
 * change permissions. `process.exit` throws instead, and reports the error to `onExit`. It belongs before the first
 * module of a strategy is loaded. The variables of the environment go as well, but for those to `keep`.
 */
export function hardenProcess(onExit?: (error: Error) => void, keep: readonly string[] = []): HardenedProcess {
  const members = process as unknown as Record<string, unknown>;
  // Bound before a strategy can replace what calls functions.
  const end = (members['reallyExit'] as (code: number) => never).bind(process);
  // A new member would be a change that the look-ahead check reports.
  for (const name of REMOVED.filter((member) => member in process)) {
    Object.defineProperty(members, name, { value: undefined, configurable: false, writable: false, enumerable: false });
  }
  Object.defineProperty(members, 'exit', {
    value: (): never => {
      const error = new Error(NO_EXIT);
      onExit?.(error);
      throw error;
    },
    configurable: false, writable: false, enumerable: true,
  });
  // Node does not let the object itself be replaced.
  for (const name of Object.keys(process.permission)) Reflect.deleteProperty(process.permission, name);
  for (const name of Object.keys(process.env)) if (!keep.includes(name)) delete process.env[name];
  // Named imports of node:process are copies of these members.
  syncBuiltinESMExports();
  return { exit: (code) => end(code) };
}
