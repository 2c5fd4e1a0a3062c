import { describe, expect, it } from 'vitest';
import { CRASH_LIMIT, crashesInARow } from '../../../src/daemon/run/safe-mode.ts';

const NOW = 10_000_000;
const crashed = (agoMs: number): { runId: string; startedAt: number } =>
  ({ runId: `r${agoMs}`, startedAt: NOW - agoMs });
const ended = (agoMs: number): { runId: string; startedAt: number; endedAt: number } =>
  ({ ...crashed(agoMs), endedAt: NOW - agoMs + 1 });

describe('the crashes before a start', () => {
  it('are counted in a row, newest first, within the span', () => {
    expect(crashesInARow([], NOW)).toBe(0);
    expect(crashesInARow([crashed(1_000), crashed(2_000), crashed(3_000)], NOW)).toBe(3);
    expect(crashesInARow([crashed(1_000), ended(2_000), crashed(3_000)], NOW)).toBe(1);
    expect(crashesInARow([ended(1_000), crashed(2_000), crashed(3_000)], NOW)).toBe(0);
    expect(crashesInARow([crashed(1_000), crashed(CRASH_LIMIT.withinMs + 1)], NOW)).toBe(1);
  });

  it('include runs with a start in the future, from before the clock was set back', () => {
    expect(crashesInARow([crashed(-5_000), crashed(-6_000), crashed(-7_000)], NOW)).toBe(3);
  });
});
