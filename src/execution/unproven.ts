import type { Millis } from '../core/time.ts';

const FIRST_GAP_MS = 10_000;
const LAST_GAP_MS = 3_600_000;

/** Tells when the same trouble is worth another word: at once, then at gaps that double from ten seconds to an hour. */
export class Complaints {
  readonly #due = new Map<string, { readonly at: Millis; readonly gapMs: Millis }>();

  /** Returns whether to speak of this trouble now, and if so counts it as spoken of. */
  isDue(trouble: string, elapsedMs: Millis): boolean {
    const known = this.#due.get(trouble);
    if (known !== undefined && elapsedMs < known.at) return false;
    const gapMs = known === undefined ? FIRST_GAP_MS : Math.min(known.gapMs * 2, LAST_GAP_MS);
    this.#due.set(trouble, { at: elapsedMs + gapMs, gapMs });
    return true;
  }
}
