import { describe, expect, it } from 'vitest';
import { chanceText, trialsText } from '../../../src/research/trials/verdict.ts';
import type { SweepOutcome } from '../../../src/research/sweep/sweep-outcome.ts';
import { confidenceSentence } from '../../../src/research/sweep/sweep-outcome.ts';

const best = (count: number, dsr: number | null, { sharpe = 2, isMadeUp = false } = {}): string => confidenceSentence({
  best: { metrics: { sharpe, dsr } }, counted: { count, sharpeVariance: count === 1 ? undefined : 4 }, isMadeUp,
} as Pick<SweepOutcome, 'best' | 'counted' | 'isMadeUp'>);

describe('how many were tried, in words', () => {
  it('with one trial does not speak of luck among many', () => {
    expect(trialsText({ count: 1, sharpeVariance: undefined }, 0.97)).toBe('this is the first on these data: there was '
      + 'nothing to choose among, and its true Sharpe ratio is above 0 with a probability of 97.00 %');
    expect(chanceText(0.97, { dsr: 0.97, trials: 1 })).toBe('By itself it is unlikely to be luck: its true Sharpe '
      + 'ratio is above 0 with a probability of 97.00 %. Nothing else was tried on these data; every further variant '
      + 'that is makes luck likelier.');
  });

  it('with two says how little that is to go by', () => {
    expect(trialsText({ count: 2, sharpeVariance: 4 }, 0.5)).toMatch(
      /^two variants were tried on these data, few to go by: going by how far apart they are, the luckier of two that are worth nothing shows a Sharpe ratio of about [\d.]+ a year; that this one is truly above that has a probability of 50\.00 %$/,
    );
    expect(chanceText(0.97, { dsr: 0.5, trials: 2 })).toBe('By itself it would be unlikely to be luck (97.00 %), but '
      + 'two variants were tried on these data: that it is truly better than the luckier of two that are worth nothing '
      + 'would look has a probability of 50.00 %.');
    expect(trialsText({ count: 2, sharpeVariance: undefined }, null)).toBe(
      'two variants were tried on these data, too few of them with a Sharpe ratio to say what luck alone would show',
    );
  });

  it('with many says what the luckiest would show', () => {
    expect(trialsText({ count: 1_200, sharpeVariance: 4 }, 0.999)).toMatch(
      /^1,200 variants were tried on these data: the luckiest of 1,200 that are worth nothing shows a Sharpe ratio of \d\.\d\d a year; that this one is truly above that has a probability of 99\.90 %$/,
    );
    expect(chanceText(0.999, { dsr: 0.96, trials: 1_200 }))
      .toMatch(/^It is unlikely to be luck, even though 1,200 variants were tried on these data: /);
  });

  it('issue 13.8: says nothing of luck where that is not meaningful', () => {
    expect(trialsText({ count: 1, sharpeVariance: undefined }, 0.97, 'the market is made up'))
      .toBe('this is the first on these data; what luck alone would show is not meaningful: the market is made up');
    expect(trialsText({ count: 40, sharpeVariance: 4 }, 0.97, 'the market is made up')).toBe(
      '40 variants were tried on these data; what luck alone would show is not meaningful: the market is made up',
    );
    expect(best(40, 0.97, { isMadeUp: true }))
      .toBe('40 variants were tried on these data. How much of it is luck is not meaningful: the market is made up.');
    expect(best(40, 0.97, { sharpe: 157.48 })).toBe('40 variants were tried on these data. How much of it is luck is '
      + 'not meaningful: no real market pays a Sharpe ratio of 157.48 a year.');
  });

  it('says the same of the best of a sweep', () => {
    expect(best(1, 0.97)).toBe('one variant was tried on these data: there was nothing to choose among. Its Sharpe '
      + 'ratio is 2.00 a year, and truly above 0 with a probability of 97.00 %.');
    expect(best(2, 0.4)).toMatch(
      /^two variants were tried on these data, few to go by: .*; this one has 2\.00, and is truly above that with a probability of 40\.00 % \(deflated Sharpe ratio\): most likely it is luck\.$/,
    );
    expect(best(40, 0.96)).toMatch(
      /^40 variants were tried on these data: the luckiest of 40 .*more than luck, as far as these data go\.$/,
    );
  });
});
