import { describe, expect, it } from 'vitest';
import coveredCosts from '../../../docs/strategies/recipes/entries/covered-costs.ts';
import fiveMinuteBars from '../../../docs/strategies/recipes/entries/five-minute-bars.ts';
import gapBars from '../../../docs/strategies/recipes/entries/gap-bars.ts';
import tradingHours from '../../../docs/strategies/recipes/entries/trading-hours.ts';
import rangeStop from '../../../docs/strategies/recipes/exits/range-stop.ts';
import timeLimit from '../../../docs/strategies/recipes/exits/time-limit.ts';
import pauseBySignal from '../../../docs/strategies/recipes/operations/pause-by-signal.ts';
import refusals from '../../../docs/strategies/recipes/operations/refusals.ts';
import stopAfterLosses from '../../../docs/strategies/recipes/operations/stop-after-losses.ts';
import warmUp from '../../../docs/strategies/recipes/operations/warm-up.ts';
import failedAgain from '../../../docs/strategies/recipes/orders/failed-again.ts';
import rareOrders from '../../../docs/strategies/recipes/orders/rare-orders.ts';
import dailySpending from '../../../docs/strategies/recipes/sizes/daily-spending.ts';
import volatilitySize from '../../../docs/strategies/recipes/sizes/volatility-size.ts';
import type { Strategy } from '../../../src/strategy/define.ts';
import { testStrategy } from '../../../src/testing/index.ts';

const BUY = { pair: 'SOL/USDC', size: '25 USDC' };

/** Prices at 1-minute intervals that fall by a twentieth in all, and rise to more than the first. */
const FALLING = Array.from({ length: 70 }, (_, minute) => 100 - minute / 14);
const RISING = Array.from({ length: 10 }, (_, minute) => 100 + minute);

/** Recipes that hold at most one position, with prices that ask for a purchase again and again. */
const SINGLE: readonly (readonly [Strategy, object, readonly number[]])[] = [
  [coveredCosts, { ...BUY, window: 4, network: '0.001 USDC' }, FALLING.map((price, i) => price - i)],
  [fiveMinuteBars, { ...BUY, fall: 0.001 }, FALLING], [gapBars, BUY, RISING],
  [tradingHours, { ...BUY, below: 101, above: 120, from: 0 }, FALLING],
  [rangeStop, { ...BUY, bars: 2, ranges: 90 }, FALLING],
  [pauseBySignal, { ...BUY, below: 101, above: 120 }, FALLING],
  [stopAfterLosses, { ...BUY, below: 101 }, FALLING.slice(0, 60)],
  [warmUp, { ...BUY, share: 0.99 }, FALLING], [failedAgain, BUY, FALLING],
  [volatilitySize, { pair: 'SOL/USDC', quoted: '25 USDC', target: 0.0005, bars: 1, minimum: '1 USDC' }, FALLING],
];
/** Recipes that buy again, once a purchase is over. */
const REPEATED: readonly (readonly [Strategy, object, readonly number[]])[] = [
  [dailySpending, { ...BUY, per_day: '500 USDC', below: 101 }, FALLING],
  [rareOrders, { ...BUY, below: 101, pause: '1m' }, FALLING], [refusals, { ...BUY, below: 101 }, FALLING],
];

const named = (rows: typeof SINGLE) => rows.map(([strategy, params, prices]) =>
  ({ name: strategy.name, strategy, params, prices }));

describe('a recipe', () => {
  it.each(named([...SINGLE, ...REPEATED]))('$name proposes nothing while its swap is under way', (row) => {
    const { strategy, params, prices } = row;
    const run = testStrategy(strategy, { params: { ...params }, swaps: 'pending' });
    run.series('1m', { 'SOL/USDC': prices });
    expect(run.lines().map((line) => line.split(' ')[1])).toEqual(['buy']);
  });

  it.each(named(SINGLE))('$name buys nothing more while it holds a position', ({ strategy, params, prices }) => {
    const run = testStrategy(strategy, { params: { ...params } }).series('1m', { 'SOL/USDC': prices });
    expect(run.lines('swap', 'denial').map((line) => line.split(' ')[1])).toEqual(['buy']);
  });

  it('time-limit proposes one sale while it is under way', () => {
    const run = testStrategy(timeLimit, { params: { ...BUY, entry: 101, hold: '5m' }, swaps: ['fill', 'pending'] });
    run.series('1m', { price: FALLING });
    expect(run.lines('swap', 'denial').map((line) => line.split(' ')[1])).toEqual(['buy', 'sell']);
  });
});
