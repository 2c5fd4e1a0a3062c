import { expect, it } from 'vitest';
import { resolveRetention, retentionSchema } from '../../src/config/operations/retention-config.ts';

it('a retention has sizes in powers of a thousand, durations, and safe defaults', () => {
  const { budgetBytes, recordings, journal, enabled } = resolveRetention(retentionSchema.parse({}));
  expect([enabled, budgetBytes, recordings.maxAgeMs, journal.maxAgeMs])
    .toEqual([true, 1e9, 30 * 86_400_000, 3 * 86_400_000]);
  const given = { budget: '1.5GB', logs: { max_age: '36h', max_size: '750kB' }, runs: { max_size: '2TB' } };
  expect(resolveRetention(retentionSchema.parse(given))).toMatchObject({
    budgetBytes: 1.5e9, logs: { maxAgeMs: 129_600_000, maxBytes: 750_000 }, runs: { maxBytes: 2e12 },
  });
});

it.each([
  [{ budget: '0MB' }, 'expected a size such as "500MB"'], [{ budget: '1 GB' }, 'expected a size'],
  [{ budget: '-1GB' }, 'expected a size'], [{ budget: 'all' }, 'expected a size'], [{ budget: 5 }, 'expected string'],
  [{ logs: { max_age: '59m' } }, 'expected at least 1h'], [{ journal: { max_age: '47h' } }, 'expected at least 2d'],
  [{ runs: { max_age: 'soon' } }, 'duration'], [{ journal: { max_size: '1GB' } }, 'max_size'],
  [{ wallets: {} }, 'wallets'],
])('%j is refused', (section, message) => {
  const parsed = retentionSchema.safeParse(section);
  expect(parsed.error?.issues.map((issue) => issue.message).join('; ').toLowerCase()).toContain(message.toLowerCase());
});
