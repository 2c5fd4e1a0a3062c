import type { Millis } from '../../core/time.ts';

/**
 * Returns the indexes of points that draw the same line as all points. Of each of `parts` equal spans they are the
 * first, the lowest, the highest and the last point, and each end of a gap, so that no extreme and no gap is lost. They
 * are sorted and unique. Times rise strictly.
 */
export function drawnPoints(
  values: readonly (number | null)[], { times, parts }: { readonly times: readonly Millis[]; readonly parts: number },
): number[] {
  if (values.length <= parts * 4) return values.map((_, i) => i);
  const [begin, end] = [times[0]!, times.at(-1)!];
  const partOf = (i: number): number => Math.min(parts - 1, Math.floor(((times[i]! - begin) / (end - begin)) * parts));
  const places: number[] = [];
  for (let from = 0, to = 0; from < values.length; from = to) {
    while (to < values.length && partOf(to) === partOf(from)) to += 1;
    places.push(...drawnOfPart(values, from, to));
  }
  return places;
}

function drawnOfPart(values: readonly (number | null)[], from: number, to: number): number[] {
  const kept = new Set([from, to - 1]);
  let [low, high] = [from, from];
  for (let i = from; i < to; i++) {
    const value = values[i]!;
    if (i > from && (value === null) !== (values[i - 1] === null)) kept.add(i - 1).add(i);
    if (value === null) continue;
    if (value < (values[low] ?? Infinity)) low = i;
    if (value > (values[high] ?? -Infinity)) high = i;
  }
  return [...kept.add(low).add(high)].toSorted((a, b) => a - b);
}

/** The means of values over equal spans of time. */
interface SpanMeans {
  /** The beginning of each span, and the end of the last one. */
  readonly times: readonly Millis[];
  /** One for each of the times, the last one repeated at the end; null where nothing is known. */
  readonly means: readonly (number | null)[];
  readonly highest: readonly (number | null)[];
}

/**
 * Returns the mean and the maximum of values in each of `parts` equal spans. A value is weighted by its time until the
 * next one. There are at least two times, which rise strictly.
 */
export function spanMeans(
  values: readonly (number | null)[], { times, parts }: { readonly times: readonly Millis[]; readonly parts: number },
): SpanMeans {
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
