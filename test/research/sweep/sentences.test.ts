import { describe, expect, it } from 'vitest';
import { limitWarnings as warningsOf } from '../../../src/research/trials/denial-summary.ts';
import { neighbourhoodOf } from '../../../src/research/sweep/neighbourhood.ts';
import type { SweepRow } from '../../../src/research/sweep/sweep-outcome.ts';
import { neighbourhoodSentence } from '../../../src/research/sweep/sweep-outcome.ts';
import { deniedCells } from '../../../src/cli/commands/research/sweep-answer.ts';
import { axis, row as rowAt } from './rows.ts';

function limitWarnings(rows: readonly SweepRow[]): string[] {
  return warningsOf(rows.map(({ result }) => result), 'trial');
}

/** A row that came to so many fills, refusals and idle time. */
function row(fills: number, denials: Readonly<Record<string, number>>, idle = 0): SweepRow {
  const plain = rowAt([axis('x', 1)], [0], 1);
  return { ...plain, result: { ...plain.result, fills, denials, idle } };
}

describe('what a sweep says of the risk limits', () => {
  it('names the limit where it made the result, and in how many trials', () => {
    const [said, ...others] = limitWarnings([
      row(1_488, { RATE_PER_DAY: 6_000, LOSS_STREAK: 41 }), row(100, { RATE_PER_DAY: 100 }),
      row(9, { LOSS_STREAK: 10 }), row(500, { RATE_PER_DAY: 20 }),
    ]);
    expect(said).toMatch(/^in 3 of 4 trials the risk limits made the result as well as the parameters did: .*; most often by RATE_PER_DAY \(.+\)$/);
    expect(others).toStrictEqual([
      expect.stringMatching(/^in 1 of 4 trials the risk limits shape the result: .*; mostly by RATE_PER_DAY \(.+\)$/),
    ]);
  });

  it('also where a protection ended the trading early, though it refused little', () => {
    expect(limitWarnings([row(814, { DRAWDOWN_EXCEEDS_MAX: 3 }, 0.9)])).toStrictEqual([expect.stringMatching(
      /^in the only trial .*; mostly by DRAWDOWN_EXCEEDS_MAX \(equity is too far under its highest\)$/,
    )]);
    expect(limitWarnings([row(0, { TRADE_EXCEEDS_MAX: 2 }), row(0, { TRADE_EXCEEDS_MAX: 1 })]))
      .toStrictEqual([expect.stringMatching(/^in all 2 trials /)]);
  });

  it('nothing where the limits refused little, or a strategy was idle by itself', () => {
    expect(limitWarnings([row(814, { RATE_PER_MINUTE: 3 }, 0.2), row(20, {}, 0.9), row(0, {})])).toStrictEqual([]);
  });

  it('issue 13.8: that they shape it from 1 % of the proposals on, and where a protection stopped any entry', () => {
    expect(limitWarnings([row(990, { BUDGET_EXCEEDED: 10 }), row(991, { BUDGET_EXCEEDED: 9 })]))
      .toStrictEqual([expect.stringMatching(
        /^in 1 of 2 trials the risk limits shape the result: .*; mostly by BUDGET_EXCEEDED \(.+\)$/,
      )]);
    expect(limitWarnings([row(5_000, { LOSS_STREAK: 1 })])).toStrictEqual([expect.stringMatching(
      /^in the only trial the risk limits shape the result: .* or a protection stopped entries; mostly by LOSS_STREAK/,
    )]);
  });

  it('has the code that most swaps were refused by beside their number', () => {
    expect(deniedCells({ LOSS_STREAK: 80, RATE_PER_DAY: 43, DRAWDOWN_EXCEEDS_MAX: 5_918 }))
      .toStrictEqual(['6,041', 'DRAWDOWN_EXCEEDS_MAX']);
    expect(deniedCells({})).toStrictEqual(['0', '']);
  });
});

describe('what a sweep says of what is around the best', () => {
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

  it('is a plateau without a further word where no limit, or few, made it', () => {
    expect(said([])).toMatch(/^a plateau: [^.]*\d\.\d\d[^:]*\.$/);
    expect(said([2])).not.toContain('limits');
    expect(said([0, 1, 5, 6])).not.toContain('limits');
  });

  it('has the limits beside it where they made most of it', () => {
    expect(said([2, 3])).toMatch(
      /^a plateau: .* But in 2 of these 3 the risk limits made the result as well as the parameters did: where they stop the trading, results are alike whatever the parameters are\.$/,
    );
    expect(said([2, 3, 4])).toContain('But in all these 3 the risk limits');
  });
});
