/** The most keys of one strategy: enough for hours of a strategy that acts every ten seconds. */
const KEYS_PER_STRATEGY_MAX = 1_000;

/** Returns the name under which a strategy's key is stored. */
export function intentKey(strategy: string, key: string): string {
  return `${strategy}:${key}`;
}

/** The keys of approved proposals: the latest thousand of each strategy, so that memory stays bounded. */
export class RecentKeys {
  readonly #byStrategy = new Map<string, Set<string>>();

  /** Takes names as `intentKey` makes them, oldest first. */
  constructor(names: Iterable<string>) {
    for (const name of names) this.add(name);
  }

  has(name: string): boolean {
    return this.#byStrategy.get(strategyOf(name))?.has(name) ?? false;
  }

  add(name: string): void {
    const strategy = strategyOf(name);
    const known = this.#byStrategy.get(strategy) ?? new Set<string>();
    this.#byStrategy.set(strategy, known.add(name));
    const [oldest] = known;
    if (known.size > KEYS_PER_STRATEGY_MAX && oldest !== undefined) known.delete(oldest);
  }

  delete(name: string): void {
    this.#byStrategy.get(strategyOf(name))?.delete(name);
  }

  /** Iterates over the names, oldest first within a strategy. */
  *[Symbol.iterator](): Iterator<string> {
    for (const names of this.#byStrategy.values()) yield* names;
  }
}

/** Strategies' names hold no colon. */
function strategyOf(name: string): string {
  return name.slice(0, name.indexOf(':'));
}
