import type { Millis } from '../../core/time.ts';

/**
 * Returns the places of points that draw the same line as all of them: of each of so many equal spans of time the first,
 * the lowest, the highest and the last, and each place where the line breaks off or begins again, so that neither an
 * extreme nor a gap is lost. In order, each once. Times rise strictly.
 */
export function drawnPoints(values: readonly (number | null)[], { times, parts }: { readonly times: readonly Millis[]; readonly parts: number }): number[] {
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
