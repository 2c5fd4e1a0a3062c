import { expect, it } from 'vitest';
import { campaign } from './retention.ts';

it('a run at the rate of the demonstration stays within its budget, and loses no swap', async () => {
  const retention = {
    budget: '20MB', recordings: { max_age: '1d' }, runs: { max_age: '1d' }, logs: { max_age: '1d', max_size: '3MB' },
    journal: { max_age: '2d' },
  };
  const { days, most, swaps, bytesPerQuote, violations } =
    await campaign({ days: 3, retention, seed: 7, flushMs: 300_000, share: 0.1 });
  expect(violations).toEqual([]);
  expect(swaps).toBeGreaterThan(1_000);
  expect(most).toBeLessThan(20e6);
  expect(bytesPerQuote).toBeLessThanOrEqual(25);
  expect(days[2]!.recordings).toBeLessThan(1.2 * days[1]!.recordings);
}, 120_000);
