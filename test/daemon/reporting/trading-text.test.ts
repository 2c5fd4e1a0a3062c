import { describe, expect, it } from 'vitest';
import { describeTradingChange, restoredRestrictions } from '../../../src/daemon/reporting/trading-text.ts';
import { stateWith } from '../../trading/states.ts';

describe('trading states as text', () => {
  it('name the command that ends a restriction of an earlier run, by name for a single strategy', () => {
    const state = stateWith();
    state.trading = 'halted';
    state.strategyTrading.set('diver', 'reduce-only');
    state.flattening.add('diver');
    const left = restoredRestrictions(state);
    expect(left.map(({ state: kind }) => kind)).toEqual(['halted', 'reduce-only', 'flattening']);
    expect(left[0]!.message).toMatch(/^everything is halted.*"gannet resume" ends it$/);
    expect(left[1]!.message).toMatch(/^diver makes no more entries.*"gannet resume --strategy diver" ends it$/);
    expect(left[2]!.message).toMatch(/^diver sells.*"gannet resume" ends it$/);
    state.tradingBy = 'safe-mode';
    expect(restoredRestrictions(state)[0]!.message).toContain('; safe mode in an earlier run left it so');
  });

  it('mention strategies stopped by name on a resume, and leave out an empty reason', () => {
    const change = { by: 'operator', reason: '' } as const;
    expect(describeTradingChange({ ...change, state: 'active' }))
      .toBe('everything except strategies stopped by name may trade again; source: the operator');
    expect(describeTradingChange({ ...change, state: 'halted', reason: 'lunch' }))
      .toBe('everything is halted: no entry, no exit; source: the operator (lunch)');
    expect(describeTradingChange({ ...change, state: 'active', strategy: 'diver' }))
      .toBe('diver may trade again; source: the operator');
  });
});
