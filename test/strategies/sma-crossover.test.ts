import { describe, expect, it } from 'vitest';
import smaCrossover from '../../strategies/sma-crossover.ts';
import { SOL } from '../market/tokens.ts';
import type { Run } from '../engine/runs.ts';
import { start } from '../engine/runs.ts';
import { schemaErrors, configured, fillAtOnce } from './instances.ts';
import { filled, show, swaps } from './trades.ts';

const PARAMS = { pair: 'SOL/USDC', size: '25 USDC', fast: 2, slow: 4 };

describe('sma crossover', () => {
  it('buys when the fast mean rises above the slow one, and sells all when it falls below', () => {
    const run = filled(configured(smaCrossover, PARAMS));
    // Fast and slow, computed manually from the fourth price on: (103, 102), (104, 103), (101, 102.5), (98, 101), (107,
    // 102.5).
    show(run, [100, 102, 102, 104, 104, 98, 98, 116]);
    expect(swaps(run)).toEqual(['buy 3 approved', 'sell 5 approved', 'buy 7 approved']);
    expect(run.state.portfolio.available('sma-crossover', SOL.mint)).toBeGreaterThan(0n);
  });

  it('repeats a failed sale as long as the trend is down', () => {
    let refusals = 2;
    const run: Run = start([configured(smaCrossover, PARAMS)], {
      onEffect: (effect, engine) => {
        if (effect.kind !== 'execute' || effect.intent.purpose === 'entry' || refusals-- <= 0) {
          fillAtOnce(() => run.state)(effect, engine);
          return;
        }
        for (const state of ['building', 'abandoned'] as const) {
          engine.accept({ kind: 'outcome', intentId: effect.intent.id, attempt: 1, state }, engine.clock.now());
        }
      },
    });
    show(run, [100, 102, 102, 104, 104, 98, 97, 96, 95]);
    expect(swaps(run)).toEqual(['buy 3 approved', 'sell 5 approved', 'sell 6 approved', 'sell 7 approved']);
    expect(run.state.portfolio.available('sma-crossover', SOL.mint)).toBe(0n);
  });

  it('does not sell what it does not have', () => {
    const run = filled(configured(smaCrossover, PARAMS));
    show(run, [104, 103, 102, 101, 100]);
    expect(swaps(run)).toEqual([]);
  });

  it('does nothing on a constant price, despite rounding errors', () => {
    const run = filled(configured(smaCrossover, { ...PARAMS, fast: 20, slow: 100 }));
    show(run, Array.from({ length: 300 }, () => 0.1));
    expect(swaps(run)).toEqual([]);
  });

  it('refuses invalid parameters', () => {
    expect(schemaErrors(smaCrossover, PARAMS)).toEqual([]);
    expect(schemaErrors(smaCrossover, { ...PARAMS, fast: 4 })).toEqual(['fast: expected less than slow']);
    expect(schemaErrors(smaCrossover, { ...PARAMS, size: '1 SOL' }))
      .toEqual(['size: expected an amount of the pair’s quote token']);
  });
});
