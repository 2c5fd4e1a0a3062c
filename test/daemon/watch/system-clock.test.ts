import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { monotonicNow, systemClock } from '../../../src/daemon/watch/system-clock.ts';

function clocks(): { now: () => number; set: (wall: number, monotonic: number) => number } {
  let wall = 1_000_000;
  let monotonic = 0;
  const now = monotonicNow(() => wall, () => monotonic);
  return {
    now,
    set: (wallAt, monotonicAt) => {
      wall = wallAt;
      monotonic = monotonicAt;
      return now();
    },
  };
}

describe('the system clock', () => {
  it('follows the wall clock while that moves forward, also over a suspend', () => {
    const { set } = clocks();
    expect([set(1_000_100, 100), set(1_000_200, 200), set(29_800_000, 300)])
      .toEqual([1_000_100, 1_000_200, 29_800_000]);
  });

  it('stands still during a small correction, then follows the wall clock without drift', () => {
    const { set } = clocks();
    expect([set(1_005_000, 5_000), set(1_004_000, 5_100), set(1_005_200, 6_300)])
      .toEqual([1_005_000, 1_005_000, 1_005_200]);
  });

  it('continues by the monotonic counter after the wall clock was set back by hours, until that has caught up', () => {
    const { set } = clocks();
    const hour = 3_600_000;
    set(1_000_000 + 8 * hour, 10);
    const times = [set(1_000_000, 20.6), set(1_000_100, 120.7), set(1_000_200, 220.9)];
    expect(times).toEqual([10, 110, 210].map((passed) => 1_000_000 + 8 * hour + passed));
    expect(set(1_000_000 + 9 * hour, hour)).toBe(1_000_000 + 9 * hour);
  });
});

describe('issue 13.27: a delay longer than the longest timer of Node', () => {
  it('lasts its full time, and can be cancelled', () => {
    vi.useFakeTimers();
    onTestFinished(() => { vi.useRealTimers(); });
    const day = 86_400_000;
    const fired: string[] = [];
    systemClock.schedule(() => { fired.push('60 days'); }, 60 * day);
    const given = systemClock.schedule(() => { fired.push('never'); }, 40 * day);
    vi.advanceTimersByTime(30 * day);
    given.unsubscribe();
    vi.advanceTimersByTime(30 * day - 1);
    expect(fired).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(fired).toEqual(['60 days']);
  });
});
