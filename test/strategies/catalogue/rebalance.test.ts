import { describe, expect, it } from 'vitest';
import rebalance from '../../../strategies/rebalance.ts';
import { paramErrors, testStrategy } from '../../../src/testing/index.ts';

const PARAMS = {
  cash: 'USDC', minimum: '5 USDC', every: '10s', min_interval: '1m', band: 0.05,
  targets: [{ token: 'SOL', size: '1 SOL', weight: 0.4 }, { token: 'FISH', size: '1 FISH', weight: 0.3 }],
};
const FIRST = ['0s 400 USDC -> SOL', '0s 300 USDC -> FISH'];
const started = (params: object = PARAMS): ReturnType<typeof testStrategy> => testStrategy(rebalance, {
  params: { ...params }, tokens: { FISH: 6 }, prices: { 'SOL/USDC': 100, 'FISH/USDC': 2 },
});
const swaps = (run: ReturnType<typeof testStrategy>): string[] =>
  run.approved.map(({ at, amount, to }) => `${at} ${amount} -> ${to}`);

describe('rebalance', () => {
  it('buys its weights one after the other, then sells what has grown before it buys what lacks', () => {
    const run = started();
    run.feeds({ SOL: ['0s 100', '70s 160', '80s 160'], FISH: ['0s 2', '70s 2', '80s 2'] });
    // 4 SOL at 160 are 640 of 1,240 USDC; 496 of it are to stay. FISH has 300 of 372 then.
    expect(swaps(run)).toEqual([...FIRST, '1m10s 0.9 SOL -> USDC', '1m10s 72 USDC -> FISH']);
  });

  it('waits at least its interval between two rebalancings, over a kill too', () => {
    const run = started();
    run.feeds({ SOL: ['0s 100', '10s 100'], FISH: ['0s 2', '10s 2'] }).restart({ after: '5s' });
    run.feeds({ FISH: ['20s 2', '40s 2', '61s 2'], SOL: ['20s 200', '40s 200', '61s 200'] });
    // 4 SOL at 200 are 800 of 1,400 USDC; 560 of it are to stay.
    expect(swaps(run)).toEqual([...FIRST, '1m1s 1.2 SOL -> USDC', '1m1s 120 USDC -> FISH']);
  });

  it('does nothing within the band', () => {
    const run = started();
    run.feeds({ SOL: ['0s 100', '70s 112', '80s 90'], FISH: ['0s 2', '70s 2', '80s 2'] });
    expect(swaps(run)).toEqual(FIRST);
  });

  it('has a band relative to the weight, and trades back to its edge where that is configured', () => {
    const run = started({ ...PARAMS, relative_band: 0.05, to: 'edge' });
    run.feeds({ SOL: ['0s 100', '70s 110', '80s 110'], FISH: ['0s 2', '70s 2', '80s 2'] });
    // At the start to the lower edges of 2 and 1.5 points: 380 and 285 USDC.
    expect(swaps(run).slice(0, 2)).toEqual(['0s 380 USDC -> SOL', '0s 285 USDC -> FISH']);
  });

  it('refuses bad parameters', () => {
    const options = { tokens: { FISH: 6 } };
    const [sol] = PARAMS.targets;
    expect(paramErrors(rebalance, PARAMS, options)).toEqual([]);
    const heavy = [{ ...sol, weight: 0.6 }, { ...sol, weight: 0.6 }];
    expect(paramErrors(rebalance, { ...PARAMS, targets: heavy }, options)[0])
      .toMatch(/^targets: expected weights that are together at most 1/);
    expect(paramErrors(rebalance, { ...PARAMS, targets: [{ ...sol, size: '1 FISH' }] }, options)[0])
      .toMatch(/^targets: expected each size in its own token/);
    expect(paramErrors(rebalance, { ...PARAMS, minimum: '1 SOL' }, options)[0]).toMatch(/^minimum: /);
    expect(paramErrors(rebalance, { ...PARAMS, targets: [] }, options)[0]).toMatch(/^targets: /);
  });
});
