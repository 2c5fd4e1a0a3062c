import { setImmediate as nextTurn } from 'node:timers/promises';
import { GannetError } from '../core/errors.ts';
import type { Steps } from '../core/steps.ts';

/** Resolves when the signal is aborted. */
export function interrupted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => { resolve(); }, { once: true });
  });
}

/** Returns the error of what was cut short by an interrupt. */
export function interruption(cause?: unknown): GannetError {
  return new GannetError('INTERRUPTED', 'interrupted before it was done', { cause });
}

/** Resolves a turn of the event loop later, in which an interrupt is heard. Rejects with INTERRUPTED after one. */
export async function yieldToInterrupt(interrupt: AbortSignal): Promise<void> {
  await nextTurn();
  if (interrupt.aborted) throw interruption();
}

/**
 * Does work a step at a time, hears of an interrupt in between, and tells `onStep` how many are done. Rejects with
 * INTERRUPTED then, else with what the work throws.
 */
export async function runInterruptibly<T>(
  steps: Steps<T>, interrupt: AbortSignal, onStep?: (done: number) => void,
): Promise<T> {
  for (let done = 0; ; done++) {
    await yieldToInterrupt(interrupt);
    onStep?.(done);
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/**
 * Does something with a connection and closes it behind it; at an interrupt at once, so that nobody waits for an answer
 * that nobody wants any more. Throws INTERRUPTED then, else what the work throws.
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
