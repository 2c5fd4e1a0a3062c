import type { ErrorCode } from '../../core/errors.ts';
import type { Millis } from '../../core/time.ts';

/** Something wrong in a recording, with the place where there is one. */
export interface RecordingIssue {
  readonly code: ErrorCode;
  readonly file: string;
  /** The input in the file, from 1. */
  readonly row?: number | undefined;
  /** Of that input, else of the first that is concerned. */
  readonly at?: Millis | undefined;
  readonly message: string;
}

/** Returns a time as text, also one that no calendar knows. */
export function iso(at: Millis): string {
  return Number.isFinite(at) && Math.abs(at) <= 8.64e15 ? new Date(at).toISOString() : String(at);
}
