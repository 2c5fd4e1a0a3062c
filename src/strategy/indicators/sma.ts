/**
 * A simple moving average over the last `window` values by a running sum. Each time round the ring the sum is taken
 * anew, so that rounding errors cannot build up over millions of values; that costs one addition per value.
 */
export class Sma {
  readonly #ring: Float64Array;
  #next = 0;
  #count = 0;
  #sum = 0;

  constructor(window: number) {
    this.#ring = new Float64Array(window);
  }

  /** Returns whether `window` values have been seen. */
  get full(): boolean {
    return this.#count === this.#ring.length;
  }

  /** Takes a value and returns the mean of those in the window, of fewer while it fills. */
  push(value: number): number {
    const ring = this.#ring;
    this.#sum += value - ring[this.#next]!;
    ring[this.#next] = value;
    if (this.#count < ring.length) this.#count += 1;
    if (++this.#next === ring.length) {
      this.#next = 0;
      this.#sum = sumOf(ring);
    }
    return this.#sum / this.#count;
  }
}

function sumOf(values: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i]!;
  return sum;
}
