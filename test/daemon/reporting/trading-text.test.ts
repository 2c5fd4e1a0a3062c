import { describe, expect, it } from 'vitest';
import { describeTradingChange, restoredRestrictions } from '../../../src/daemon/reporting/trading-text.ts';
import { stateWith } from '../../trading/states.ts';

describe('the words for who may trade', () => {
  it('name the order that ends what an earlier run left, for a strategy that was told by name by its name', () => {
    const state = stateWith();
    state.trading = 'halted';
    state.strategyTrading.set('diver', 'reduce-only');
    state.flattening.add('diver');
    const left = restoredRestrictions(state);
    expect(left.map(({ state: kind }) => kind)).toEqual(['halted', 'reduce-only', 'flattening']);
    expect(left[0]!.message).toMatch(/^everything is halted.*"gannet resume" ends it$/);
    expect(left[1]!.message).toMatch(/^diver makes no more entries.*"gannet resume --strategy diver" ends it$/);
    expect(left[2]!.message).toMatch(/^diver sells.*"gannet resume" ends it$/);
  });

  it('do not promise that everything trades again where a strategy may be stopped by name, and give no reason where there is none', () => {
    const change = { by: 'operator', reason: '' } as const;
    expect(describeTradingChange({ ...change, state: 'active' }))
      .toBe('everything except strategies stopped by name may trade again; source: the operator');
    expect(describeTradingChange({ ...change, state: 'halted', reason: 'lunch' }))
      .toBe('everything is halted: no entry, no exit; source: the operator (lunch)');
    expect(describeTradingChange({ ...change, state: 'active', strategy: 'diver' }))
      .toBe('diver may trade again; source: the operator');
  });
});
