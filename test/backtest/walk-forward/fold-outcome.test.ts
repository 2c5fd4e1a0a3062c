import { describe, expect, it } from 'vitest';
import { assess } from '../../../src/backtest/metrics/metrics.ts';
import { returnsOf } from '../../../src/backtest/metrics/trial-returns.ts';
import { OBJECTIVES } from '../../../src/backtest/objectives.ts';
import type { DoneTrial } from '../../../src/backtest/trial.ts';
import { noChoice } from '../../../src/backtest/walk-forward/fold-outcome.ts';

const DAY = 86_400_000;

/** A trial whose equity rises each day, by more and less. */
function rising(): DoneTrial {
  const values = Array.from({ length: 91 }, (_, day) => 100 + day + (day % 2) / 2);
  const assessment = assess({ kind: 'equity', times: values.map((_, day) => day * DAY), values }, { strictness: 'backtest' });
  return {
    kind: 'done', id: 'rising', events: 91, decisions: 3, decisionHash: '', fills: 3, denials: {}, idle: 0, equity: { start: 100, end: 190 },
    metrics: assessment.metrics, returns: returnsOf(assessment), warnings: assessment.warnings.map(({ message }) => message),
  };
}

describe('why nothing could be chosen', () => {
  it('is what was said of the figure, also where it is called by less than its whole name', () => {
    expect(noChoice([rising()], { ...OBJECTIVES.sortino, name: 'sortino' })).toBe('none of 1 has a Sortino ratio a year in-sample: no return is below the least acceptable one: the Sortino ratio has no meaning');
  });
});
