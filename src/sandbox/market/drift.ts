import { indexedNormal, indexedRandom } from './indexed-random.ts';

/** The scales of one drift, as multiples of its half-life, and what each adds to the variance; together 1. */
const SCALES = [
  { halfLives: 8, share: 0.25 },
  { halfLives: 2, share: 0.35 },
  { halfLives: 0.5, share: 0.25 },
  { halfLives: 0.125, share: 0.15 },
] as const;

/**
 * Returns a stationary random function of time with mean 0 and standard deviation 1 that is to be had at any step,
 * past or future, without walking there: deviates on lattices of several widths, blended by cosine and sine so that
 * the variance stays the same between them.
 */
export function createDrift(options: { seed: string; halfLifeSlots: number }): (step: number) => number {
  const random = indexedRandom(options.seed);
  const layers = SCALES.map(({ halfLives, share }) =>
    ({ width: Math.max(1, halfLives * options.halfLifeSlots), weight: Math.sqrt(share) }));
  return (step) => {
    let value = 0;
    layers.forEach(({ width, weight }, lane) => {
      const place = Math.floor(step / width);
      const angle = (step / width - place) * (Math.PI / 2);
      value += weight * (Math.cos(angle) * indexedNormal(random, place, lane)
        + Math.sin(angle) * indexedNormal(random, place + 1, lane));
    });
    return value;
  };
}
