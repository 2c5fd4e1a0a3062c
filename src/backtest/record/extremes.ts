/** A sample at a moment when a value reached a new extreme. */
interface Extreme<Sample> {
  readonly kind: 'peak' | 'trough';
  readonly value: number;
  readonly sample: Sample;
}

/**
 * Keeps samples of the peaks of a value and of the lowest values after each peak, between the regular samples. They
 * suffice for the deepest drawdown, however far apart the regular samples are.
 */
export class Extremes<Sample> {
  #peak = -Infinity;
  #trough = Infinity;
  #extremes: Extreme<Sample>[] = [];

  /** Checks a value; `sample` is called only for an extreme. */
  pass(value: number, sample: () => Sample): void {
    const kind = this.#extend(value);
    if (kind === undefined) return;
    // A higher peak replaces the one before it, unless a trough lies between; a lower trough does the same.
    if (this.#extremes.at(-1)?.kind === kind) this.#extremes.pop();
    this.#extremes.push({ kind, value, sample: sample() });
  }

  /**
   * Takes note of the value of a regular sample, and returns the samples of the extremes since the last one, in order.
   */
  keep(value: number): Sample[] {
    const extremes = this.#extremes;
    this.#extremes = [];
    const last = extremes.at(-1);
    // The regular sample shows the last extreme itself.
    if (last !== undefined && (last.kind === 'peak' ? value >= last.value : value <= last.value)) extremes.pop();
    this.#extend(value);
    return extremes.map(({ sample }) => sample);
  }

  #extend(value: number): Extreme<Sample>['kind'] | undefined {
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
