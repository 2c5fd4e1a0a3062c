import { describe, expect, it } from 'vitest';
import type { SweepRow } from '../../../src/backtest/sweep/sweep-row.ts';
import { deniedCells } from '../../../src/cli/sweep/answer.ts';
import { limitWarnings } from '../../../src/cli/sweep/sentences.ts';
import { axis, row as rowAt } from '../../backtest/sweep/rows.ts';

/** A row that came to so many fills, refusals and idle time. */
function row(fills: number, denials: Readonly<Record<string, number>>, idle = 0): SweepRow {
  const plain = rowAt([axis('x', 1)], [0], 1);
  return { ...plain, result: { ...plain.result, fills, denials, idle } };
}

describe('what a sweep says of the risk limits', () => {
  it('names the limit where it made the result, and in how many trials', () => {
    const [said, ...others] = limitWarnings([row(1_488, { RATE_PER_DAY: 6_000, LOSS_STREAK: 41 }), row(100, { RATE_PER_DAY: 100 }), row(9, { LOSS_STREAK: 10 }), row(500, { RATE_PER_DAY: 20 })]);
    expect(said).toMatch(/^in 3 of 4 trials the risk limits made the result as well as the parameters did: .*; most often by RATE_PER_DAY \(.+\)$/);
    expect(others).toStrictEqual([]);
  });

  it('also where a protection ended the trading early, though it refused little', () => {
    expect(limitWarnings([row(814, { DRAWDOWN_EXCEEDS_MAX: 3 }, 0.9)])).toStrictEqual([expect.stringMatching(/^in the only trial .*; mostly by DRAWDOWN_EXCEEDS_MAX \(equity is too far under its highest\)$/)]);
    expect(limitWarnings([row(0, { TRADE_EXCEEDS_MAX: 2 }), row(0, { TRADE_EXCEEDS_MAX: 1 })])).toStrictEqual([expect.stringMatching(/^in all 2 trials /)]);
  });

  it('nothing where the limits refused little, or a strategy was idle by itself', () => {
    expect(limitWarnings([row(814, { LOSS_STREAK: 3 }, 0.2), row(20, {}, 0.9), row(0, {})])).toStrictEqual([]);
  });

  it('has the code that most swaps were refused by beside their number', () => {
    expect(deniedCells({ LOSS_STREAK: 80, RATE_PER_DAY: 43, DRAWDOWN_EXCEEDS_MAX: 5_918 })).toStrictEqual(['6,041', 'DRAWDOWN_EXCEEDS_MAX']);
    expect(deniedCells({})).toStrictEqual(['0', '']);
  });
});
