import { describe, expect, it } from 'vitest';
import { limitedBy, limitWarnings as warningsOf } from '../../../src/research/trials/denial-summary.ts';
import { neighbourhoodOf } from '../../../src/research/sweep/neighbourhood.ts';
import type { SweepRow } from '../../../src/research/sweep/grid.ts';
import { neighbourhoodSentence } from '../../../src/research/sweep/sweep-outcome.ts';
import { axis, row as rowAt } from './rows.ts';

function limitWarnings(rows: readonly SweepRow[]): string[] {
  return warningsOf(rows.map(({ result }) => result), 'trial');
}

/** Returns a row with so many fills, refusals and idle time. */
function row(fills: number, denials: Readonly<Record<string, number>>, idle = 0): SweepRow {
  const plain = rowAt([axis('x', 1)], [0], 1);
  return { ...plain, result: { ...plain.result, fills, denials, idle } };
}

describe('the warnings of a sweep about risk limits', () => {
  it('name the limit that determined results, and the number of trials', () => {
    const [said, ...others] = limitWarnings([
      row(1_488, { RATE_PER_DAY: 6_000, LOSS_STREAK: 41 }), row(100, { RATE_PER_DAY: 100 }),
      row(9, { LOSS_STREAK: 10 }), row(500, { RATE_PER_DAY: 20 }),
    ]);
    expect(said).toMatch(/^in 3 of 4 trials the risk limits determine the result as much as the parameters: /);
    expect(said).toMatch(/; most often by RATE_PER_DAY \(.+\)$/);
    expect(others).toStrictEqual([
      expect.stringMatching(/^in 1 of 4 trials the risk limits shape the result: .*; mostly by RATE_PER_DAY \(.+\)$/),
    ]);
  });

  it('include a protection that ended the trading early with few refusals', () => {
    expect(limitWarnings([row(814, { DRAWDOWN_EXCEEDS_MAX: 3 }, 0.9)])).toStrictEqual([expect.stringMatching(
      /^in the only trial .*; mostly by DRAWDOWN_EXCEEDS_MAX \([^)]+\)$/,
    )]);
    expect(limitWarnings([row(0, { TRADE_EXCEEDS_MAX: 2 }), row(0, { TRADE_EXCEEDS_MAX: 1 })]))
      .toStrictEqual([expect.stringMatching(/^in all 2 trials /)]);
  });

  it('are empty for few refusals, and for an idle strategy', () => {
    expect(limitWarnings([row(814, { RATE_PER_MINUTE: 3 }, 0.2), row(20, {}, 0.9), row(0, {})])).toStrictEqual([]);
  });

  it('issue 13.8: include refusals of 1 % of the proposals or more, and any stop by a protection', () => {
    expect(limitWarnings([row(990, { BUDGET_EXCEEDED: 10 }), row(991, { BUDGET_EXCEEDED: 9 })]))
      .toStrictEqual([expect.stringMatching(
        /^in 1 of 2 trials the risk limits shape the result: .*; mostly by BUDGET_EXCEEDED \(.+\)$/,
      )]);
    expect(limitWarnings([row(5_000, { LOSS_STREAK: 1 })])).toStrictEqual([expect.stringMatching(
      /^in the only trial the risk limits shape the result: .* or a protection stopped entries; mostly by LOSS_STREAK/,
    )]);
  });

  it('count all refusals, and name the most frequent code', () => {
    const denials = { LOSS_STREAK: 80, RATE_PER_DAY: 43, DRAWDOWN_EXCEEDS_MAX: 5_918 };
    expect(limitedBy({ denials, fills: 0, idle: 0 }))
      .toStrictEqual({ count: 6_041, code: 'DRAWDOWN_EXCEEDS_MAX', times: 5_918 });
    expect(limitedBy({ denials: {}, fills: 0, idle: 1 })).toBeUndefined();
  });
});

describe('the sentence on the surroundings of the best combination', () => {
  const X = axis('x', 1, 2, 3, 4, 5, 6, 7);

  /** One hill of alike results; limits made those that are named. */
  function said(limited: readonly number[]): string {
    const rows = [0.1, 0.2, 9, 10, 9.5, 0.3, 0.4].map((value, i): SweepRow => {
      const plain = rowAt([X], [i], value);
      return {
        ...plain,
        result: { ...plain.result, fills: 5, denials: limited.includes(i) ? { DRAWDOWN_EXCEEDS_MAX: 900 } : {} },
      };
    });
    const best = rows[3]!;
    return neighbourhoodSentence({
      ...best, metrics: best.result.metrics, isRepeatable: true,
      neighbourhood: neighbourhoodOf(best, rows, { axes: [X], better: 'higher' }),
    }, 'profit_factor');
  }

  it('is a plain plateau when limits determined few results', () => {
    expect(said([])).toMatch(/^a plateau: [^.]*\d\.\d\d[^:]*\.$/);
    expect(said([2])).not.toContain('limits');
    expect(said([0, 1, 5, 6])).not.toContain('limits');
  });

  it('mentions the limits when they determined most results', () => {
    expect(said([2, 3])).toMatch(/^a plateau: .* But in 2 of these 3 the risk limits determine the result as much as /);
    expect(said([2, 3])).toMatch(/: when they stop the trading, results are alike for any parameters\.$/);
    expect(said([2, 3, 4])).toContain('But in all these 3 the risk limits');
  });
});
