import { describe, expect, it } from 'vitest';
import bookWatch from '../../strategies/book-watch.ts';
import dca from '../../strategies/dca.ts';
import meanReversion from '../../strategies/mean-reversion.ts';
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

  it('names the feeds of the strategy where a test names another', () => {
    expect(() => testStrategy(meanReversion, { params: DIP }).emit('prcie', 100))
      .toThrow('unknown feed "prcie": the strategy mean-reversion has the inputs price; a pair of known tokens');
    expect(() => testStrategy(meanReversion, { params: { ...DIP, window: 1 } }))
      .toThrow('the parameters of mean-reversion:\n  window: ');
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
