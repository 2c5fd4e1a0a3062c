import { describe, expect, it } from 'vitest';
import type { RunConfig, StrategyConfig } from '../../../src/config/run-config.ts';
import { fixedChanges, fixedOfStrategy, paramChanges } from '../../../src/daemon/reload/config-change.ts';
import { changeTexts, reloadText } from '../../../src/daemon/reload/reload-text.ts';

const strategy = (name: string, changes: object = {}): StrategyConfig => ({
  name, use: `./${name}.ts`, strategy: { name }, params: {}, rawParams: {}, ...changes,
}) as unknown as StrategyConfig;
const config = (strategies: readonly StrategyConfig[], changes: object = {}): RunConfig =>
  ({ file: 'a.yaml', seed: 7, limits: { caps: new Map([['SOL', 5n]]), most: Infinity }, strategies, ...changes }) as
    unknown as RunConfig;

describe('what a reload cannot change', () => {
  it.each<readonly [string, RunConfig, readonly string[]]>([
    ['nothing', config([strategy('dip')]), []],
    ['parameters', config([strategy('dip', { rawParams: { k: 2 }, params: { k: 2 } })]), []],
    ['a seed', config([strategy('dip')], { seed: 8 }), ['seed']],
    ['a member of a map', config([strategy('dip')], { limits: { caps: new Map([['SOL', 6n]]), most: Infinity } }),
      ['limits']],
    ['a bound that is gone', config([strategy('dip')], { limits: { caps: new Map([['SOL', 5n]]), most: 9 } }),
      ['limits']],
    ['a budget', config([strategy('dip', { budget: { mint: 'SOL', amount: 5n } })]), ['budget of strategy dip']],
    ['a warm-up', config([strategy('dip', { warmupMs: 5 })]), ['warmup of strategy dip']],
    ['a name in the code', config([strategy('dip', { strategy: { name: 'dap' } })]),
      ['the name of the strategy in ./dip.ts (it was "dip", and is "dap")']],
    ['another strategy', config([strategy('dip'), strategy('dap')]),
      ['strategies (they are dip, dap, and the run has dip)']],
  ])('%s', (_what, after, expected) => {
    const before = config([strategy('dip')]);
    const whole = fixedChanges(before, after);
    const own = whole.length > 0 ? [] : fixedOfStrategy(before.strategies[0]!, after.strategies[0]!);
    expect([...whole, ...own]).toEqual(expected);
  });
});

describe('changed parameters', () => {
  it('are named with their values before and after, within mappings too', () => {
    const params = paramChanges(
      { pair: 'SOL/USDC', window: 20, bounds: { low: 1, high: 9 }, levels: [1, 2] },
      { pair: 'SOL/USDC', window: 30, bounds: { low: 1, high: 8 }, levels: [1, 3], k: 2 },
    );
    expect(changeTexts({ params }))
      .toEqual(['window 20 → 30', 'bounds.high 9 → 8', 'levels [1,2] → [1,3]', 'k left out → 2']);
    expect(reloadText({ strategy: 'dip', params: [], code: { before: 'a'.repeat(64), after: 'b'.repeat(64) } }))
      .toBe('strategy dip was reloaded: code aaaaaaaaaaaa → bbbbbbbbbbbb');
    expect(reloadText({ strategy: 'dip', params: [] })).toBe('strategy dip was reloaded: nothing has changed');
  });
});
