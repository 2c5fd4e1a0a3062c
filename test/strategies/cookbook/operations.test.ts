import { describe, expect, it } from 'vitest';
import changedState from '../../../docs/strategies/recipes/operations/changed-state.ts';
import counter from '../../../docs/strategies/recipes/operations/counter.ts';
import keptIndicator from '../../../docs/strategies/recipes/operations/kept-indicator.ts';
import logAndAlert from '../../../docs/strategies/recipes/operations/log-and-alert.ts';
import pauseBySignal from '../../../docs/strategies/recipes/operations/pause-by-signal.ts';
import refusals from '../../../docs/strategies/recipes/operations/refusals.ts';
import stopAfterLosses from '../../../docs/strategies/recipes/operations/stop-after-losses.ts';
import warmUp from '../../../docs/strategies/recipes/operations/warm-up.ts';
import { testStrategy } from '../../../src/testing/index.ts';

const BUY = { pair: 'SOL/USDC', size: '25 USDC' };

/** The lines of the prices in the bar of a minute. */
function sixPrices(close: number, minute: number): string[] {
  return [10, 20, 30, 40, 50, 60].map((second) => `${minute * 60 + second}s ${close}`);
}

describe('the recipes of operations', () => {
  it('counter counts a purchase that landed while the bot was down', () => {
    const params = { ...BUY, below: 100, most: 2 };
    const run = testStrategy(counter, { params, swaps: { end: 'fill', after: '30s' } });
    run.series('1m', { price: [99] }).advance('10s').restart({ after: '1m', isKilled: true });
    run.series('1m', { price: [99, 99, 99] });
    expect(run.approved.map(({ reason }) => reason)).toEqual(['purchase 1 of 2', 'purchase 2 of 2']);
    expect(run.savedState()).toEqual({ bought: 2 });
  });

  it('stop-after-losses buys no more after losses in a row, and a gain begins again', () => {
    const run = testStrategy(stopAfterLosses, { params: { ...BUY, below: 100, most: 2 } });
    run.series('10s', { price: [99, 93, 99, 105, 99, 93] }).restart().series('10s', { price: [99, 93, 99] });
    expect(run.lines('swap', 'alert').map((line) => line.replace(/ [\d.]+ (?:SOL|USDC) -> \w+/, ''))).toEqual([
      '0s buy "cheap"', '10s sell "a gain of -0.06"', '20s buy "cheap"', '30s sell "a gain of 0.06"',
      '40s buy "cheap"', '50s sell "a gain of -0.06"', '1m1s buy "cheap"', '1m11s sell "a gain of -0.06"',
      '1m11s warning "buys no more"',
    ]);
  });

  it('warm-up knows its mean at the first price after a restart', () => {
    const prices = Array.from({ length: 60 }, () => 100);
    const buys = (warmup: string | undefined): number =>
      testStrategy(warmUp, { params: BUY, warmup }).series('1m', { price: prices }).restart({ after: '1m' })
        .series('1m', { price: [90] }).approved.length;
    expect(buys('1h')).toBe(1);
    expect(buys(undefined)).toBe(0);
  });

  it('kept-indicator decides over a restart as without one', () => {
    const prices = [100, 100, 100, 110, 90, 120].flatMap(sixPrices);
    const run = testStrategy(keptIndicator, { params: { ...BUY, bars: 3 } }).feed('bar', ...prices.slice(0, 24));
    run.restart().feed('bar', ...prices.slice(24));
    expect(run.lines()).toEqual(['3m below', '4m above', '5m below', '6m above'].map((line) =>
      line.replace(' ', ' info "the close is ') + ' its average"'));
    expect(testStrategy(keptIndicator, { params: { ...BUY, bars: 3 } }).feed('bar', ...prices).lines())
      .toEqual(run.lines());
  });

  it('changed-state reads the state of its first version, and refuses another', () => {
    const run = testStrategy(changedState, { savedState: { seen: 41 } }).feed('ping', '5s now').restart();
    run.feed('ping', '10s now');
    expect(run.lines()).toEqual(['5s info "signal 42"', '10s info "signal 43"']);
    expect(run.savedState()).toEqual({ seen: { count: 43, last: Date.UTC(2026, 0, 1, 0, 0, 10) } });
    expect(() => testStrategy(changedState, { savedState: { seen: 'many' } })).toThrow('does not fit');
  });

  it('log-and-alert logs each price and alerts at changes', () => {
    const run = testStrategy(logAndAlert, { params: { ...BUY, level: 110, back: 100 } });
    run.series('10s', { price: [99, 105, 111, 105, 112, 99] });
    expect(run.lines()).toEqual(['20s warning "above the level"', '50s info "back below"']);
    expect(run.alerts[0]!.data).toEqual({ pair: 'SOL/USDC', level: 110 });
    expect(run.logs).toHaveLength(6);
    expect(run.logs[0]).toContain('99.00 with a fee of 0 bps');
  });

  it('refusals tells each cause once an hour', () => {
    const run = testStrategy(refusals, { params: { ...BUY, below: 100 }, risk: { max_trade: '10 USDC' } });
    run.series('30m', { price: [99, 101, 99] }).trading('halted').series('30m', { price: [99] });
    expect(run.lines('alert')).toEqual([
      '0s warning "refused: TRADE_EXCEEDS_MAX"', '1h warning "refused: TRADE_EXCEEDS_MAX"',
      '1h30m warning "refused: TRADING_HALTED"',
    ]);
  });

  it('pause-by-signal buys nothing while paused, over a restart too, and sells meanwhile', () => {
    const run = testStrategy(pauseBySignal, { params: { ...BUY, below: 100, above: 110 } });
    run.feeds({ price: ['0s 99', '2s 111', '3s 99'], news: ['1s pause', '4s other'] }).restart();
    run.feeds({ price: ['10s 99', '12s 98'], news: ['11s go'] });
    expect(run.lines('swap').map((line) => line.replace(/ [\d.]+ (?:SOL|USDC) -> \w+/, ''))).toEqual([
      '0s buy "cheap"', '2s sell "dear"', '12s buy "cheap"',
    ]);
  });
});
