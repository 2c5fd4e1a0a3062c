import { GannetError, isGannetError, isNoRoom, messageOf } from '../core/errors.ts';

/** Returns whether an error, or what caused it, is that a disk takes no more. */
export function isDiskFull(error: unknown): error is GannetError {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (isNoRoom(cause)) return isGannetError(error);
  }
  return false;
}

/**
 * Opens something that a run cannot do without, a second time where room was made for it. Throws DISK_FULL where there is
 * none.
 */
export function openOnDisk<T>(opening: () => T, onFull: (error: Error) => boolean): T {
  try {
    return opening();
  } catch (error) {
    if (!(error instanceof Error && isNoRoom(error))) throw error;
    if (!onFull(error)) throw new GannetError('DISK_FULL', `there is no room for a run: ${messageOf(error)}; free some space and start again`, { cause: error });
    return opening();
  }
}
