import { AssertionError } from '../../core/assert.ts';
import { GannetError, isGannetError, messageOf } from '../../core/errors.ts';

/** Returns a fault of the disk as RECORDING_WRITE_FAILED. Rethrows a bug: it is not the disk's. */
export function writeFault(directory: string, cause: unknown): GannetError {
  if (isGannetError(cause)) return cause;
  if (cause instanceof AssertionError || cause instanceof TypeError || cause instanceof RangeError) throw cause;
  return new GannetError('RECORDING_WRITE_FAILED',
    `cannot write the recording ${directory}: ${messageOf(cause)}; free space or give another folder`, {
      details: { directory },
      cause,
    });
}
