import { describe, expect, it } from 'vitest';
import complementWatch from '../../../strategies/complement-watch.ts';
import { paramErrors } from '../../../src/testing/index.ts';
import type { OrderBook } from '../../../src/strategy/index.ts';
import { book } from '../../market/events.ts';
import { trial } from './trial.ts';

const ONE = { yes: 'M' };
const TWO = { yes: 'M', no: 'N' };
/** Without fees, so that the figures are those of the books. */
const FREE = { fee_bps: 0 };

/** The book of N, in which NO is asked at 100 less the bid for YES. */
const bookN = (yesBid: number, size: number, at: number): OrderBook =>
  ({ ...book([[yesBid, size]], [[99 - yesBid, size]], at), feed: 'order-book:N', marketId: 'N' });
/** The book of M, in which YES is asked at this price. */
const bookM = (yesAsk: number, size: number, at: number): OrderBook =>
  book([[yesAsk - 1, size]], [[100 - yesAsk, size]], at);

describe('complement watch of one book', () => {
  it('says that a crossed book is stale, and that it is no opportunity', () => {
    // Bids of 60 for YES and 50 for NO: YES is asked at 50, NO at 40. Fees of 100: 0.07 * 100 * 0.25 = 1.75 dollars,
    // and 0.07 * 100 * 0.24 = 1.68: 3.43 cents each.
    expect(trial(complementWatch, ONE).show(book([[60, 10]], [[50, 10]])).said()).toEqual([
      '0 alert YES of M and NO of M cost $0.9343 with fees: the book is crossed, so its data are stale or broken']);
    // Bids of 55 and 50 leave 5 cents, of which fees of 3.49 cents leave less than min_edge.
    expect(trial(complementWatch, ONE).show(book([[55, 10]], [[50, 10]])).said()).toEqual([]);
  });

  it('never alerts at a book that is not crossed, however narrow: both sides cost a dollar and the spread', () => {
    for (const [yes, no] of [[50, 50], [50, 49], [1, 1], [98, 1]] as const)
      expect(trial(complementWatch, { ...ONE, ...FREE, min_edge: 0.0001 }).show(book([[yes, 9]], [[no, 9]])).said())
        .toEqual([]);
  });

  it('ignores empty and one-sided books', () => {
    const shown = [book([], []), book([[99, 5]], [], 1), book([], [[99, 5]], 2)];
    expect(trial(complementWatch, { ...ONE, ...FREE }).show(...shown).said()).toEqual([]);
  });
});

describe('complement watch of two books', () => {
  it('compares equal numbers of contracts with the fees of both, each rounded up to a cent', () => {
    // YES of M at 40 cents, NO of N at 100 - 48 = 52: 92 cents. Fees of 10 contracts: 0.07 * 10 * 0.24 = 0.168, so 17
    // cents, and 0.07 * 10 * 0.2496 = 0.17472, so 18 cents: 3.5 cents each.
    const said = trial(complementWatch, { ...TWO, contracts: 10 }).show(bookM(40, 50, 0), bookN(48, 50, 100)).said();
    expect(said).toEqual([
      '0.1 alert YES of M and NO of N cost $0.9550 with fees: $0.0450 a pair, if both resolve by the same rules']);
  });

  it('counts the fees: an edge that they use up is none', () => {
    // 96.5 cents and 3.5 cents of fees.
    const shown = [bookM(44, 50, 0), bookN(48, 50, 1)];
    expect(trial(complementWatch, { ...TWO, contracts: 10 }).show(...shown).said()).toEqual([]);
    expect(trial(complementWatch, { ...TWO, ...FREE, contracts: 10 }).show(...shown).said()).toHaveLength(1);
  });

  it('takes the price of so many contracts, and none where the orders do not suffice', () => {
    // Ten at 40 cents and the rest at 60: fifty contracts cost 56 on average, so that 1.08 is no gain.
    const deep = book([[39, 50]], [[60, 10], [40, 90]]);
    const shown = [deep, bookN(48, 50, 1)];
    expect(trial(complementWatch, { ...TWO, ...FREE, contracts: 10 }).show(...shown).said()).toHaveLength(1);
    expect(trial(complementWatch, { ...TWO, ...FREE, contracts: 50 }).show(...shown).said()).toEqual([]);
    expect(trial(complementWatch, { ...TWO, ...FREE, contracts: 51 }).show(...shown).said()).toEqual([]);
  });

  it('compares no books of different times, and no crossed one', () => {
    const params = { ...TWO, ...FREE, contracts: 10 };
    expect(trial(complementWatch, params).show(bookM(40, 50, 0), bookN(48, 50, 2_001)).said()).toEqual([]);
    const crossed = { ...bookN(48, 50, 1), no: [{ priceMicroUsd: 600_000, size: 90 }] };
    expect(trial(complementWatch, params).show(bookM(40, 50, 0), crossed).said()).toEqual([]);
  });

  it('tells it once until it is gone, over a restart too', () => {
    const params = { ...TWO, ...FREE, contracts: 10 };
    const first = trial(complementWatch, params).show(bookM(40, 50, 0), bookN(48, 50, 1), bookM(41, 50, 1_000));
    expect(first.said()).toHaveLength(1);
    const second = first.restarted().show(bookM(40, 50, 5_000), bookN(48, 50, 5_001));
    expect(second.said()).toEqual([]);
    expect(second.show(bookM(55, 50, 6_000), bookM(40, 50, 7_000)).said()).toHaveLength(1);
  });

  it('refuses parameters that make no sense', () => {
    expect(paramErrors(complementWatch, { yes: 'M', rearm: 0.02 })).toEqual(['rearm: expected less than min_edge']);
    for (const wrong of [{ yes: '' }, { yes: 'M', contracts: 0 }, { yes: 'M', fee_bps: 1.5 }, { yes: 'M', every: '5' }])
      expect(paramErrors(complementWatch, wrong)).toHaveLength(1);
  });
});
