import { describe, expect, it } from 'vitest';
import { implausibleWarnings } from '../../src/backtest/verdict.ts';

describe('a result that is better than any that lasted', () => {
  it('is doubted', () => {
    expect(implausibleWarnings({ sharpe: 157.2 })).toStrictEqual([expect.stringMatching(/^a Sharpe ratio of 157 is beyond/)]);
  });

  it.each([3, 10, -40, null])('unlike one of %s', (sharpe) => {
    expect(implausibleWarnings({ sharpe })).toStrictEqual([]);
  });
});
