import { describe, expect, it } from 'vitest';
import { describeTradingChange, tradingLeft } from '../../src/daemon/trading-text.ts';
import { stateWith } from '../trading/states.ts';

describe('the words for who may trade', () => {
  it('name the order that ends what an earlier run left, for a strategy that was told by name by its name', () => {
    const state = stateWith();
    state.trading = 'halted';
    state.strategyTrading.set('diver', 'reduce-only');
    state.flattening.add('diver');
    const left = tradingLeft(state);
    expect(left.map(({ state: kind }) => kind)).toEqual(['halted', 'reduce-only', 'flattening']);
    expect(left[0]!.message).toMatch(/^everything is halted.*"gannet resume" ends it$/);
    expect(left[1]!.message).toMatch(/^diver enters nothing any more.*"gannet resume --strategy diver" ends it$/);
    expect(left[2]!.message).toMatch(/^diver sells.*"gannet resume" ends it$/);
  });

  it('do not promise that everything trades again where a strategy may be stopped by name, and give no reason where there is none', () => {
    const change = { by: 'operator', reason: '' } as const;
    expect(describeTradingChange({ ...change, state: 'active' })).toBe('everything that was not stopped by name may trade again; said by the operator');
    expect(describeTradingChange({ ...change, state: 'halted', reason: 'lunch' })).toBe('everything is halted: no entry, no exit; said by the operator: lunch');
    expect(describeTradingChange({ ...change, state: 'active', strategy: 'diver' })).toBe('diver may trade again; said by the operator');
  });
});
