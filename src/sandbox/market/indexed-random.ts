import { seededRandom } from '../../core/random.ts';

/**
 * Returns a number of [0, 1) for a place in a two-dimensional random field: the same for the same place, in any order
 * of calls. `lane` tells draws of one index apart.
 */
type IndexedRandom = (index: number, lane?: number) => number;

/** The seeded generator needs as many numbers before neighbouring seeds are far apart. */
const WARM_UP = 12;
const UINT32 = 4_294_967_296;

/** Returns the random field of a seed (the finalizer of MurmurHash3 over seed, lane and index). */
export function indexedRandom(seed: string): IndexedRandom {
  const random = seededRandom(seed);
  for (let i = 0; i < WARM_UP; i++) random();
  const [a, b] = [Math.floor(random() * UINT32), Math.floor(random() * UINT32)];
  return (index, lane = 0) => mixed(mixed(a ^ Math.imul(index, 0x9e3779b1)) ^ b ^ Math.imul(lane, 0x85ebca6b)) / UINT32;
}

/** Returns the standard normal deviate of a place (Box-Muller); it takes the lanes `2 * lane` and `2 * lane + 1`. */
export function indexedNormal(random: IndexedRandom, index: number, lane = 0): number {
  return Math.sqrt(-2 * Math.log(1 - random(index, 2 * lane))) * Math.cos(2 * Math.PI * random(index, 2 * lane + 1));
}

function mixed(value: number): number {
  let x = value ^ (value >>> 16);
  x = Math.imul(x, 0x85ebca6b);
  x ^= x >>> 13;
  x = Math.imul(x, 0xc2b2ae35);
  return (x ^ (x >>> 16)) >>> 0;
}
