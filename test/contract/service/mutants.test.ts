import { expect, test } from 'vitest';
import { fieldMutants, survivorsOf } from './mutants.ts';
import { openFixture } from './service-fixture.ts';

/** One in so many is tried each time; with 1 all are, which takes most of a minute. */
const EVERY = 47;

test('a field that is missing or odd makes its case fail', async () => {
  const mutants = fieldMutants();
  expect(mutants.length).toBeGreaterThan(500);
  const fixture = await openFixture({ dialect: 'neutral', profile: 'reference' });
  try {
    expect(await survivorsOf(fixture, mutants.filter((_, place) => place % EVERY === 0))).toEqual([]);
  } finally {
    await fixture.close();
  }
}, 180_000);
