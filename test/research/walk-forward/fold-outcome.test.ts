import { describe, expect, it } from 'vitest';
import { assess } from '../../../src/research/metrics/metrics.ts';
import { returnsOf } from '../../../src/research/metrics/deflated-sharpe.ts';
import { OBJECTIVES } from '../../../src/research/trials/objectives.ts';
import type { DoneTrial } from '../../../src/research/trials/trial.ts';
import { foldLimits, noChoice } from '../../../src/research/walk-forward/fold-outcome.ts';

const DAY = 86_400_000;

/** A trial whose equity rises each day, by more and less. */
function rising(): DoneTrial {
  const values = Array.from({ length: 91 }, (_, day) => 100 + day + (day % 2) / 2);
  const assessment =
    assess({ kind: 'equity', times: values.map((_, day) => day * DAY), values }, { strictness: 'backtest' });
  return {
    kind: 'done', id: 'rising', events: 91, decisions: 3, decisionHash: '', fills: 3, denials: {}, idle: 0,
    equity: { start: 100, end: 190 }, metrics: assessment.metrics, returns: returnsOf(assessment),
    warnings: assessment.warnings.map(({ message }) => message),
  };
}

describe('the reason for no choice', () => {
  it('is the warning about the figure, even if that shortens its name', () => {
    expect(noChoice([rising()], { ...OBJECTIVES.sortino, name: 'sortino' })).toBe('none of 1 has a Sortino ratio a '
      + 'year in-sample: no return is below the least acceptable one: the Sortino ratio has no meaning');
  });
});

describe('the effect of the risk limits on a fold', () => {
  it('names only the periods that the limits determined', () => {
    const free = rising();
    const limited = { ...free, denials: { DRAWDOWN_EXCEEDS_MAX: 40, LOSS_STREAK: 2 } };
    const chosen = { place: 0, params: {}, value: 1 };
    expect(foldLimits(
      { choice: { ...chosen, inSample: limited }, outOfSample: { ...free, idle: 0.5, denials: { RATE_PER_DAY: 1 } } },
    )).toBe('limited in-sample by DRAWDOWN_EXCEEDS_MAX, out of sample by RATE_PER_DAY');
    expect(foldLimits({ choice: { ...chosen, inSample: free }, outOfSample: limited }))
      .toBe('limited out of sample by DRAWDOWN_EXCEEDS_MAX');
    expect(foldLimits({ choice: { ...chosen, inSample: free }, outOfSample: undefined })).toBe('');
  });
});
