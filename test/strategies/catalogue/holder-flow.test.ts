import { describe, expect, it } from 'vitest';
import holderFlow from '../../../strategies/holder-flow.ts';
import { paramErrors } from '../../../src/testing/index.ts';
import type { MarketEvent } from '../../../src/market/event.ts';
import type { TokenRecordEvent } from '../../../src/strategy/index.ts';
import { buyingSol, record } from '../../market/events.ts';
import { SOL } from '../../market/tokens.ts';
import { trial } from './trial.ts';

const MINUTE = 60_000;
const PARAMS = { pair: 'SOL/USDC', size: '25 USDC', lookback: 5, every: '1m' };

/** A record with a share of net buyers in percent, at a minute. */
const flow = (minute: number, percent: number, change: { readonly holders?: number; readonly updated?: number } = {}):
TokenRecordEvent => {
  const event = record(SOL, 150, minute * MINUTE);
  return { ...event, record: { ...event.record, updatedAt: (change.updated ?? minute) * MINUTE, values: {
    'usdPrice': 150, '5m.numTraders': 1_000, '5m.numNetBuyers': percent * 10, '5m.holderChange': change.holders ?? 0.1,
  } } };
};
/** One sample each five minutes from a minute on, with a price after each. */
const flows = (from: number, ...percents: readonly number[]): MarketEvent[] => percents.flatMap((percent, n) =>
  [flow(from + 5 * n, percent), buyingSol(150_000, (from + 5 * n) * MINUTE + 30_000)]);
const begun = (params: object = {}) => trial(holderFlow, { ...PARAMS, ...params }).show(buyingSol(150_000, 0));

/** Mean 2 and standard deviation 2: of 0, 0, 2, 4, 4 the variance is (4 + 4 + 0 + 4 + 4) / 5 = 3.2, so 1.789. */
const USUAL = [0, 0, 2, 4, 4];

describe('holder flow', () => {
  it('buys at a share of net buyers so many deviations above the usual, and sells at the mean', () => {
    // 2 + 2 * 1.789 = 5.58. The next window is 0, 2, 4, 4 and the sample, whose mean is above 3.
    expect(begun().show(...flows(5, ...USUAL, 5.6, 3)).said()).toEqual(['1800 USDC>SOL', '2130 SOL>USDC']);
    expect(begun().show(...flows(5, ...USUAL, 5.5, 3)).said()).toEqual([]);
  });

  it('decides nothing before it knows the usual', () => {
    expect(begun().show(...flows(5, 0, 0, 2, 4, 90)).said()).toEqual([]);
  });

  it('buys nothing where the holders do not grow, or the service does not say whether', () => {
    const usual = flows(5, ...USUAL);
    const { '5m.holderChange': _change, ...values } = flow(30, 9).record.values;
    const silent = { ...flow(30, 9), record: { ...flow(30, 9).record, values } };
    for (const last of [flow(30, 9, { holders: 0 }), flow(30, 9, { holders: -1 }), silent])
      expect(begun().show(...usual, last).said()).toEqual([]);
    expect(begun().show(...usual, flow(30, 9, { holders: 0.01 })).said()).toHaveLength(1);
  });

  it('takes one sample a window: polls in between, and records that were not updated, count nothing', () => {
    // Ten polls of one window would make its share the usual.
    const often = Array.from({ length: 10 }, (_, n) => flow(1 + n / 10, 4));
    const stale = Array.from({ length: 10 }, (_, n) => flow(30 + n, 90, { updated: 25 }));
    expect(begun().show(...often, ...flows(6, 0, 0, 2, 4, 4)).said()).toEqual([]);
    expect(begun().show(...flows(5, ...USUAL), ...stale).said()).toEqual([]);
  });

  it('takes no sample of a record without traders or without net buyers', () => {
    const having = (minute: number, values: TokenRecordEvent['record']['values']): TokenRecordEvent =>
      ({ ...flow(minute, 9), record: { ...flow(minute, 9).record, values } });
    const empty = [having(30, {}), having(35, { '5m.numTraders': 0, '5m.numNetBuyers': 0 })];
    expect(begun().show(...flows(5, ...USUAL), ...empty, flow(40, 5.6)).said()).toEqual(['2400 USDC>SOL']);
  });

  it('finds nothing unusual where all samples are the same', () => {
    expect(begun().show(...flows(5, 3, 3, 3, 3, 3, 50)).said()).toEqual([]);
  });

  it('sells after the longest time, whatever the share', () => {
    const said = begun({ hold: '7m' }).show(...flows(5, ...USUAL, 6, 20), buyingSol(150_000, 37 * MINUTE)).said();
    expect(said).toEqual(['1800 USDC>SOL', '2220 SOL>USDC']);
  });

  it('keeps its samples and the time of its purchase over a restart', () => {
    const first = begun({ hold: '7m' }).show(...flows(5, ...USUAL)).restarted();
    const second = first.show(buyingSol(150_000, 29 * MINUTE), ...flows(30, 6));
    expect(second.said()).toEqual(['1800 USDC>SOL']);
    const third = second.restarted();
    expect(third.show(buyingSol(150_000, 36 * MINUTE), buyingSol(150_000, 38 * MINUTE)).said())
      .toEqual(['2280 SOL>USDC']);
  });

  it('refuses parameters that make no sense', () => {
    expect(paramErrors(holderFlow, { ...PARAMS, leave: 2 })).toEqual(['leave: expected less than enter']);
    for (const wrong of [{ window: '24h' }, { lookback: 1 }, { enter: '2' }, { pair: 'SOL' }])
      expect(paramErrors(holderFlow, { ...PARAMS, ...wrong })).toHaveLength(1);
  });
});
