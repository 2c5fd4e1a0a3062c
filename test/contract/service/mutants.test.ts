import { expect, test } from 'vitest';
import { fieldMutants, survivorsOf } from './mutants.ts';
import { openWorld } from './world.ts';

/** One in so many is tried each time; with 1 all are, which takes most of a minute. */
const EVERY = 47;

test('a field that is missing or odd makes its case fail', async () => {
  const mutants = fieldMutants();
  expect(mutants.length).toBeGreaterThan(500);
  const world = await openWorld({ dialect: 'neutral', profile: 'reference' });
  try {
    expect(await survivorsOf(world, mutants.filter((_, place) => place % EVERY === 0))).toEqual([]);
  } finally {
    await world.close();
  }
}, 180_000);
