import { once } from 'node:events';
import { lstatSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import type { SchedulerAction } from 'rxjs';
import { GannetError, isGannetError, isNoRoom, messageOf } from '../core/errors.ts';
import type { FileLock } from '../core/file-lock.ts';
import { isFileLocked, takeLastingFileLock } from '../core/file-lock.ts';
import { printable } from '../core/text.ts';
import type { Clock } from '../core/time.ts';
import { ADDRESS_FORM } from '../solana/addresses.ts';

/** The sole right to something on this machine. It ends with the process, however that ends. */
type ProcessLock = FileLock;

/** What is locked, and what to do where it is in use: "wallet X", "give this one another wallet". */
interface LockSubject {
  readonly subject: string;
  readonly remedy: string;
}

const REFRESH_MS = 3_600_000;
const ANSWER_MS = 1_000;

/**
 * Takes the lock of a wallet, by address and for the whole machine, whatever the state directories are. Throws
 * STATE_LOCKED where another process has it.
 */
export async function lockWallet(options: {
  /** Base58. */
  readonly address: string;
  readonly clock: Clock;
  /** The folder of the lock's files. Default: no files where the kernel has names (Linux), else this user's home. */
  readonly directory?: string | undefined;
}): Promise<ProcessLock> {
  const { address, clock, directory } = options;
  if (!ADDRESS_FORM.test(address))
    throw unusable(`expected a base58 wallet address, got "${printable(address, 60)}"`);
  const subject: LockSubject = { subject: `wallet ${address}`, remedy: 'give this one another wallet' };
  if (directory === undefined && process.platform === 'linux') return takeHostLock(`wallet:${address}`, subject);
  return takeDirectoryLock({ name: address, directory: directory ?? homeDirectory(), clock, ...subject });
}

/** Takes the lock of a state directory: two daemons in one would write over each other. Throws STATE_LOCKED. */
export function lockState(stateDir: string, clock: Clock): ProcessLock {
  return takeDirectoryLock({
    name: 'daemon', directory: join(stateDir, 'locks'), clock,
    subject: `the state directory ${stateDir}`, remedy: 'give this one another with --state-dir',
  });
}

/** What is known about a lock, without taking it. */
interface LockView {
  readonly isHeld: boolean;
  /** Undefined where the holder does not say. */
  readonly pid: number | undefined;
}

/** Returns whether a daemon has the lock of a state directory. Nothing is written. */
export function viewStateLock(stateDir: string): LockView {
  const folder = join(stateDir, 'locks');
  const isHeld = isFileLocked(join(folder, 'daemon.lock'));
  return { isHeld, pid: isHeld ? readHolder(join(folder, 'daemon.pid')) : undefined };
}

/** Returns whether a process on this machine has the lock of a wallet. Nothing is written. */
export async function viewWalletLock(address: string): Promise<LockView> {
  if (process.platform !== 'linux') {
    const isHeld = isFileLocked(join(homeDirectory(), `${address}.lock`));
    return { isHeld, pid: isHeld ? readHolder(join(homeDirectory(), `${address}.pid`)) : undefined };
  }
  const path = hostLockPath(`wallet:${address}`);
  const isHeld = await new Promise<boolean>((resolve) => {
    const probe = connect({ path });
    const end = (isThere: boolean) => (): void => {
      probe.destroy();
      resolve(isThere);
    };
    probe.once('connect', end(true)).once('error', end(false));
  });
  return { isHeld, pid: isHeld ? await askHolder(path) : undefined };
}

/** From the user, not from the environment: two processes with different variables must meet. */
function homeDirectory(): string {
  return join(userInfo().homedir, '.gannet', 'locks');
}

/**
 * Takes the lock NAME.lock in a private folder, which is created where it is missing, and writes the process id into
 * NAME.pid. Throws STATE_LOCKED, naming the holder's process.
 */
function takeDirectoryLock({ name, directory, clock, ...subject }: LockSubject & {
  readonly name: string; readonly directory: string; readonly clock: Clock;
}): ProcessLock {
  ensurePrivate(directory);
  const file = join(directory, `${name}.lock`);
  const holderFile = join(directory, `${name}.pid`);
  const lock = lockOf(file);
  if (lock === undefined) throw inUse(subject, readHolder(holderFile));
  // Not into the lock's own file: opening and closing that one in this process would give the lock away (POSIX).
  try {
    writeHolder(holderFile);
  } catch (cause) {
    lock.release();
    throw cause;
  }
  const refreshing = keepFresh(clock, [file, holderFile]);
  return {
    release() {
      refreshing.unsubscribe();
      lock.release();
    },
  };
}

function lockOf(file: string): FileLock | undefined {
  try {
    return takeLastingFileLock(file);
  } catch (cause) {
    throw unusable(isGannetError(cause) ? cause.message : `cannot lock ${file}: ${messageOf(cause)}`, cause);
  }
}

/** The process id only helps the reader of a message. A daemon must be able to recover on a full disk, without it. */
function writeHolder(file: string): void {
  try {
    writeFileSync(file, `${process.pid}\n`, { mode: 0o600 });
  } catch (cause) {
    if (!isNoRoom(cause)) throw cause;
  }
}

function readHolder(file: string): number | undefined {
  try {
    const pid = Number(readFileSync(file, 'utf8'));
    return Number.isInteger(pid) && pid > 0 ? pid : undefined;
  } catch (cause) {
    // The holder has the lock but has not yet written its process id.
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return undefined;
    throw cause;
  }
}

/** A folder that other users can write to cannot protect a lock. */
function ensurePrivate(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const { mode, uid } = lstatSync(directory);
    const ours = process.getuid === undefined || uid === process.getuid();
    const isPrivate = process.platform === 'win32' || (mode & 0o077) === 0;
    if (!ours || !isPrivate) throw unusable(`expected ${directory} to be ours alone (mode 0700), found mode `
      + `${(mode & 0o777).toString(8)} and owner ${uid}; remove it`);
  } catch (cause) {
    throw isGannetError(cause) ? cause : unusable(`cannot use ${directory}: ${messageOf(cause)}`, cause);
  }
}

