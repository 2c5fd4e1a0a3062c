/** A memory that drops values older than its lifetime, and the oldest when it is full. */
interface Recent<Value> {
  readonly size: number;
  /** Remembers a value from now on; one of the same key is replaced, and its time starts again. */
  set(key: string, value: Value): void;
  get(key: string): Value | undefined;
}

/** Returns an empty memory whose time is `nowMs`. */
export function createRecent<Value>(
  options: { nowMs: () => number; lifetimeMs: number; largestCount: number },
): Recent<Value> {
  const entries = new Map<string, { readonly value: Value; readonly until: number }>();

  // Insertion order is expiry order, since every entry has the same lifetime.
  const forget = (): void => {
    for (const [key, { until }] of entries) {
      if (until >= options.nowMs() && entries.size <= options.largestCount) return;
      entries.delete(key);
    }
  };

  return {
    get size() {
      return entries.size;
    },
    set(key, value) {
      entries.delete(key);
      entries.set(key, { value, until: options.nowMs() + options.lifetimeMs });
      forget();
    },
    get(key) {
      forget();
      return entries.get(key)?.value;
    },
  };
}
