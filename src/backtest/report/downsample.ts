/**
 * Returns the places of points that draw the same line as all of them: of each of so many equal parts the first, the
 * lowest, the highest and the last, so that no extreme is lost. In order, each once.
 */
export function drawnPoints(values: readonly number[], parts = 350): number[] {
  if (values.length <= parts * 4) return values.map((_, i) => i);
  const places: number[] = [];
  for (let part = 0; part < parts; part++) {
    const from = Math.floor((part * values.length) / parts);
    const to = Math.floor(((part + 1) * values.length) / parts);
    let [low, high] = [from, from];
    for (let i = from; i < to; i++) {
      if (values[i]! < values[low]!) low = i;
      if (values[i]! > values[high]!) high = i;
    }
    places.push(...new Set([from, low, high, to - 1].toSorted((a, b) => a - b)));
  }
  return places;
}
