import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ChunkedWork } from '../core/chunked-work.ts';
import { GannetError } from '../core/errors.ts';

/** Resolves when the signal is aborted. */
export function interrupted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => { resolve(); }, { once: true });
  });
}

/** Returns the error of interrupted work. */
export function interruption(cause?: unknown): GannetError {
  return new GannetError('INTERRUPTED', 'interrupted before the command was done', { cause });
}

/**
 * Resolves a turn of the event loop later, so that signals are handled. Rejects with INTERRUPTED after an interrupt.
 */
export async function yieldToInterrupt(interrupt?: AbortSignal): Promise<void> {
  await nextTurn();
  if (interrupt?.aborted === true) throw interruption();
}

/**
 * Does work in steps, and checks for an interrupt between them. `onStep` gets the number of finished steps. Rejects
 * with INTERRUPTED after an interrupt, else with what the work throws.
 */
export async function runInterruptibly<T>(
  steps: ChunkedWork<T>, interrupt?: AbortSignal, onStep?: (done: number) => void,
): Promise<T> {
  for (let done = 0; ; done++) {
    await yieldToInterrupt(interrupt);
    onStep?.(done);
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/**
 * Does work with a connection and closes it afterwards. An interrupt closes it at once, so that no answer is awaited.
 * Throws INTERRUPTED after an interrupt, else what the work throws.
 */
export async function untilInterrupted<Thing extends { close(): Promise<void> }, Result>(
  interrupt: AbortSignal, thing: Thing, work: (thing: Thing) => Promise<Result>,
): Promise<Result> {
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => (closing ??= thing.close());
  const cut = (): void => { void close(); };
  interrupt.addEventListener('abort', cut, { once: true });
  try {
    if (interrupt.aborted) throw interruption();
    return await work(thing);
  } catch (error) {
    throw interrupt.aborted ? interruption(error) : error;
  } finally {
    interrupt.removeEventListener('abort', cut);
    await close();
  }
}
