import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TrialReturns } from '../../../src/research/metrics/deflated-sharpe.ts';
import { deflated, returnsOf, sharpeByLuck, withTrials } from '../../../src/research/metrics/deflated-sharpe.ts';
import type { Assessment, Metrics } from '../../../src/research/metrics/metrics.ts';
import { assess } from '../../../src/research/metrics/metrics.ts';
import { compounded } from '../../../src/research/metrics/return-statistics.ts';
import { probabilisticSharpe } from '../../../src/research/metrics/sharpe-confidence.ts';
import { daily, wave } from './series.ts';

const waveRun = (length?: number): Assessment => assess(
  { kind: 'equity', ...daily(compounded(wave().slice(0, length)).map((value) => value * 1_000)) },
  { strictness: 'backtest' },
);
const { metrics: METRICS } = waveRun();
const codes = ({ warnings }: Assessment): string[] => warnings.map(({ code }) => code);

describe('a Sharpe ratio deflated by trials', () => {
  // D. Bailey and M. López de Prado, "The Deflated Sharpe Ratio" (2014), numerical example: 2.5 a year over five years
  // of 250 days, skewness -3, kurtosis 10; the trials' variance is 1/2, a year, as the log keeps it.
  const published: TrialReturns =
    { sharpePerBar: 2.5 / Math.sqrt(250), bars: 1_250, perYear: 250, skewness: -3, kurtosis: 10 };

  it.each([[100, 0.9004], [46, 0.9505]])('is, of the published example after %i trials, %d', (count, expected) => {
    expect(deflated(METRICS, published, { count, sharpeVariance: 0.5 }))
      .toMatchObject({ dsr: expect.closeTo(expected, 4), trials: count, psr: METRICS.psr });
  });

  it('compares with the expected ratio by luck: 1.79 a year after the published 100 trials', () => {
    expect(sharpeByLuck({ count: 100, sharpeVariance: 0.5 })).toBeCloseTo(0.1132 * Math.sqrt(250), 2);
  });

  it('is the probability that the ratio is above 0 after one trial', () => {
    expect(deflated(METRICS, published, { count: 1, sharpeVariance: undefined }).dsr)
      .toBe(probabilisticSharpe({ sharpe: 2.5 / Math.sqrt(250), returns: 1_250, skewness: -3, kurtosis: 10 }));
    expect(sharpeByLuck({ count: 1, sharpeVariance: undefined })).toBe(0);
    const single = withTrials(waveRun(), { count: 1, sharpeVariance: undefined });
    expect(single.metrics.dsr).toBeCloseTo(single.metrics.psr!, 12);
  });

  it('is the same when all trials had equal results', () => {
    expect(deflated(METRICS, published, { count: 500, sharpeVariance: 0 }).dsr)
      .toBe(deflated(METRICS, published, { count: 1, sharpeVariance: undefined }).dsr);
  });

  it('never rises with the number or variance of trials, and never exceeds the undeflated one', () => {
    const returns = fc.record({
      sharpePerBar: fc.double({ min: -1, max: 1, noNaN: true }), bars: fc.integer({ min: 30, max: 5_000 }),
      perYear: fc.constantFrom(250, 365.25, 8_766),
      skewness: fc.double({ min: -2, max: 2, noNaN: true }), kurtosis: fc.double({ min: 6, max: 20, noNaN: true }),
    });
    const variance = fc.double({ min: 0, max: 50, noNaN: true });
    fc.assert(fc.property(returns, fc.integer({ min: 1, max: 10_000 }), fc.integer({ min: 1, max: 10_000 }), variance,
      variance, (of, count, more, sharpeVariance, wider) => {
        const after = (trials: number, spread: number): number =>
          deflated(METRICS, of, { count: trials, sharpeVariance: spread }).dsr!;
        expect(after(count + more, sharpeVariance)).toBeLessThanOrEqual(after(count, sharpeVariance) + 1e-15);
        expect(after(count, sharpeVariance + wider)).toBeLessThanOrEqual(after(count, sharpeVariance) + 1e-15);
        expect(after(count, sharpeVariance)).toBeLessThanOrEqual(after(1, 0) + 1e-15);
      }));
  });

  it('does not depend on the length of bars', () => {
    const run = waveRun();
    const returns = returnsOf(run);
    expect(returns).toMatchObject({
      bars: 200, perYear: 365.25, sharpePerBar: expect.closeTo(run.metrics.sharpe! / Math.sqrt(365.25), 12),
    });
    const doubled = { ...returns, sharpePerBar: returns.sharpePerBar!, perYear: returns.perYear! * 4 };
    expect(deflated(METRICS, doubled, { count: 9, sharpeVariance: 4 }).dsr)
      .toBeCloseTo(deflated(METRICS, returns, { count: 9, sharpeVariance: 1 }).dsr!, 12);
  });

  it('replaces the warning about unknown trials', () => {
    const run = waveRun();
    expect(codes(run)).toContain('trials_unknown');
    const after = withTrials(run, { count: 12, sharpeVariance: 1.5 });
    expect(after.metrics)
      .toMatchObject({ trials: 12, dsr: expect.any(Number) } satisfies Partial<Record<keyof Metrics, unknown>>);
    expect(codes(after)).not.toContain('trials_unknown');
    expect(codes(after)).not.toContain('not_deflated');
  });

  it.each([
    [
      'the variance of the trials is unknown', waveRun(), { count: 3, sharpeVariance: undefined },
      /of 3 trials .* fewer than two have a Sharpe ratio/,
    ],
    [
      'the data are too thin', waveRun(20), { count: 3, sharpeVariance: 1 },
      /because P\(Sharpe > 0\) is not given/,
    ],
  ])('is left out with the reason when %s', (_, run, trials, reason) => {
    const { metrics, warnings } = withTrials(run, trials);
    expect(metrics).toMatchObject({ dsr: null, trials: 3 });
    expect(warnings)
      .toContainEqual({ code: 'not_deflated', message: expect.stringMatching(reason) as string, figures: ['dsr'] });
  });
});