/** Machines clear old files out of their temporary folders: a lock held for weeks must not seem old. */
function keepFresh(clock: Clock, files: readonly string[]): { unsubscribe(): void } {
  return clock.schedule(function (this: SchedulerAction<void>) {
    const now = new Date(clock.now());
    for (const file of files) touch(file, now);
    this.schedule(undefined, REFRESH_MS);
  }, REFRESH_MS);
}

/** The lock holds without its file. A file that is missing, or on a disk that takes no writes, cannot be kept fresh. */
function touch(file: string, at: Date): void {
  try {
    utimesSync(file, at, at);
  } catch (cause) {
    if (!(cause instanceof Error && 'code' in cause)) throw cause;
  }
}

/**
 * Takes a name that the Linux kernel gives to one process of a network namespace, independent of users and folders: a
 * socket of the abstract namespace. It leaves nothing behind and ends with its holder. Containers with networks of
 * their own do not see each other's names. Names have at most 90 characters: the kernel allows 108.
 * Throws STATE_LOCKED, naming the holder's process where that one answers.
 */
async function takeHostLock(name: string, subject: LockSubject): Promise<ProcessLock> {
  const path = hostLockPath(name);
  const server = createServer((socket) => {
    // A process that asks and hangs up must not end the holder.
    socket.on('error', () => undefined);
    socket.end(`${process.pid}\n`);
  });
  try {
    server.listen({ path });
    await once(server, 'listening');
  } catch (cause) {
    if (!(cause instanceof Error && 'code' in cause && cause.code === 'EADDRINUSE'))
      throw unusable(`cannot lock ${subject.subject}: ${messageOf(cause)}`, cause);
    throw inUse(subject, await askHolder(path));
  }
  // The lock must not keep a finished process running.
  server.unref();
  return {
    release: () => {
      if (server.listening) server.close();
    },
  };
}

function hostLockPath(name: string): string {
  return `\0gannet:${name}`;
}

/** Returns the holder's process; undefined where it is too busy to answer or has just ended. */
async function askHolder(path: string): Promise<number | undefined> {
  const socket = connect({ path });
  socket.setTimeout(ANSWER_MS, () => { socket.destroy(); });
  let text = '';
  try {
    for await (const chunk of socket.setEncoding('utf8')) text += String(chunk).slice(0, 20);
  } catch {
    return undefined;
  }
  return /^[1-9]\d{0,9}\n$/.test(text) ? Number(text) : undefined;
}

function unusable(problem: string, cause?: unknown): GannetError {
  return new GannetError('STATE_LOCKED', problem, { cause });
}

function inUse({ subject, remedy }: LockSubject, holder: number | undefined): GannetError {
  const by = holder === undefined ? 'another process' : `process ${holder}`;
  return new GannetError('STATE_LOCKED', `${subject} is in use by ${by}; stop it first, or ${remedy}`, {
    details: { subject, pid: holder },
  });
}
