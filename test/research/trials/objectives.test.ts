import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Metrics } from '../../../src/research/metrics/metrics.ts';
import { assess } from '../../../src/research/metrics/metrics.ts';
import type { Objective, ObjectiveName } from '../../../src/research/trials/objectives.ts';
import {
  bestFirst, bestOf, DEFAULT_OBJECTIVE, isObjectiveName, OBJECTIVES,
} from '../../../src/research/trials/objectives.ts';

const NAMES = Object.keys(OBJECTIVES) as ObjectiveName[];
const { metrics: NOTHING } = assess({ kind: 'returns', returns: [] }, { strictness: 'backtest' });
const judged = (figures: Partial<Metrics>, fills = 5): Parameters<Objective['valueOf']>[0] => (
  { metrics: { ...NOTHING, ...figures }, fills });

describe('objectives', () => {
  it('are named like their metric, with the Sharpe ratio as the default', () => {
    expect(NAMES).toStrictEqual([
      'sharpe', 'sortino', 'calmar', 'total_return', 'cagr', 'max_drawdown', 'profit_factor', 'expectancy', 'psr',
    ]);
    for (const name of NAMES) expect(OBJECTIVES[name].valueOf(judged({ [name]: 0.125 }))).toBe(0.125);
    expect([DEFAULT_OBJECTIVE, isObjectiveName('psr'), isObjectiveName('toString'), isObjectiveName('profit')])
      .toStrictEqual(['sharpe', true, false, false]);
  });

  it('prefer the highest value, except for the drawdown', () => {
    for (const name of NAMES) {
      const [low, high] = [judged({ [name]: 0.1 }), judged({ [name]: 0.2 })];
      expect(bestOf([low, high], OBJECTIVES[name]), name).toBe(name === 'max_drawdown' ? low : high);
    }
  });

  it('never choose a trial without the figure or without a swap', () => {
    for (const name of NAMES) {
      const [none, idle, worst] = [
        judged({}), judged({ [name]: name === 'max_drawdown' ? 0 : 1e9 }, 0),
        judged({ [name]: name === 'max_drawdown' ? 0.9 : -5 }),
      ];
      expect(bestOf([none, idle, worst], OBJECTIVES[name]), name).toBe(worst);
      expect(bestOf([none, idle], OBJECTIVES[name]), name).toBeUndefined();
    }
    expect(bestOf([], OBJECTIVES.sharpe)).toBeUndefined();
  });

  it('order best first, stable for equals, with those without a figure last', () => {
    const figure = fc.option(fc.integer({ min: -3, max: 3 }));
    fc.assert(fc.property(fc.array(figure), fc.constantFrom(...NAMES), (figures, name) => {
      const { valueOf, better } = OBJECTIVES[name];
      const results = figures.map((value, place) => ({ ...judged({ [name]: value }), place }));
      const ordered = bestFirst(results, OBJECTIVES[name]);
      expect(ordered.map(({ place }) => place).toSorted((a, b) => a - b))
        .toStrictEqual(results.map(({ place }) => place));
      for (const [i, after] of ordered.slice(1).entries()) {
        const [a, b] = [valueOf(ordered[i]!), valueOf(after)];
        if (a === b) expect(ordered[i]!.place).toBeLessThan(after.place);
        else expect(b === null || (a !== null && (better === 'higher' ? a > b : a < b))).toBe(true);
      }
      expect(bestOf(results, OBJECTIVES[name]))
        .toBe(ordered[0] !== undefined && valueOf(ordered[0]) !== null ? ordered[0] : undefined);
    }));
  });
});
