/** A drawdown; places are indices into the values. */
interface Drawdown {
  /** The last point at the peak, before the fall. */
  readonly start: number;
  /** The lowest point; the first of several. */
  readonly trough: number;
  /** The first point at or above the peak again; undefined when the series ends before. */
  readonly recovered: number | undefined;
  /**
   * The fall at the trough as a share of the peak, above 1 for negative values; undefined when the peak is not above 0.
   */
  readonly depth: number | undefined;
  /** The fall at the trough, in the currency. */
  readonly amount: number;
}

/** Returns all drawdowns in order. */
export function drawdowns(values: readonly number[]): Drawdown[] {
  const found: Drawdown[] = [];
  let start = 0;
  let trough: number | undefined;
  const close = (recovered: number | undefined): void => {
    if (trough === undefined) return;
    const peak = values[start]!;
    const amount = peak - values[trough]!;
    found.push({ start, trough, recovered, depth: peak > 0 ? amount / peak : undefined, amount });
    trough = undefined;
  };
  for (let i = 1; i < values.length; i++) {
    if (values[i]! >= values[start]!) {
      close(i);
      start = i;
    } else if (trough === undefined || values[i]! < values[trough]!) {
      trough = i;
    }
  }
  close(undefined);
  return found;
}

/** Returns the deepest drawdown relative to its peak, the first of several; undefined without drawdowns. */
export function deepestRelative(episodes: readonly Drawdown[]): Drawdown | undefined {
  return deepest(episodes, ({ depth }) => depth ?? 0);
}

/** Returns the deepest drawdowns relative to their peaks, at most `most`, the deepest first. */
export function deepestDrawdowns(values: readonly number[], most: number): Drawdown[] {
  return drawdowns(values).filter(({ depth }) => depth !== undefined)
    .toSorted((a, b) => b.depth! - a.depth! || a.start - b.start).slice(0, most);
}

/** Returns the deepest drawdown in the currency, which may be another one. */
export function deepestAbsolute(episodes: readonly Drawdown[]): Drawdown | undefined {
  return deepest(episodes, ({ amount }) => amount);
}

function deepest(episodes: readonly Drawdown[], size: (episode: Drawdown) => number): Drawdown | undefined {
  let most: Drawdown | undefined;
  for (const episode of episodes) if (most === undefined || size(episode) > size(most)) most = episode;
  return most;
}

/**
 * Returns the root of the mean square of the drawdowns after each return; the first value counts as a peak (P. Martin,
 * 1987). Undefined when a peak is not above 0, and without returns.
 */
export function ulcerIndex(values: readonly number[]): number | undefined {
  let peak = values[0] ?? 0;
  if (peak <= 0 || values.length < 2) return undefined;
  let squares = 0;
  for (const value of values) {
    peak = Math.max(peak, value);
    squares += (1 - value / peak) ** 2;
  }
  return Math.sqrt(squares / (values.length - 1));
}
