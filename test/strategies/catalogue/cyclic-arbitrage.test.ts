import { describe, expect, it } from 'vitest';
import type { TestOptions } from '../../../src/testing/index.ts';
import { paramErrors, testStrategy } from '../../../src/testing/index.ts';
import cyclicArbitrage from '../../../strategies/cyclic-arbitrage.ts';

const TOKENS = { tokens: { FISH: 6 } };
const PARAMS = {
  legs: ['100 USDC', '1.1 SOL', '60 FISH'], confirm: 1, network_fee: '0.05 USDC', leg_cost_bps: 5, act: 'trade',
};
const runOf = (params: object, options: TestOptions = {}) =>
  testStrategy(cyclicArbitrage, { params: { ...PARAMS, act: 'alert', ...params }, ...TOKENS, ...options });

/** USDC for one SOL, SOL for one FISH, USDC for one FISH: 100 USDC bring 1 SOL, 50 FISH and 100.5 USDC. */
const PROFIT = [100, 0.02, 2.01];
const EVEN = [100, 0.02, 2];

/** The alerts of a round whose last quote comes after so many seconds. */
const late = (seconds: number) => runOf({}).feeds({
  'SOL/USDC': ['0s 100'], 'FISH/SOL': ['1s 0.02'], 'FISH/USDC': [`${seconds}s 2.01`],
}).alerts;

/** The alerts of a round whose first quote is of slot 400 and whose last is of another. */
const apart = (slot: bigint) => runOf({}).emit('round', [
  { price: 100, contextSlot: 400n }, 0.02, { price: 2.01, contextSlot: slot },
]).alerts;

const traded = (swaps: TestOptions['swaps']) => runOf({ act: 'trade' }, { swaps }).emit('round', PROFIT);

const errors = (change: object): string[] => paramErrors(cyclicArbitrage, { ...PARAMS, ...change }, TOKENS);

describe('a cycle of swaps', () => {
  it('alerts where the product of its executable rates exceeds the costs', () => {
    // 50 basis points, less 15 for three network fees of 0.05 in 100 USDC, less 5 for each leg.
    expect(runOf({ min_profit_bps: 20 }).emit('round', PROFIT).lines())
      .toEqual(['0s info "USDC, SOL, FISH and back brings 20.0 basis points after costs"']);
    expect(runOf({ min_profit_bps: 20.1 }).emit('round', PROFIT).lines()).toEqual([]);
    expect(runOf({ min_profit_bps: 30, leg_cost_bps: 1 }).emit('round', PROFIT).lines()).toHaveLength(1);
    expect(runOf({ min_profit_bps: 34, network_fee: undefined }).emit('round', PROFIT).lines()).toHaveLength(1);
  });

  it('waits for as many rounds in a row as are to agree', () => {
    const run = runOf({ confirm: 3 }).series('5s', { round: [PROFIT, PROFIT, EVEN, PROFIT, PROFIT, PROFIT, PROFIT] });
    expect(run.alerts.map(({ at }) => at)).toEqual(['25s']);
  });

  it('alerts again after the profit was gone, not while it varies, and not after a restart', () => {
    const less = [100, 0.02, 2.008]; // 10 basis points after costs
    const gone = [100, 0.02, 2.006]; // none
    const run = runOf({}).series('5s', { round: [PROFIT, less, PROFIT] }).restart().series('5s', { round: [PROFIT] });
    expect(run.alerts.map(({ at }) => at)).toEqual(['0s']);
    run.series('5s', { round: [gone, PROFIT] });
    expect(run.alerts.map(({ at }) => at)).toEqual(['0s', '26s']);
    expect(runOf({ rearm_bps: 10 }).series('5s', { round: [PROFIT, less, PROFIT] }).alerts).toHaveLength(2);
  });

  it('ignores a round whose quotes lie too far apart in time', () => {
    expect(late(2)).toHaveLength(1);
    expect(late(3)).toEqual([]);
  });

  it('ignores a round whose quotes are of slots too far apart', () => {
    expect(apart(405n)).toHaveLength(1);
    expect(apart(395n)).toHaveLength(1);
    expect(apart(406n)).toEqual([]);
    expect(apart(394n)).toEqual([]);
  });

  it('ignores a round in which a leg brings more than was quoted for the next one', () => {
    // 100 USDC bring 1.11 SOL, of which only 1.1 were quoted.
    expect(runOf({}).emit('round', [90, 0.02, 2.01]).lines()).toEqual([]);
    expect(runOf({ legs: ['100 USDC', '1.12 SOL', '60 FISH'] }).emit('round', [90, 0.02, 2.01]).alerts).toHaveLength(1);
  });

  it('never swaps unless it is asked to', () => {
    const run = runOf({}).series('5s', { round: [PROFIT, EVEN, PROFIT, EVEN, PROFIT] });
    expect(run.alerts).toHaveLength(3);
    expect([...run.approved, ...run.denials]).toEqual([]);
  });
});

describe('a cycle that is traded', () => {
  it('swaps one leg after the other, each all of what the one before brought', () => {
    const run = traded('fill').advance('1m');
    expect(run.lines('outcome')).toEqual([
      '0s filled 100 USDC -> 1 SOL key=cycle/1', '0s filled 1 SOL -> 50 FISH', '0s filled 50 FISH -> 100.5 USDC',
    ]);
    expect(run.portfolio()).toEqual(['1000.5 USDC']);
  });

  it('goes on with a leg that failed until it has landed, over a restart too', () => {
    const run = traded(['fill', 'fail', 'expire', { end: 'fill', after: '10s' }, 'fill'])
      .advance('6s').restart().advance('1m');
    expect(run.lines('outcome').map((line) => line.replace(/^\S+ /, ''))).toEqual([
      'filled 100 USDC -> 1 SOL key=cycle/1', 'failed 1 SOL -> FISH (6001)', 'expired 1 SOL -> FISH (EXPIRED)',
      'filled 1 SOL -> 50 FISH', 'filled 50 FISH -> 100.5 USDC',
    ]);
  });

  it('begins no cycle while one is under way, and one after it whose first leg came to nothing', () => {
    const run = traded(['fail', { end: 'fill', after: '12s' }, 'fill']);
    expect(run.portfolio()).toEqual(['1000 USDC']);
    run.series('5s', { round: [EVEN, PROFIT, EVEN, PROFIT] }).advance('1m');
    expect(run.alerts).toHaveLength(3);
    expect(run.approved.filter(({ from }) => from === 'USDC').map(({ at }) => at)).toEqual(['0s', '10s']);
    expect(run.portfolio()).toEqual(['1000.5 USDC']);
  });
});

describe('the parameters of a cycle', () => {
  it('are checked', () => {
    expect(errors({})).toEqual([]);
    expect(errors({ legs: ['1 SOL', '100 USDC', '2 SOL'] })).toEqual([
      'legs: expected a different token in each leg', 'network_fee: expected an amount of the first token',
    ]);
    expect(errors({ network_fee: '1 SOL' })).toEqual(['network_fee: expected an amount of the first token']);
    expect(errors({ min_profit_bps: 0, rearm_bps: -1 })).toEqual(['min_profit_bps: expected more than 0 to trade']);
    expect(errors({ min_profit_bps: 0, rearm_bps: -1, act: 'alert' })).toEqual([]);
    expect(errors({ rearm_bps: 20 })).toEqual(['rearm_bps: expected less than min_profit_bps']);
    for (const change of [{ legs: ['100 USDC'] }, { confirm: 0 }, { act: 'both' }])
      expect(errors(change)).toHaveLength(1);
  });
});
