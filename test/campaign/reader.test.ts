import { expect, it } from 'vitest';
import { fuzzReader } from './reader.ts';
import { judgeHostileTransactions } from './transactions.ts';

it('a reader of damaged bytes neither crashes nor hangs nor accepts harmful ones', async () => {
  const { read, unread, denied, allowed, violations } = await fuzzReader({ minutes: 0.03, seed: 7 });
  expect(violations).toEqual([]);
  expect(read).toBeGreaterThan(1_000);
  expect(Math.min(unread, denied, allowed)).toBeGreaterThan(0);
});

it('the campaign of hostile transactions sees exactly its mutations denied', async () => {
  const { goldens, mutants, violations } = await judgeHostileTransactions({ goldens: 44, mutants: 500, seed: 7 });
  expect(violations).toEqual([]);
  expect([goldens.judged - goldens.version1, mutants.judged]).toEqual([44, 500]);
  expect(Math.min(goldens.version1 - 40, mutants.version1 - 50)).toBeGreaterThan(0);
  expect(mutants.kinds).toBeGreaterThan(50);
});
