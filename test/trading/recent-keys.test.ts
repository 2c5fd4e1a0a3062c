import { expect, it } from 'vitest';
import { intentKey, RecentKeys } from '../../src/trading/recent-keys.ts';

const KEYS_PER_STRATEGY_MAX = 1_000;

it('keys of two strategies do not collide', () => {
  const keys = new RecentKeys([intentKey('diver', 'slot-1')]);
  expect(keys.has(intentKey('diver', 'slot-1'))).toBe(true);
  expect(keys.has(intentKey('other', 'slot-1'))).toBe(false);
  expect(keys.has(intentKey('diver', 'slot:1'))).toBe(false);
  keys.add(intentKey('diver', 'slot:1'));
  expect(keys.has(intentKey('diver', 'slot:1'))).toBe(true);
});

it('only the oldest keys of a strategy with too many are forgotten, and none of others', () => {
  const keys = new RecentKeys([intentKey('other', 'slot-1')]);
  for (let n = 0; n <= KEYS_PER_STRATEGY_MAX; n++) keys.add(intentKey('diver', `slot-${n}`));
  expect(keys.has(intentKey('diver', 'slot-0'))).toBe(false);
  expect(keys.has(intentKey('diver', 'slot-1'))).toBe(true);
  expect(keys.has(intentKey('diver', `slot-${KEYS_PER_STRATEGY_MAX}`))).toBe(true);
  expect(keys.has(intentKey('other', 'slot-1'))).toBe(true);
});

it('keys survive writing and reading', () => {
  const keys = new RecentKeys([]);
  for (let n = 0; n < 1_500; n++) keys.add(intentKey(n % 3 === 0 ? 'a' : 'b', `slot-${n}`));
  expect([...new RecentKeys([...keys])]).toEqual([...keys]);
});
