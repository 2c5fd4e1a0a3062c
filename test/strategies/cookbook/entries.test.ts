import { describe, expect, it } from 'vitest';
import chartingAlert from '../../../docs/strategies/recipes/entries/charting-alert.ts';
import confirmations from '../../../docs/strategies/recipes/entries/confirmations.ts';
import coveredCosts from '../../../docs/strategies/recipes/entries/covered-costs.ts';
import deepMarket from '../../../docs/strategies/recipes/entries/deep-market.ts';
import fiveMinuteBars from '../../../docs/strategies/recipes/entries/five-minute-bars.ts';
import gapBars from '../../../docs/strategies/recipes/entries/gap-bars.ts';
import oneExchange from '../../../docs/strategies/recipes/entries/one-exchange.ts';
import smallSpread from '../../../docs/strategies/recipes/entries/small-spread.ts';
import tradingHours from '../../../docs/strategies/recipes/entries/trading-hours.ts';
import twoInputs from '../../../docs/strategies/recipes/entries/two-inputs.ts';
import twoLevels from '../../../docs/strategies/recipes/entries/two-levels.ts';
import { testStrategy } from '../../../src/testing/index.ts';

const BUY = { pair: 'SOL/USDC', size: '25 USDC' };

describe('the recipes of entries', () => {
  it('small-spread buys at the first small spread, and not again', () => {
    const run = testStrategy(smallSpread, { params: { pair: 'SOL/USDC', spend: '25 USDC', sale: '0.25 SOL' } });
    run.series('10s', { sides: [{ buy: 101, sell: 99 }, { buy: 100.05, sell: 99.95 }, { buy: 100, sell: 100 }] });
    expect(run.lines('swap')).toEqual(['10s buy 25 USDC -> SOL "a round trip costs 0.10 %" key=entry/1']);
  });

  it('confirmations begins again at a price that does not agree', () => {
    const run = testStrategy(confirmations, { params: { ...BUY, below: 100, confirmations: 3 } });
    run.series('5s', { price: [99, 99, 101, 99, 98, 97, 96] });
    expect(run.lines('swap')).toEqual(['25s buy 25 USDC -> SOL "3 prices in a row are below 100" key=entry/1']);
  });

  it('five-minute-bars decides at the end of a bar alone', () => {
    const run = testStrategy(fiveMinuteBars, { params: { ...BUY, bars: 1 } });
    const minutes = [100, 100, 100, 100, 100, 100, 90, 90, 99, 99, 99, 96, 96, 96, 96, 96];
    run.series('1m', { bar: minutes });
    expect(run.lines('swap')).toEqual(['15m buy 25 USDC -> SOL "-3.0 % in 1 bars"']);
  });

  it('gap-bars waits until all bars of a decision have prices', () => {
    const buys = [
      [100, 100, 101, 102, 103, 104, 105], [100, 100, 101, undefined, undefined, 104, 105, 106, 107, 108, 109],
      [100, 100, 101, 102, 99, 104, 105],
    ].map((bar) => testStrategy(gapBars, { params: BUY }).series('30s', { bar }).lines('swap'));
    expect(buys).toEqual([['3m buy 25 USDC -> SOL "3 bars rose"'], ['5m buy 25 USDC -> SOL "3 bars rose"'], []]);
  });

  it('two-inputs asks for statistics that are there and fresh', () => {
    const run = testStrategy(twoInputs, { params: { ...BUY, below: 100 } });
    run.feeds({
      stats: [['10s', { '5m.buyVolume': 2, '5m.sellVolume': 1 }], ['4m', { '5m.buyVolume': 2 }],
        ['5m', { '5m.buyVolume': 2, '5m.sellVolume': 1 }]],
      price: ['5s 99', '3m 98', '4m10s 97', '5m10s 96'],
    });
    expect(run.lines('swap')).toEqual(['5m10s buy 25 USDC -> SOL "96.00, and more is bought than sold" key=entry/1']);
  });

  it('charting-alert trades by each alert once, and tells of one that is no order', () => {
    const run = testStrategy(chartingAlert, { params: BUY, prices: { 'SOL/USDC': 100 } });
    run.feed('chart', ['1s', { id: 'a', side: 'buy' }], ['2s', { id: 'a', side: 'buy' }], '3s hello',
      ['4s', { id: 'b', side: 'sell' }]);
    expect(run.lines('swap', 'denial', 'alert')).toEqual([
      '1s buy 25 USDC -> SOL "alert a" key=chart-a',
      '2s denied buy 25 USDC -> SOL "alert a" key=chart-a: KEY_REPEATED',
      '3s warning "an alert is no order: Invalid input: expected object, received string"',
      '4s sell 0.25 SOL -> USDC "alert b" key=chart-b',
    ]);
  });

  it('deep-market buys a tenth where the whole costs nearly the same', () => {
    const run = testStrategy(deepMarket, { params: { pair: 'SOL/USDC', depth: '500 USDC' } });
    run.series('10s', { sizes: [[100, 101], [100, 100.05]] });
    expect(run.lines('swap')).toEqual([
      '10s buy 50 USDC -> SOL "ten times the size costs nearly the same" key=entry/1',
    ]);
  });

  it('one-exchange refuses a route of two, a loss of value, and a quote that says neither', () => {
    const run = testStrategy(oneExchange, { params: BUY });
    const leg = { exchange: 'pool' };
    run.series('10s', { price: [
      100, { price: 100, route: [leg, leg], inUsdValue: 25, outUsdValue: 25 },
      { price: 100, route: [leg], inUsdValue: 25, outUsdValue: 24 },
      { price: 100, route: [leg], inUsdValue: 25, outUsdValue: 24.99 },
    ] });
    expect(run.lines('swap')).toEqual([
      '30s buy 25 USDC -> SOL "one exchange fills it at nearly its value" key=entry/1',
    ]);
  });

  it('two-levels trades once for many crossings of one level', () => {
    const run = testStrategy(twoLevels, { params: { ...BUY, low: 100, high: 110 } });
    run.series('5s', { price: [115, 99, 101, 99, 109, 100, 111, 109, 112] });
    expect(run.lines('swap')).toEqual([
      '5s buy 25 USDC -> SOL "down to 100"', '30s sell 0.252525252 SOL -> USDC "up to 110"',
    ]);
  });

  it('covered-costs trades only where the gain pays for the round trip', () => {
    const params = { ...BUY, window: 4, network: '0.01 USDC' };
    const prices = [{ price: 100 }, { price: 100 }, { price: 100 }, { price: 99 }];
    const buys = (rest: object): string[] => testStrategy(coveredCosts, { params })
      .series('5s', { price: prices.map((one) => ({ ...one, ...rest })) }).lines('swap');
    expect(buys({ feeBps: 10 })).toEqual(['15s buy 25 USDC -> SOL "the mean of 99.75 covers the costs"']);
    expect(buys({ feeBps: 40 })).toEqual([]);
    expect(buys({ feeBps: 10, priceImpact: -0.003 })).toEqual([]);
    expect(buys({ feeBps: 10, priceImpact: undefined })).toEqual([]);
  });

  it('trading-hours buys within its hours and sells at any', () => {
    const run = testStrategy(tradingHours, { params: { ...BUY, below: 100, above: 110 } });
    run.feed('price', '12h59m 99', '13h 99', '19h 105', '22h 111', '23h 99');
    expect(run.lines('swap')).toEqual(['13h buy 25 USDC -> SOL "below"', '22h sell 0.252525252 SOL -> USDC "above"']);
  });
});
