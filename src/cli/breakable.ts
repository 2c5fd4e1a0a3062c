import { Script } from 'node:vm';
import { isMainThread } from 'node:worker_threads';
import type { Steps } from '../core/steps.ts';
import { interruption } from './interrupt.ts';

/** What the script calls. It stands among the globals for good: each change of those makes the engine forget what it has optimized. */
const holder: { work: () => void } = { work: () => undefined };
const SLOT = 'gannet.breakable';
Reflect.set(globalThis, Symbol.for(SLOT), holder);
const CALL = new Script(`globalThis[Symbol.for('${SLOT}')].work()`);

/**
 * Does work in which a strategy runs, a step at a time. Ctrl-C breaks a step off wherever it is, since a strategy may never
 * come to its end, and nobody would hear of it until then; INTERRUPTED is thrown. Else throws what the work throws.
 */
export function* breakable<T>(steps: Steps<T>): Steps<T> {
  for (;;) {
    const step = broken(() => steps.next());
    if (step.done === true) return step.value;
    yield;
  }
}

function broken<T>(work: () => T): T {
  // Signals are the first thread's alone.
  if (!isMainThread) return work();
  const done: T[] = [];
  holder.work = () => { done.push(work()); };
  try {
    CALL.runInThisContext({ breakOnSigint: true, displayErrors: false });
  } catch (error) {
    throw error instanceof Error && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_INTERRUPTED' ? interruption(error) : error;
  }
  return done[0] as T;
}
