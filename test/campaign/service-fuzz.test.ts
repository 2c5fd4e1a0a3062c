import { expect, it } from 'vitest';
import { dialectNames } from '../../src/service/wire/dialect.ts';
import { fuzzService } from './service-fuzz.ts';

it.each([
  { requests: 900, seed: 1, profile: 'reference', dialect: 'neutral' },
  { requests: 400, seed: 2, profile: 'live', dialect: dialectNames().find((name) => name !== 'neutral')! },
] as const)('$requests random and hostile requests do no harm: $profile', async (options) => {
  const { violations, answers, requests } = await fuzzService(options);
  expect(violations).toEqual([]);
  expect(requests).toBe(options.requests);
  // Some were let through and most were refused, or the requests are not what they should be.
  expect(answers['service 200']).toBeGreaterThan(options.requests / 20);
  expect(answers['service 400']).toBeGreaterThan(options.requests / 10);
  expect(answers['rpc 200']).toBeGreaterThan(options.requests / 20);
  expect(answers['websocket fine']).toBeGreaterThan(0);
});
