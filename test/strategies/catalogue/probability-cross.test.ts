import { describe, expect, it } from 'vitest';
import probabilityCross from '../../../strategies/probability-cross.ts';
import { paramErrors } from '../../../src/testing/index.ts';
import type { MarketEvent } from '../../../src/market/event.ts';
import { book, buyingSol } from '../../market/events.ts';
import { marketOf } from '../proofs/market-events.ts';
import { trial } from './trial.ts';

const PARAMS = { event: 'E', market: 'M', pair: 'SOL/USDC', size: '25 USDC', enter: 0.6, rearm: 0.5, confirm: 2 };

/** Each second a book two cents wide around a percentage, and a price half a second later. */
const likely = (from: number, ...percents: readonly number[]): MarketEvent[] => percents.flatMap((percent, n) => [
  book([[percent - 1, 100]], [[99 - percent, 100]], (from + n) * 1_000), buyingSol(150_000, (from + n) * 1_000 + 500),
]);
const begun = (params: object = {}) => trial(probabilityCross, { ...PARAMS, ...params }).show(buyingSol(150_000, 0));

const ROSE = 'alert YES of M has crossed 60 %';
const FELL = 'alert YES of M is back at 50 %';

describe('probability cross', () => {
  it('buys when the probability has crossed the level, and sells when it is back', () => {
    expect(begun().show(...likely(1, 40, 40, 60, 61, 55, 51, 50, 49, 60, 60)).said())
      .toEqual([`4 ${ROSE}`, '4 USDC>SOL', `8 ${FELL}`, '8.5 SOL>USDC', `10 ${ROSE}`, '10 USDC>SOL']);
  });

  it('does nothing between the levels, and nothing that fewer polls than confirm agree on', () => {
    expect(begun().show(...likely(1, 40, 40, 59.9, 59.9, 60, 59.9, 60, 51, 60)).said()).toEqual([]);
  });

  it('does not take a start beyond the level for a crossing', () => {
    expect(begun().show(...likely(1, 70, 70, 70, 55, 70, 70)).said()).toEqual([]);
    expect(begun().show(...likely(1, 70, 70, 50, 50, 60, 60)).said()).toEqual([`4 ${FELL}`, `6 ${ROSE}`, '6 USDC>SOL']);
  });

  it('buys at a fall, where enter is below rearm', () => {
    expect(begun({ enter: 0.3, rearm: 0.4 }).show(...likely(1, 50, 50, 30, 30, 40, 40)).said()).toEqual(
      ['4 alert YES of M has crossed 30 %', '4 USDC>SOL', '6 alert YES of M is back at 40 %', '6.5 SOL>USDC']);
  });

  it.each([
    ['empty', [], []], ['without a bid', [], [[38, 100]]], ['without an ask', [[62, 100]], []],
    ['wider than max_spread', [[59, 100]], [[35, 100]]], ['crossed', [[66, 100]], [[36, 100]]],
    ['thinner than min_depth on one side', [[61, 100]], [[37, 49]]],
    ['deep far from the price alone', [[61, 49], [50, 9_000]], [[37, 100]]],
  ] as const)('ignores a book that is %s', (_name, yes, no) => {
    const shown = [3, 4, 5].map((second) => book(yes, no, second * 1_000));
    expect(begun().show(...likely(1, 40, 40), ...shown).said()).toEqual([]);
  });

  it('counts again after a book that says nothing', () => {
    const nothing = book([], [], 4_000);
    expect(begun().show(...likely(1, 40, 40, 60), nothing, ...likely(5, 60)).said()).toEqual([]);
    expect(begun().show(...likely(1, 40, 40, 60), nothing, ...likely(5, 60, 60)).said()).toHaveLength(2);
  });

  it('sells when the market is resolved, says each news of it once, and buys no more though books are served', () => {
    const said = begun().show(
      ...likely(1, 40, 40, 60, 60), marketOf(undefined, 5_000), ...likely(6, 61), marketOf('yes', 7_000),
      marketOf('yes', 8_000), ...likely(9, 40, 40, 60, 60),
    ).said();
    expect(said).toEqual([`4 ${ROSE}`, '4 USDC>SOL', '7 alert M is resolved: yes', '9.5 SOL>USDC']);
  });

  it('ends with a status that it does not know, too', () => {
    const halted = marketOf(undefined, 7_000);
    const said = begun().show(...likely(1, 40, 40, 60, 60),
      { ...halted, market: { ...halted.market, status: 'paused' } }, ...likely(8, 61)).said();
    expect(said.slice(2)).toEqual(['7 alert M is paused', '8.5 SOL>USDC']);
  });

  it('goes on after a restart: it crosses nothing twice, goes on counting, and sells what it bought', () => {
    const first = begun().show(...likely(1, 40, 40, 60)).restarted().show(buyingSol(150_000, 3_600), ...likely(4, 60));
    expect(first.said()).toEqual([`4 ${ROSE}`, '4 USDC>SOL']);
    const second = first.restarted().show(...likely(5, 60, 60, 60));
    expect(second.said()).toEqual([]);
    expect(second.restarted().show(buyingSol(150_000, 7_600), ...likely(8, 50, 50)).said())
      .toEqual([`9 ${FELL}`, '9.5 SOL>USDC']);
  });

  it('refuses parameters that make no sense', () => {
    expect(paramErrors(probabilityCross, { ...PARAMS, rearm: 0.6 }))
      .toEqual(['rearm: expected another probability than enter']);
    for (const wrong of [{ enter: 1.2 }, { confirm: 0 }, { pair: 'SOL/GOLD' }, { size: '25' }, { event: '' }])
      expect(paramErrors(probabilityCross, { ...PARAMS, ...wrong })).toHaveLength(1);
  });
});
