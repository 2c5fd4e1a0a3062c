import { map, merge, switchMap, take } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import bookWatch from '../../strategies/book-watch.ts';
import dca from '../../strategies/dca.ts';
import meanReversion from '../../strategies/mean-reversion.ts';
import {
  amount, defineStrategy, pair, predictionEvent, quoteLadder, quotes, signals, tokenRecord, tokenStats, twoSided,
  walletActivity,
} from '../../src/strategy/index.ts';
import { testStrategy } from '../../src/testing/index.ts';

const DIP = { pair: 'SOL/USDC', size: '25 USDC', window: 4, k: 1.4 };

describe('a run of a strategy in a test', () => {
  it('shows prices, fills swaps at the last one, and lists what happened as lines', () => {
    const run = testStrategy(meanReversion, { params: DIP, budget: '500 USDC' });
    run.series('5s', { price: [102, 98, 100, 95, 96, 97, 99] });
    expect(run.lines()).toEqual([
      '15s buy 25 USDC -> SOL "below the lower band: 95.0000 against a mean of 98.7500 (-1.5 deviations)"',
      '15s filled 25 USDC -> 0.263157894 SOL',
      '25s sell 0.263157894 SOL -> USDC "back at the mean: 97.0000 against a mean of 97.0000 (0.0 deviations)"',
      '25s filled 0.263157894 SOL -> 25.526315 USDC',
    ]);
    expect(run.portfolio()).toEqual(['500.526315 USDC']);
    expect(run.equity()).toBe('500.526315 USDC');
  });

  it('lets swaps take time, fail, and stay under way over a restart', () => {
    const run = testStrategy(dca, {
      params: { buy: 'SOL', spend: '25 USDC', every: '10s', purchases: 3 }, prices: { 'SOL/USDC': 100 },
      swaps: [{ end: 'fill', after: '2s' }, 'fail', 'unknown'],
    });
    run.advanceTo('24s').restart({ after: '1s' }).settle().advanceTo('1m');
    expect(run.lines().map((line) => line.replace(/ "purchase due.*UTC, every 10s"| key=.*?(?=:|$)/g, ''))).toEqual([
      '0s buy 25 USDC -> SOL', '2s filled 25 USDC -> 0.25 SOL',
      '10s buy 25 USDC -> SOL', '10s failed 25 USDC -> SOL (6001)',
      '20s buy 25 USDC -> SOL', '20s unknown 25 USDC -> SOL (UNSEEN)',
      '25s denied buy 25 USDC -> SOL: KEY_REPEATED', '25s filled 25 USDC -> 0.25 SOL',
      '30s buy 25 USDC -> SOL', '30s unknown 25 USDC -> SOL (UNSEEN)',
    ]);
    expect(run.denials.map(({ code }) => code)).toEqual(['KEY_REPEATED']);
    expect(run.savedState()).toEqual({ purchases: 2 });
  });

  it('begins with the state that an earlier run saved', () => {
    const params = { buy: 'SOL', spend: '25 USDC', every: '10s', purchases: 3 };
    const run = testStrategy(dca, { params, prices: { 'SOL/USDC': 100 }, savedState: { purchases: 2 } });
    expect(run.advanceTo('1m').approved).toHaveLength(1);
    expect(run.savedState()).toEqual({ purchases: 3 });
  });

  it('names the feeds of the strategy where a test names another', () => {
    expect(() => testStrategy(meanReversion, { params: DIP }).emit('prcie', 100))
      .toThrow('unknown feed "prcie": the strategy mean-reversion has the inputs price; a pair of known tokens');
    expect(() => testStrategy(meanReversion, { params: { ...DIP, window: 1 } }))
      .toThrow('the parameters of mean-reversion:\n  window: ');
  });

  it('ends the test where the strategy throws, with the author’s error as the cause', () => {
    const failing = defineStrategy({
      name: 'failing', summary: 'Throws.', params: z.strictObject({ late: z.boolean() }),
      inputs: () => ({ word: signals('word') }),
      run: ({ word }, { late }) => {
        if (!late) throw new RangeError('at the start');
        return word.pipe(map(() => { throw new RangeError('at an event'); }));
      },
    });
    expect(() => testStrategy(failing, { params: { late: false } }))
      .toThrow(expect.objectContaining({ message: 'the strategy failing was stopped at 0s: at the start' }));
    const run = testStrategy(failing, { params: { late: true } });
    expect(() => run.feed('word', '3s go')).toThrow(expect.objectContaining({
      message: 'the strategy failing was stopped at 3s: at an event', cause: new RangeError('at an event'),
    }));
  });

  it('makes the events of inputs that are assembled, of tokens, of wallets and of watches', () => {
    const watcher = defineStrategy({
      name: 'watcher', summary: 'Says what it sees.',
      params: z.strictObject({ pair: pair(), small: amount(), large: amount() }),
      inputs: (p) => ({
        ladder: quoteLadder(p.pair, { amounts: [p.small, p.large], every: '1s' }),
        sides: twoSided(p.pair, { buy: p.small, sell: { token: p.pair.base, amount: 10n ** 9n }, every: '1s' }),
        record: tokenRecord(p.pair.base, { every: '1s' }), stats: tokenStats(p.pair.base, { every: '1s' }),
        wallet: walletActivity('wallet', { every: '1s' }), event: predictionEvent('E', { every: '1s' }),
      }),
      run: ({ ladder, sides, record, stats, wallet, event }, p, ctx) => merge(
        ladder.pipe(map(({ rungs }) => rungs.map(({ price }) => price.toFixed(2)).join(' '))),
        sides.pipe(map(({ mid, spread }) => `mid ${mid.toFixed(2)} spread ${spread.toFixed(3)}`)),
        record.pipe(map((now) => `${now.record.symbol} $${now.record.values.usdPrice} ${now.record.audit.isSus}`)),
        stats.pipe(map(({ values }) => `$${values.usdPrice} ${values['5m.numBuys']}`)),
        wallet.pipe(map(({ changes }) => changes.map((change) => change.amount).join(' '))),
        event.pipe(map(({ markets, total }) => `${total} ${markets[0]!.marketId}`)),
        record.pipe(take(1), switchMap(() => ctx.watch(quotes(p.pair, { amount: p.small, every: '1s' }))),
          map(({ price }) => `watched ${price.toFixed(0)}`)),
      ).pipe(map((text) => ctx.alert('info', text))),
    });
    const run = testStrategy(watcher, {
      params: { pair: 'FISH/USDC', small: '1 USDC', large: '5 USDC' }, tokens: { FISH: 5 },
    });
    run.feeds({
      ladder: [['1s', [2, 2.5]], '2s 3'], sides: [['3s', { buy: 2.02, sell: 1.98 }]],
      record: [['4s', { values: { usdPrice: 2 }, audit: { isSus: true } }]],
      stats: [['5s', { usdPrice: 2, '5m.numBuys': 7 }]],
      wallet: [['6s', { changes: ['-1.5 FISH', '+3 USDC'] }]], event: [['7s', [{ marketId: 'M' }]]],
      'FISH/USDC': ['8s 4'],
    });
    expect(run.alerts.map(({ at, message }) => `${at} ${message}`)).toEqual([
      '1s 2.00 2.50', '2s 3.00 3.00', '3s mid 2.00 spread 0.020', '4s FISH $2 true', '5s $2 7', '6s -150000 3000000',
      '7s 1 M', '8s watched 4', '8s 4.00 4.00', '8s mid 4.00 spread 0.000',
    ]);
    expect(() => run.emit('sides', { buy: 0 })).toThrow('sides at 8s: expected a price above 0, got 0');
  });

  it('refuses swaps by order of an operator, and by the limits of the configuration', () => {
    const run = testStrategy(meanReversion, { params: DIP }).trading('halted');
    run.series('5s', { price: [102, 98, 100, 95] });
    expect(run.denials).toMatchObject([{ at: '15s', amount: '25 USDC', code: 'TRADING_HALTED' }]);
    expect(() => testStrategy(meanReversion, { params: DIP, risk: { max_trade: '10 WETH' } }))
      .toThrow('risk.max_trade: expected one of SOL, USDC, got "WETH"');
    expect(() => testStrategy(meanReversion, { params: DIP, risk: { max_open_intents: 0 } }))
      .toThrow('risk.max_open_intents: ');
  });

  it('sells by the exit rules of the configuration, over a kill too', () => {
    const run = testStrategy(dca, {
      params: { buy: 'SOL', spend: '30 USDC', every: '1h', purchases: 1 }, prices: { 'SOL/USDC': 100 },
      exits: { watch: ['0.3 SOL'], take_profit: [{ at_pct: 10, sell_pct: 50 }], trailing_stop: { distance_pct: 5 } },
    });
    run.feed('SOL/USDC', '10s 109', '20s 111').restart({ after: '5s', isKilled: true }).feed('exits', '30s 104');
    expect(run.lines('swap').map((line) => line.replace(/ "purchase.*"| key=.*/g, ''))).toEqual([
      '0s buy 30 USDC -> SOL',
      expect.stringMatching(/^20s sell 0\.15 SOL -> USDC ".*" tag=exits\.take_profit$/),
      expect.stringMatching(/^30s sell 0\.15 SOL -> USDC ".*" tag=exits\.trailing_stop$/),
    ]);
    expect(() => testStrategy(dca, {
      params: { buy: 'SOL', spend: '30 USDC', every: '1h' }, exits: { stop_loss_pct: 120 },
    })).toThrow('exits.stop_loss_pct: ');
    expect(() => testStrategy(meanReversion, { params: DIP, exits: { every: '5s' } })).toThrow('exits: it has no rule');
  });

  it('runs strategies beside each other, with one wallet, own budgets and own states', () => {
    const run = testStrategy(meanReversion, {
      params: DIP, budget: '500 USDC', prices: { 'SOL/USDC': 102 }, swaps: { end: 'fill', after: '7s' },
      beside: [{ strategy: dca, params: { buy: 'SOL', spend: '10 USDC', every: '10s' }, budget: '20 USDC' }],
    });
    run.series('5s', { 'SOL/USDC': [102, 98, 100, 95, 95, 95] }).advance('20s');
    expect(run.lines('swap', 'denial').map((line) => line.replace(/ ".*?"| key=\S*?(?=:|$)/g, ''))).toEqual([
      '0s dca buy 10 USDC -> SOL', '10s dca buy 10 USDC -> SOL',
      '15s mean-reversion denied buy 25 USDC -> SOL: INTENT_OPEN_FOR_MINT',
      ...['20s', '30s', '40s'].map((at) => `${at} dca denied buy 10 USDC -> SOL: BUDGET_EXCEEDED`),
    ]);
    expect([run.balance('USDC'), run.balance('USDC', 'dca')]).toEqual(['500 USDC', '0 USDC']);
    expect([run.savedState(), run.savedState('dca')]).toEqual([undefined, { purchases: 2 }]);
    expect(run.records.every(({ strategy }) => ['dca', 'mean-reversion'].includes(strategy))).toBe(true);
    run.restart({ isKilled: true });
    expect(run.savedState('dca')).toEqual({ purchases: 2 });
    expect(() => run.balance('SOL', 'twap')).toThrow('unknown strategy "twap": the test runs mean-reversion, dca');
    expect(() => testStrategy(dca, {
      params: { buy: 'SOL', spend: '10 USDC', every: '10s' },
      beside: [{ strategy: dca, params: { buy: 'SOL', spend: '10 USDC', every: '10s' } }],
    })).toThrow('two strategies have the name "dca": give one another "name"');
  });

  it('says what is wrong with a line, a diagram, a time or a missing price', () => {
    const run = testStrategy(meanReversion, { params: DIP });
    expect(() => run.feed('price', '5s')).toThrow('expected a line such as "5s 149.5", got "5s"');
    expect(() => run.feed('price', 'soon 5')).toThrow('expected a time such as "10s"');
    expect(() => run.feed('price', '1s {bid')).toThrow('expected a number, JSON or plain text as the value of a line');
    expect(() => run.marbles({ price: '-x' }, { a: 1 })).toThrow('has "x": expected "-", brackets, or one of a');
    expect(() => run.marbles({ price: '(a' }, { a: 1 })).toThrow('has no closing bracket');
    expect(() => run.advanceTo('1m').feed('price', '1s 100')).toThrow('1s is over: the run is at 1m');
    expect(() => testStrategy(dca, { params: { buy: 'SOL', spend: '25 USDC', every: '1h' } }))
      .toThrow('so the test cannot fill a swap: name one with the option "prices"');
  });

  it('reads marble diagrams of books', () => {
    const run = testStrategy(bookWatch, {
      params: { market: 'M', level: 0.6, rearm: 0.55, confirm: 2, max_spread: 0.1 },
    });
    run.marbles({ book: 'aabb(cc)' }, { a: 0.5, b: 0.62, c: 0.54 });
    expect(run.lines()).toEqual([
      '3s info "M: YES rose to 62.0 %, above 60 %"', '4s info "M: YES fell to 54.0 %, below 55 %"',
    ]);
  });
});
