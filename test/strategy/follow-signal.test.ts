import { map } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { HoldSignal, Token } from '../../src/strategy/index.ts';
import { amount, defineStrategy, followSignal, signals, token } from '../../src/strategy/index.ts';
import type { StrategyRun, TestOptions } from '../../src/testing/index.ts';
import { testStrategy } from '../../src/testing/index.ts';

/** Follows what another program says: the alias of a token, "cash" or "same". */
const follower = defineStrategy({
  name: 'follower', summary: 'Holds what it is told.',
  params: z.strictObject({
    size: amount(), one: token(), other: token(), initially: z.enum(['unknown', 'cash']).default('cash'),
  }),
  inputs: () => ({ told: signals('hold') }),
  run: ({ told }, p, ctx) => told.pipe(
    map(({ body }): HoldSignal => {
      const named: Token | undefined = [p.one, p.other].find(({ symbol }) => symbol === body);
      return { hold: named ?? (body === 'cash' ? 'cash' : 'same'), reason: `told ${JSON.stringify(body)}` };
    }),
    followSignal(ctx, { key: 'told', tokens: [p.one, p.other], size: p.size, initially: p.initially }),
  ),
});

const OPTIONS: TestOptions = {
  params: { size: '100 USDC', one: 'SOL', other: 'FISH' }, tokens: { FISH: 6 },
  prices: { 'SOL/USDC': 100, 'FISH/USDC': 2 },
};
const told = (bodies: readonly string[], options: TestOptions = {}): StrategyRun =>
  testStrategy(follower, { ...OPTIONS, ...options }).series('10s', { told: bodies });
const swaps = (run: StrategyRun): string[] => run.approved.map(({ at, amount: spent, to }) => `${at} ${spent} ${to}`);

describe('a followed signal', () => {
  it('buys once at a turn to a token, and sells all at a turn to cash', () => {
    const run = told(['SOL', 'SOL', 'same', 'cash', 'cash', 'same', 'SOL']);
    expect(swaps(run)).toEqual(['0s 100 USDC SOL', '30s 1 SOL USDC', '1m 100 USDC SOL']);
    expect(run.approved.map(({ key, reason }) => [key, reason]))
      .toEqual([['told/1', 'told "SOL"'], [undefined, 'told "cash"'], ['told/2', 'told "SOL"']]);
  });

  it('takes the first signal for where it stands, unless it begins with cash', () => {
    const unknown = { params: { ...OPTIONS.params, initially: 'unknown' } };
    expect(swaps(told(['same', 'SOL', 'SOL'], unknown))).toEqual([]);
    expect(swaps(told(['SOL', 'cash', 'SOL'], unknown))).toEqual(['20s 100 USDC SOL']);
  });

  it('buys for what is left where less is available than its size', () => {
    expect(swaps(told(['SOL'], { budget: '40 USDC' }))).toEqual(['0s 40 USDC SOL']);
  });

  it('leaves a purchase out that came to nothing, until the next turn', () => {
    const run = told(['SOL', 'SOL', 'same'], { swaps: ['expire', 'fill'] });
    expect(swaps(run)).toEqual(['0s 100 USDC SOL']);
    expect(swaps(run.series('10s', { told: ['cash', 'SOL'] }))).toEqual(['0s 100 USDC SOL', '40s 100 USDC SOL']);
  });

  it('waits for a refusal of a purchase that passes', () => {
    // The sale ten seconds after the first purchase counts among the swaps of a minute, and is not refused for them.
    const run = told(['FISH', 'cash'], { risk: { max_swaps: { per_minute: 1, per_hour: 9, per_day: 9 } } });
    run.advance('50s').emit('told', 'SOL').advance('1m');
    expect(swaps(run)).toEqual(['0s 100 USDC FISH', '10s 50 FISH USDC', '1m10s 100 USDC SOL']);
  });

  it('repeats a sale until nothing is left, over a restart too', () => {
    const run = told(['SOL', 'cash'], { swaps: ['fill', 'fail', 'abandon', 'expire', 'fill'] });
    expect(swaps(run.advance('6s'))).toEqual(['0s 100 USDC SOL', '10s 1 SOL USDC', '15s 1 SOL USDC']);
    expect(swaps(run.restart().advance('1m')).slice(3)).toEqual(['22s 1 SOL USDC', '27s 1 SOL USDC']);
    expect(run.portfolio()).toEqual(['1000 USDC']);
  });

  it('repeats a refused sale', () => {
    const run = told(['SOL']).trading('halted').advance('10s').emit('told', 'cash').advance('12s');
    expect(run.denials.map(({ at, from }) => `${at} ${from}`)).toEqual(['10s SOL', '15s SOL', '20s SOL']);
    expect(swaps(run.trading('active').advance('10s'))).toEqual(['0s 100 USDC SOL', '25s 1 SOL USDC']);
  });

  it('sells what a purchase brings after the signal has turned back', () => {
    const run = told(['SOL', 'cash'], { swaps: [{ end: 'fill', after: '20s' }, 'fill'] }).advance('1m');
    expect(swaps(run)).toEqual(['0s 100 USDC SOL', '25s 1 SOL USDC']);
  });

  it('swaps one token directly for another', () => {
    const run = told(['SOL', 'FISH', 'cash'], { prices: { ...OPTIONS.prices, 'SOL/FISH': 50 } });
    expect(swaps(run)).toEqual(['0s 100 USDC SOL', '10s 1 SOL FISH', '20s 50 FISH USDC']);
  });

  it('knows after a restart where the signal stood', () => {
    const run = told(['SOL']).restart().series('10s', { told: ['SOL', 'same', 'cash'] });
    expect(swaps(run)).toEqual(['0s 100 USDC SOL', '31s 1 SOL USDC']);
  });
});
