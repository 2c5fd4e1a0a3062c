import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { GannetError } from '../core/errors.ts';

/** Beyond it the engine spends its time collecting, and soon ends the process without a word that helps anybody. */
const FULLEST = 0.85;
const MEBIBYTE = 1_048_576;

/**
 * Throws STRATEGY_INVALID where this process's heap is all but full of what is still in use. Cheap while it is not; where it
 * may be, what is no longer in use is collected first.
 */
export function refuseFullHeap(): void {
  if (!isNearlyFull()) return;
  collect();
  if (!isNearlyFull()) return;
  const limit = Math.round(getHeapStatistics().heap_size_limit / MEBIBYTE);
  throw new GannetError('STRATEGY_INVALID', `it needs more memory than this process has (${limit} MB): most likely a strategy keeps more and more of what it sees. Bound what it keeps, or give the process more: NODE_OPTIONS=--max-old-space-size=${2 * limit}`);
}

function isNearlyFull(): boolean {
  const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics();
  return used > FULLEST * limit;
}

function collect(): void {
  setFlagsFromString('--expose-gc');
  const gc: unknown = runInNewContext('gc');
  setFlagsFromString('--no-expose-gc');
  if (typeof gc === 'function') Reflect.apply(gc, undefined, []);
}
