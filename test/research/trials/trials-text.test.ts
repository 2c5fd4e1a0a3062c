import { describe, expect, it } from 'vitest';
import { chanceText, trialsText } from '../../../src/research/trials/verdict.ts';
import type { SweepOutcome } from '../../../src/research/sweep/sweep-outcome.ts';
import { confidenceSentence } from '../../../src/research/sweep/sweep-outcome.ts';

const best = (count: number, dsr: number | null, { sharpe = 2, isMadeUp = false } = {}): string => confidenceSentence({
  best: { metrics: { sharpe, dsr } }, counted: { count, sharpeVariance: count === 1 ? undefined : 4 }, isMadeUp,
} as Pick<SweepOutcome, 'best' | 'counted' | 'isMadeUp'>);

describe('the number of trials in words', () => {
  it('mentions no luck after a single trial', () => {
    expect(trialsText({ count: 1, sharpeVariance: undefined }, 0.97)).toBe('this is the first on these data: there was '
      + 'nothing to choose from, and its true Sharpe ratio is above 0 with a probability of 97.00 %');
    expect(chanceText(0.97, { dsr: 0.97, trials: 1 })).toBe('By itself it is unlikely to be luck: its true Sharpe '
      + 'ratio is above 0 with a probability of 97.00 %. Nothing else was tried on these data; every further variant '
      + 'makes luck likelier.');
  });

  it('says that two trials are few', () => {
    const two = trialsText({ count: 2, sharpeVariance: 4 }, 0.5);
    expect(two).toMatch(/^two variants were tried on these data, which are few: by their variance, the luckier of two/);
    expect(two).toMatch(
      / worthless variants shows a Sharpe ratio of about [\d.]+ a year; this one is truly above that with .* 50\.00 %$/,
    );
    expect(chanceText(0.97, { dsr: 0.5, trials: 2 })).toBe('By itself it would be unlikely to be luck (97.00 %), but '
      + 'two variants were tried on these data: it is truly better than the luckier of two worthless variants '
      + 'with a probability of 50.00 %.');
    expect(trialsText({ count: 2, sharpeVariance: undefined }, null)).toBe(
      'two variants were tried on these data, too few of them with a Sharpe ratio to estimate the effect of luck',
    );
  });

  it('names the Sharpe ratio of the luckiest of many', () => {
    const many = trialsText({ count: 1_200, sharpeVariance: 4 }, 0.999);
    expect(many).toMatch(/^1,200 variants were tried on these data: the luckiest of 1,200 worthless variants shows a /);
    expect(many).toMatch(/Sharpe ratio of \d\.\d\d a year; this one is truly above that with a probability of 99\.9/);
    expect(chanceText(0.999, { dsr: 0.96, trials: 1_200 }))
      .toMatch(/^It is unlikely to be luck, even though 1,200 variants were tried on these data: /);
  });

  it('issue 13.8: does not judge luck when it has no meaning', () => {
    expect(trialsText({ count: 1, sharpeVariance: undefined }, 0.97, 'the market is generated'))
      .toBe('this is the first on these data; the Sharpe ratio by luck is not meaningful: the market is generated');
    expect(trialsText({ count: 40, sharpeVariance: 4 }, 0.97, 'the market is generated')).toBe(
      '40 variants were tried on these data; the Sharpe ratio by luck is not meaningful: the market is generated',
    );
    expect(best(40, 0.97, { isMadeUp: true }))
      .toBe('40 variants were tried on these data. The share of luck in it cannot be judged: the market is generated.');
    expect(best(40, 0.97, { sharpe: 157.48 })).toBe('40 variants were tried on these data. The share of luck in it '
      + 'cannot be judged: no real market pays a Sharpe ratio of 157.48 a year.');
  });

  it('agrees with the sentence on the best of a sweep', () => {
    expect(best(1, 0.97)).toBe('one variant was tried on these data: there was nothing to choose from. Its Sharpe '
      + 'ratio is 2.00 a year, and truly above 0 with a probability of 97.00 %.');
    expect(best(2, 0.4)).toMatch(/^two variants were tried on these data, which are few: .*; this one has 2\.00, /);
    expect(best(2, 0.4)).toMatch(/ of 40\.00 % \(deflated Sharpe ratio\): most likely it is luck\.$/);
    expect(best(40, 0.96)).toMatch(
      /^40 variants were tried on these data: the luckiest of 40 .*more than luck, as far as these data go\.$/,
    );
  });
});
