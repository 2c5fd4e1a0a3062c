import { describe, expect, it } from 'vitest';
import bookImbalance from '../../../strategies/book-imbalance.ts';
import { paramErrors } from '../../../src/testing/index.ts';
import type { OrderBook } from '../../../src/strategy/index.ts';
import { book } from '../../market/events.ts';
import { trial } from './trial.ts';

const PARAMS = { market: 'M', confirm: 2, min_depth: 10 };

/** Books one a second, of YES bids at 49 cents and NO bids at 50: YES is asked at 50. */
const books = (...sizes: readonly (readonly [yes: number, no: number])[]): OrderBook[] =>
  sizes.map(([yes, no], second) => book([[49, yes]], [[50, no]], second * 1_000));

const TO_YES = 'alert M: the orders within $0.03 lean to YES';
const TO_NO = 'alert M: the orders within $0.03 lean to NO';

describe('book imbalance', () => {
  it('tells a lean to either side, once until the book is balanced again', () => {
    // 80 against 20 is (80 - 20) / 100 = 0.6; 79 against 21 is 0.58; 65 against 35 is 0.3.
    const said = trial(bookImbalance, PARAMS)
      .show(...books([80, 20], [80, 20], [79, 21], [80, 20], [65, 35], [65, 35], [20, 80], [20, 80])).said();
    expect(said).toEqual([
      `1 ${TO_YES}`, '5 alert M: the orders lean to YES no more', `7 ${TO_NO}`,
    ]);
  });

  it('does not tell what stands for fewer polls than confirm', () => {
    expect(trial(bookImbalance, PARAMS).show(...books([90, 10], [50, 50], [90, 10], [50, 50])).said()).toEqual([]);
    expect(trial(bookImbalance, { ...PARAMS, confirm: 1 }).show(...books([90, 10])).said()).toEqual([`0 ${TO_YES}`]);
  });

  it('counts no orders far from the price: a spoofed level does not make a book lean', () => {
    const spoofed = [0, 1_000, 2_000].map((at) => book([[49, 50], [1, 100_000]], [[50, 50]], at));
    expect(trial(bookImbalance, PARAMS).show(...spoofed).said()).toEqual([]);
    expect(trial(bookImbalance, { ...PARAMS, within: 0.5 }).show(...spoofed).said()).toHaveLength(1);
  });

  it.each([
    ['empty', []], ['one-sided', [[[49, 100]], []]], ['one-sided the other way', [[], [[50, 100]]]],
    ['crossed', [[[60, 100]], [[50, 1]]]], ['wider than max_spread', [[[40, 100]], [[50, 1]]]],
    ['thinner than min_depth', [[[49, 8]], [[50, 1]]]],
  ] as const)('ignores a book that is %s', (_name, [yes = [], no = []]) => {
    const shown = [0, 1_000, 2_000].map((at) => book(yes as never, no as never, at));
    expect(trial(bookImbalance, PARAMS).show(...shown).said()).toEqual([]);
  });

  it('repeats nothing after a restart, and goes on counting', () => {
    const [first, second, third, fourth] = books([80, 20], [80, 20], [80, 20], [80, 20]);
    const counted = trial(bookImbalance, PARAMS).show(first!).restarted();
    expect(counted.show(second!).said()).toEqual([`1 ${TO_YES}`]);
    expect(counted.restarted().show(third!, fourth!).said()).toEqual([]);
  });

  it('refuses parameters that make no sense', () => {
    expect(paramErrors(bookImbalance, { market: 'M', lean: 0.3, rearm: 0.3 }))
      .toEqual(['rearm: expected less than lean']);
    for (const wrong of [{ market: '' }, { market: 'M', lean: 1 }, { market: 'M', confirm: 0 }, { market: 'M', k: 5 }])
      expect(paramErrors(bookImbalance, wrong)).toHaveLength(1);
  });
});
