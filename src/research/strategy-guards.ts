import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { config as rx } from 'rxjs';
import { GannetError, messageOf } from '../core/errors.ts';
import { printable } from '../core/text.ts';

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

/** Above this share the engine only collects garbage, and soon ends the process without a useful message. */
const FULLEST = 0.85;
const MEBIBYTE = 1_048_576;

/**
 * Throws STRATEGY_MEMORY when this process's heap is nearly full of objects in use. The check is cheap; a garbage
 * collection runs only when the heap may be full.
 */
export function refuseFullHeap(): void {
  if (!isNearlyFull()) return;
  collectGarbage();
  if (!isNearlyFull()) return;
  const limit = Math.round(getHeapStatistics().heap_size_limit / MEBIBYTE);
  throw new GannetError('STRATEGY_MEMORY',
    `the run needs more memory than this process has (${limit} MB): most likely `
      + 'a strategy keeps more and more of its input. Limit what it keeps, '
      + `or give the process more memory: NODE_OPTIONS=--max-old-space-size=${2 * limit}`);
}

function isNearlyFull(): boolean {
  const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics();
  return used > FULLEST * limit;
}

/** Collects the garbage of this process, so that what its heap holds afterwards is in use. */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  const gc: unknown = runInNewContext('gc');
  setFlagsFromString('--no-expose-gc');
  if (typeof gc === 'function') Reflect.apply(gc, undefined, []);
}
