/**
 * Returns the places of points that draw the same line as all of them: of each of so many equal parts the first, the
 * lowest, the highest and the last, and each place where the line breaks off or begins again, so that neither an extreme
 * nor a gap is lost. In order, each once.
 */
export function drawnPoints(values: readonly (number | null)[], parts = 350): number[] {
  if (values.length <= parts * 4) return values.map((_, i) => i);
  const places: number[] = [];
  for (let part = 0; part < parts; part++) {
    const from = Math.floor((part * values.length) / parts);
    const to = Math.floor(((part + 1) * values.length) / parts);
    const kept = new Set([from, to - 1]);
    let [low, high] = [from, from];
    for (let i = from; i < to; i++) {
      const value = values[i]!;
      if (i > from && (value === null) !== (values[i - 1] === null)) kept.add(i - 1).add(i);
      if (value === null) continue;
      if (value < (values[low] ?? Infinity)) low = i;
      if (value > (values[high] ?? -Infinity)) high = i;
    }
    places.push(...[...kept.add(low).add(high)].toSorted((a, b) => a - b));
  }
  return places;
}
