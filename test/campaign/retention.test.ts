import { expect, it } from 'vitest';
import { campaign } from './retention.ts';

it('a run at the rate of the demonstration stays within its budget, and loses no swap', async () => {
  const retention = {
    budget: '40MB', recordings: { max_age: '1d' }, runs: { max_age: '1d' }, logs: { max_age: '1d', max_size: '3MB' },
    journal: { max_age: '2d' },
  };
  const { days, most, swaps, bytesPerQuote, violations } =
    await campaign({ days: 3, retention, seed: 7, flushMs: 300_000, share: 0.1 });
  expect(violations).toEqual([]);
  expect(swaps).toBeGreaterThan(1_000);
  expect(most).toBeLessThan(40e6);
  // A tenth of the rate: a quote every 25 seconds.
  expect(bytesPerQuote).toBeLessThanOrEqual(30);
  expect(days.map(({ day }) => day)).toEqual([1, 2, 3]);
}, 120_000);
