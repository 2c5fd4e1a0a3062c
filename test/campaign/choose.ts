import { seededRandom } from '../../src/core/random.ts';

/** Chance from a seed: the same choices for the same seed. */
export interface Choose {
  chance(probability: number): boolean;
  /** Returns a whole number of `min` to `max`, both included. */
  integer(min: number, max: number): number;
  pick<Item>(items: readonly Item[]): Item;
  /** Returns a few of the items, perhaps none, in their order. */
  some<Item>(items: readonly Item[]): Item[];
  bytes(count: number): Buffer;
}

/** Returns chance from a seed. */
export function createChoose(seed: number | string): Choose {
  const random = seededRandom(seed);
  const integer = (min: number, max: number): number => min + Math.floor(random() * (max - min + 1));
  return {
    chance: (probability) => random() < probability,
    integer,
    pick: (items) => items[integer(0, items.length - 1)]!,
    some: (items) => items.filter(() => random() < 0.4),
    bytes: (count) => Buffer.from(Array.from({ length: count }, () => integer(0, 255))),
  };
}
