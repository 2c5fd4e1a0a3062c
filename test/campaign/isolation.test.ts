import { afterAll, expect, it } from 'vitest';
import { createPlayground } from '../e2e/gannet.ts';
import { BUSY, compareIsolation } from './isolation.ts';

const place = createPlayground();
afterAll(() => place.close());

it('ten busy strategies come to one hash: live, in one process, and with processes of their own', async () => {
  const { repetitions, decisions, hashes, violations } =
    await compareIsolation({ place, run: BUSY, seconds: 6, repetitions: 4, spinners: 0 });
  expect(violations).toEqual([]);
  expect(Object.values(hashes)).toEqual([repetitions]);
  expect(decisions).toBeGreaterThan(10);
}, 120_000);
