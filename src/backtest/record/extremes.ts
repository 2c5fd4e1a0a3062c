/** Something that was seen at a moment, kept for how far a value had gone there. */
interface Extreme<Seen> {
  readonly kind: 'peak' | 'trough';
  readonly value: number;
  readonly seen: Seen;
}

/**
 * The peaks of a value, and the lowest that it went after each, between the moments that are kept anyway: all that the
 * deepest drawdown takes, however far apart those are. What lies between a peak and its trough is not kept.
 */
export class Extremes<Seen> {
  #peak = -Infinity;
  #trough = Infinity;
  #waiting: Extreme<Seen>[] = [];

  /** Takes note of a value in passing; `look` is asked for what else there is to see only where it is an extreme. */
  pass(value: number, look: () => Seen): void {
    const kind = this.#extend(value);
    if (kind === undefined) return;
    // A higher peak takes the place of the one before it, unless a trough lies between; so with troughs.
    if (this.#waiting.at(-1)?.kind === kind) this.#waiting.pop();
    this.#waiting.push({ kind, value, seen: look() });
  }

  /**
   * Takes note of a value that is kept, and returns what was seen at the extremes since the last of those, in order.
   */
  keep(value: number): Seen[] {
    const waiting = this.#waiting;
    this.#waiting = [];
    const last = waiting.at(-1);
    // The value that is kept goes as far, and says it alone.
    if (last !== undefined && (last.kind === 'peak' ? value >= last.value : value <= last.value)) waiting.pop();
    this.#extend(value);
    return waiting.map(({ seen }) => seen);
  }

  #extend(value: number): Extreme<Seen>['kind'] | undefined {
    if (value > this.#peak) {
      this.#peak = value;
      this.#trough = value;
      return 'peak';
    }
    if (!(value < this.#trough)) return undefined;
    this.#trough = value;
    return 'trough';
  }
}
