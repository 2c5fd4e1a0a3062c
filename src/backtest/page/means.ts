import type { Millis } from '../../core/time.ts';

/** What values came to over equal spans of time. */
export interface SpanMeans {
  /** Where each span begins, and where the last one ends. */
  readonly times: readonly Millis[];
  /** One for each of the times, the last one's again at the end; null where nothing is known. */
  readonly means: readonly (number | null)[];
  readonly highest: readonly (number | null)[];
}

/**
 * Returns the mean of each of so many equal spans of time, each value weighing by how long it held until the next, and the
 * highest of each. Times rise strictly; there are two at least.
 */
export function spanMeans(values: readonly (number | null)[], { times, parts }: { readonly times: readonly Millis[]; readonly parts: number }): SpanMeans {
  const [begin, end] = [times[0]!, times.at(-1)!];
  const edges = Array.from({ length: parts + 1 }, (_, part) => begin + ((end - begin) * part) / parts);
  const sums = edges.map(() => ({ weighted: 0, known: 0, highest: -Infinity }));
  let part = 0;
  for (const [i, value] of values.slice(0, -1).entries()) {
    let from = times[i]!;
    const until = times[i + 1]!;
    while (from < until) {
      while (part < parts - 1 && edges[part + 1]! <= from) part += 1;
      const to = part === parts - 1 ? until : Math.min(until, edges[part + 1]!);
      const sum = sums[part]!;
      if (value !== null) {
        sum.weighted += value * (to - from);
        sum.known += to - from;
        sum.highest = Math.max(sum.highest, value);
      }
      from = to;
    }
  }
  sums[parts] = sums[parts - 1]!;
  return {
    times: edges,
    means: sums.map(({ weighted, known }) => (known === 0 ? null : weighted / known)),
    highest: sums.map(({ highest, known }) => (known === 0 ? null : highest)),
  };
}
