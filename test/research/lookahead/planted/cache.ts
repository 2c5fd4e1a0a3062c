const features = new Map<number, { low: number }>();

/** Returns the one feature of a number. */
export function featureOf(number: number): { low: number } {
  const found = features.get(number) ?? { low: Infinity };
  features.set(number, found);
  return found;
}
