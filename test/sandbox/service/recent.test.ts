import { describe, expect, it } from 'vitest';
import { createRecent } from '../../../src/sandbox/service/recent.ts';

describe('a memory of recent things', () => {
  it('forgets what is older than its lifetime, counted from when it was last set', () => {
    let nowMs = 0;
    const recent = createRecent<number>({ nowMs: () => nowMs, lifetimeMs: 100, largestCount: 10 });
    recent.set('a', 1);
    nowMs = 60;
    recent.set('b', 2);
    nowMs = 100;
    expect([recent.get('a'), recent.get('b')]).toEqual([1, 2]);
    recent.set('a', 3);
    nowMs = 161;
    expect([recent.get('a'), recent.get('b'), recent.size]).toEqual([3, undefined, 1]);
    nowMs = 201;
    expect(recent.get('a')).toBeUndefined();
    expect(recent.size).toBe(0);
  });

  it('forgets the oldest when it is full', () => {
    const recent = createRecent<number>({ nowMs: () => 0, lifetimeMs: Number.POSITIVE_INFINITY, largestCount: 3 });
    for (const key of ['a', 'b', 'c']) recent.set(key, 0);
    recent.set('a', 1);
    recent.set('d', 0);
    expect(['a', 'b', 'c', 'd'].map((key) => recent.get(key))).toEqual([1, undefined, 0, 0]);
  });
});
