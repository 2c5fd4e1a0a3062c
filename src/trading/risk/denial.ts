import type { DenialCode } from '../denials.ts';

/** A refusal: a value with a code, never an exception. */
export interface Denial {
  readonly code: DenialCode;
  /** For people: what was found and what the limit is. */
  readonly reason: string;
}
