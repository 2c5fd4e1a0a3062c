/** Counts observed values in buckets, as a histogram of Prometheus has them. */
export class Distribution {
  /** The upper bounds of the buckets, ascending; a last bucket takes what is above. */
  readonly bounds: readonly number[];
  readonly #counts: number[];
  sum = 0;
  count = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.#counts = bounds.map(() => 0);
  }

  observe(value: number): void {
    this.sum += value;
    this.count += 1;
    const bucket = this.bounds.findIndex((bound) => value <= bound);
    if (bucket >= 0) this.#counts[bucket]! += 1;
  }

  /** Returns for each bound how many values were at most that high. */
  cumulative(): number[] {
    let total = 0;
    return this.#counts.map((count) => (total += count));
  }
}
