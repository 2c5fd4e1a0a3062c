import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rangeValues } from '../../../src/research/sweep/grid.ts';

describe('the values of a range', () => {
  it.each([
    [{ from: 5, to: 20, step: 5 }, [5, 10, 15, 20]],
    [{ from: 0, to: 1, step: 0.1 }, [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1]],
    [{ from: -0.2, to: 0.2, step: 0.1 }, [-0.2, -0.1, 0, 0.1, 0.2]],
    [{ from: 1, to: 2, step: 0.3 }, [1, 1.3, 1.6, 1.9]],
    [{ from: 3, to: 3, step: 1 }, [3]],
    [{ from: 1e-7, to: 3e-7, step: 1e-7 }, [1e-7, 2e-7, 3e-7]],
    [{ from: 1e21, to: 3e21, step: 1e21 }, [1e21, 2e21, 3e21]],
    [{ from: '5s', to: '15s', step: '5s' }, ['5s', '10s', '15s']],
    [{ from: '0.5 SOL', to: '1.5 SOL', step: '0.5 SOL' }, ['0.5 SOL', '1 SOL', '1.5 SOL']],
  ])('of %j are %j', (steps, expected) => {
    expect(rangeValues(steps, 100)).toStrictEqual(expected);
  });

  it('do not drift: each value equals its decimal text', () => {
    fc.assert(fc.property(fc.integer({ min: -500, max: 500 }), fc.integer({ min: 1, max: 99 }),
      fc.integer({ min: 1, max: 200 }), fc.integer({ min: 0, max: 6 }), (from, step, count, places) => {
        const decimal = (digits: number): number => Number(`${digits}e-${places}`);
        const values =
          rangeValues({ from: decimal(from), to: decimal(from + step * (count - 1)), step: decimal(step) }, 1_000);
        expect(values).toStrictEqual(Array.from({ length: count }, (_, i) => decimal(from + step * i) + 0));
      }));
  });

  it.each([
    [{ from: 1, to: 2, step: 0 }, 'a step above 0'],
    [{ from: 1, to: 2, step: -1 }, 'a step above 0'],
    [{ from: 2, to: 1, step: 1 }, 'from to be at most to'],
    [{ from: 0, to: 1, step: 0.001 }, 'at most 100 values, got 1,001'],
    [{ from: '5s', to: '1m', step: '5s' }, 'one unit'],
    [{ from: 1, to: '5s', step: 1 }, 'one unit'],
    [{ from: 'low', to: 'high', step: 'some' }, 'numbers, or texts'],
    [{ from: '1e999999999', to: '2', step: '1' }, 'one unit'],
  ])('of %j are refused: %s', (steps, message) => {
    expect(rangeValues(steps, 100)).toContain(message);
  });
});
