import type { GannetError } from '../core/errors.ts';
import { isGannetError, isNoRoom } from '../core/errors.ts';

/** Returns whether an error, or what caused it, is that a disk takes no more. */
export function isDiskFull(error: unknown): error is GannetError {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (isNoRoom(cause)) return isGannetError(error);
  }
  return false;
}
