import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext, Script } from 'node:vm';
import { isMainThread } from 'node:worker_threads';
import { config as rx } from 'rxjs';
import type { ChunkedWork } from '../core/chunked-work.ts';
import { GannetError, messageOf } from '../core/errors.ts';
import { printable } from '../core/text.ts';
import { interruption } from '../recording/interrupt.ts';

/**
 * Reports, each once, the errors that a strategy throws in a subscription of its own, until the process ends. They
 * arrive a turn late, when no caller can catch them, and change no decision. A live run logs them and goes on.
 */
export function reportUnhandledErrors(terminal: { err(text: string): void }): void {
  const reported = new Set<string>();
  rx.onUnhandledError = (error: unknown) => {
    const message = printable(messageOf(error));
    if (reported.has(message)) return;
    reported.add(message);
    terminal.err('a strategy threw an error that no caller could catch; '
      + `it must return its stream instead of subscribing to it: ${message}\n`);
  };
}

/** What the script calls. It stays a global for good: the engine discards optimized code when the globals change. */
const holder: { work: () => void } = { work: () => undefined };
const SLOT = 'gannet.interruptible';
Reflect.set(globalThis, Symbol.for(SLOT), holder);
const CALL = new Script(`globalThis[Symbol.for('${SLOT}')].work()`);

/**
 * Returns work in which a strategy runs, in the same steps. Ctrl-C ends a step at any point, because a strategy may
 * never finish one; the work then throws INTERRUPTED. Otherwise it throws what the given work throws.
 */
export function* interruptible<T>(steps: ChunkedWork<T>): ChunkedWork<T> {
  for (;;) {
    const step = interruptedBySignal(() => steps.next());
    if (step.done === true) return step.value;
    yield;
  }
}

function interruptedBySignal<T>(work: () => T): T {
  // Only the main thread receives signals.
  if (!isMainThread) return work();
  const done: T[] = [];
  holder.work = () => { done.push(work()); };
  try {
    CALL.runInThisContext({ breakOnSigint: true, displayErrors: false });
  } catch (error) {
    const isSignal = error instanceof Error && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_INTERRUPTED';
    throw isSignal ? interruption(error) : error;
  }
  return done[0] as T;
}

/** Above this share the engine only collects garbage, and soon ends the process without a useful message. */
const FULLEST = 0.85;
const MEBIBYTE = 1_048_576;

/**
 * Throws STRATEGY_INVALID when this process's heap is nearly full of objects in use. The check is cheap; a garbage
 * collection runs only when the heap may be full.
 */
export function refuseFullHeap(): void {
  if (!isNearlyFull()) return;
  collectGarbage();
  if (!isNearlyFull()) return;
  const limit = Math.round(getHeapStatistics().heap_size_limit / MEBIBYTE);
  throw new GannetError('STRATEGY_INVALID',
    `the run needs more memory than this process has (${limit} MB): most likely `
      + 'a strategy keeps more and more of its input. Limit what it keeps, '
      + `or give the process more memory: NODE_OPTIONS=--max-old-space-size=${2 * limit}`);
}

function isNearlyFull(): boolean {
  const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics();
  return used > FULLEST * limit;
}

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  const gc: unknown = runInNewContext('gc');
  setFlagsFromString('--no-expose-gc');
  if (typeof gc === 'function') Reflect.apply(gc, undefined, []);
}
