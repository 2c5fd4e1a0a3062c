import type { Intent, IntentState } from './intent.ts';

/** An intent with the state it has reached. */
export interface TrackedIntent {
  readonly intent: Intent;
  state: IntentState;
  /** Whether what became of it may take long to be known: it locks its input, and nothing else waits for it. */
  isUnproven?: boolean | undefined;
}

/**
 * The intents that are under way, oldest first. There are only ever a few, and each has a name that never comes again:
 * going through them is faster than a map, which puts every new name away in a table of all names first.
 */
export class TrackedIntents {
  #all: readonly TrackedIntent[] = [];

  get size(): number {
    return this.#all.length;
  }

  /** Returns all of them; the list does not change when intents come or go. */
  values(): readonly TrackedIntent[] {
    return this.#all;
  }

  /** Returns the intent of an id; undefined where it is not under way. */
  get(id: string): TrackedIntent | undefined {
    for (const tracked of this.#all) if (tracked.intent.id === id) return tracked;
    return undefined;
  }

  has(id: string): boolean {
    return this.get(id) !== undefined;
  }

  add(tracked: TrackedIntent): void {
    this.#all = [...this.#all, tracked];
  }

  delete(id: string): void {
    this.#all = this.#all.filter(({ intent }) => intent.id !== id);
  }
}
