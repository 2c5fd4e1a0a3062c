import { describe, expect, it } from 'vitest';
import failedAgain from '../../../docs/strategies/recipes/orders/failed-again.ts';
import missedRuns from '../../../docs/strategies/recipes/orders/missed-runs.ts';
import rareOrders from '../../../docs/strategies/recipes/orders/rare-orders.ts';
import spreadTimes from '../../../docs/strategies/recipes/orders/spread-times.ts';
import toldApart from '../../../docs/strategies/recipes/orders/told-apart.ts';
import waitingOrder from '../../../docs/strategies/recipes/orders/waiting-order.ts';
import worstPrice from '../../../docs/strategies/recipes/orders/worst-price.ts';
import { testStrategy } from '../../../src/testing/index.ts';

const BUY = { pair: 'SOL/USDC', size: '25 USDC' };
const prices = { 'SOL/USDC': 100 };

describe('the recipes of orders', () => {
  it('waiting-order buys the second token when the first purchase is over', () => {
    const run = testStrategy(waitingOrder, {
      params: { tokens: ['SOL', 'FISH'], size: '25 USDC' }, tokens: { FISH: 6 },
      prices: { 'SOL/USDC': 100, 'FISH/USDC': 5 }, swaps: { end: 'fill', after: '8s' },
    });
    run.emit('go', 'now').advance('1m');
    expect(run.outcomes.map(({ at, received }) => `${at} ${received}`)).toEqual(['8s 0.25 SOL', '18s 5 FISH']);
    expect(run.denials.filter(({ at }) => at !== '0s')).toEqual([]);
  });

  it('failed-again gives up after its attempts, which a restart does not begin again', () => {
    const run = testStrategy(failedAgain, { params: BUY, swaps: 'fail' });
    run.series('10s', { price: [100, 100, 100, 100] }).restart().series('10s', { price: [100, 100, 100, 100, 100] });
    expect(run.lines('swap', 'alert')).toEqual([
      '0s buy 25 USDC -> SOL "attempt 1" key=attempt-1', '30s buy 25 USDC -> SOL "attempt 2" key=attempt-2',
      '41s buy 25 USDC -> SOL "attempt 3" key=attempt-3', '41s critical "gave up: 6001"',
    ]);
  });

  it('failed-again waits for the end of a swap that is unknown', () => {
    const run = testStrategy(failedAgain, { params: BUY, swaps: ['unknown', 'fill'] });
    run.series('1m', { price: [100, 100] });
    expect(run.lines('swap', 'denial')).toHaveLength(1);
    run.settle('expire').series('1m', { price: [100, 100] });
    expect(run.approved.map(({ key }) => key)).toEqual(['attempt-1', 'attempt-2']);
  });

  it('worst-price fails where the price has left, and is tried again', () => {
    const run = testStrategy(worstPrice, { params: { ...BUY, below: 100 }, swaps: { end: 'fill', after: '2s' } });
    run.feed('price', '0s 99', '1s 99.5', '10s 99.5', '11s 99.6');
    run.advance('10s');
    expect(run.outcomes.map(({ at, state }) => `${at} ${state}`)).toEqual(['2s failed', '12s confirmed']);
    expect(run.approved[0]!.proposal).toMatchObject({ limit: 252_020_202n, slippageBps: 20 });
  });

  it('told-apart fills levels that are due at once one after the other, and names each', () => {
    const params = { ...BUY, levels: [99, 98, 90] };
    const run = testStrategy(toldApart, { params, swaps: { end: 'fill', after: '2s' } });
    run.feed('price', '0s 100', '5s 97').advance('1m');
    expect(run.lines('alert')).toEqual(['7s info "the order at 99 is filled"', '12s info "the order at 98 is filled"']);
  });

  it('rare-orders pauses after a purchase, not after any price', () => {
    const run = testStrategy(rareOrders, { params: { ...BUY, below: 100 } });
    run.series('20m', { price: [101, 99, 101, 99, 99, 101, 99] });
    expect(run.approved.map(({ at }) => at)).toEqual(['20m', '1h20m']);
    expect(run.denials).toEqual([]);
  });

  it('missed-runs makes one purchase for all noons that it missed', () => {
    const run = testStrategy(missedRuns, { params: BUY, prices });
    run.advanceTo('13h').restart({ after: '60h' }).advance('1h');
    expect(run.approved.map(({ at }) => at)).toEqual(['12h', '3d1h']);
  });

  it('spread-times buys once in each interval at a time of its own, over a restart too', () => {
    const run = testStrategy(spreadTimes, { params: BUY, prices });
    run.advanceTo('3h').restart({ after: '1s' }).advanceTo('4h');
    const times = run.approved.map(({ at }) => at);
    expect(times).toHaveLength(4);
    expect(new Set(times.map((at) => at.replace(/^\d+h/, ''))).size).toBe(4);
    expect(testStrategy(spreadTimes, { params: BUY, prices }).advanceTo('3h').approved.map(({ at }) => at))
      .toEqual(times.slice(0, 3));
  });
});
