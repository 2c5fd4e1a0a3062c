import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { basename } from 'node:path';
import type { Millis } from './time.ts';

// What the daemon and research commands share about processes that run strategies: how much such a process has used,
// and the reasons for which it is ended.

/**
 * A machine that is busy lets an honest strategy wait, so the clock may show so many times the bound on the time of the
 * processor.
 */
export const LOAD_FACTOR = 8;
const MEGABYTE = 1_048_576;
const PAGE_BYTES = 4_096;

/**
 * Options by which Node says on SIGINT where its code is. Code that V8 optimizes in the middle of a loop asks for
 * interrupts no longer, so loops stay as they are until their function is called again.
 */
export const INTERRUPTIBLE = ['--trace-sigint', '--no-use-osr'] as const;

/** Where util-linux installs it. */
const SETPRIV = ['/usr/bin/setpriv', '/bin/setpriv'] as const;

/**
 * Returns the program that starts a process which the kernel ends together with its parent, and which gains no
 * privileges; undefined where the system has none. The one of BusyBox knows neither.
 */
export function setprivPath(): string | undefined {
  return SETPRIV.find((path) => existsSync(path) && basename(realpathSync(path)) !== 'busybox');
}

/** Returns the text of a file of /proc about a process; undefined without /proc, or where the process is gone. */
export function procFile(pid: number | undefined, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    // There is no /proc, or the process is gone.
    return undefined;
  }
}

/** Returns the processor time of a process's main thread; undefined where the platform does not tell. */
export function processorMs(pid: number | undefined): Millis | undefined {
  const nanoseconds = procFile(pid, 'schedstat')?.split(' ')[0];
  return nanoseconds === undefined ? undefined : Number(nanoseconds) / 1e6;
}

/** Returns the resident memory that a process shares with no other; 0 where the platform does not tell. */
export function ownMegabytes(pid: number | undefined): number {
  const [, resident, shared] = procFile(pid, 'statm')?.split(' ') ?? [];
  return resident === undefined ? 0 : (Number(resident) - Number(shared)) * PAGE_BYTES / MEGABYTE;
}

/** Returns the whole resident memory of a process; undefined where the platform does not tell. */
export function residentBytes(pid: number): number | undefined {
  const resident = procFile(pid, 'statm')?.split(' ')[1];
  return resident === undefined ? undefined : Number(resident) * PAGE_BYTES;
}

/** Returns whether the last words of Node say that its heap was full. */
export function saysHeapIsFull(words: string): boolean {
  return /heap limit|out of memory/i.test(words);
}

/** Returns why a strategy is stopped whose call takes too long; `occasion` describes the call. */
export function lateCallReason(limitMs: Millis, occasion?: string): string {
  return `it took longer than ${spanText(limitMs)} for one call${occasion === undefined ? '' : ` (${occasion})`}`;
}

/** Returns why a strategy is stopped that takes too long to load. */
export function lateLoadReason(limitMs: Millis): string {
  return `loading it took longer than ${spanText(limitMs)}`;
}

/** Returns why a strategy is stopped whose process needed more memory than it may take. */
export function exhaustedReason(memoryMb: number): string {
  return `it exhausted the memory of its process, ${memoryMb} MB`;
}

/** Returns why a strategy is stopped whose process ended; a signal by its name or its number. */
export function endedReason(code: number | null, signal: string | number | null): string {
  return signal === null ? `its process ended with code ${code}` : `its process was ended by signal ${signal}`;
}

/** Returns why a strategy is stopped that threw, or rejected a promise, where no caller could catch it. */
export function strayReason(origin: 'uncaughtException' | 'unhandledRejection', message: string): string {
  return origin === 'unhandledRejection' ? `it rejected a promise without a handler: ${message}`
    : `it threw outside the engine’s time: ${message}`;
}

function spanText(span: Millis): string {
  return span >= 1_000 && span % 1_000 === 0 ? `${span / 1_000} s` : `${span} ms`;
}
