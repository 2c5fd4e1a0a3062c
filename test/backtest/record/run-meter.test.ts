import { describe, expect, it } from 'vitest';
import { BASE_MODEL } from '../../../src/backtest/simulated-executor.ts';
import { sampleStep } from '../../../src/backtest/record/run-meter.ts';
import type { Lamports } from '../../../src/core/amount.ts';
import { buyingSol } from '../../market/events.ts';
import { bothSides, CALM, inAndOut, measured } from '../measured.ts';
import { backtest, pricePath } from '../recordings.ts';

const ROUND = bothSides([[125, 124], [131, 130], [131, 130], [131, 130]]).filter(({ receivedAt, ...event }) => receivedAt <= 10_000 || !('inAmount' in event) || event.inAmount !== 25_000_000n);

describe('the record of a backtest', () => {
  it('holds equity at what a sale brings, less the fees, at each step and after each fill', () => {
    const { record, series } = measured([...ROUND]);
    expect(record.times).toEqual([0, 5_000, 6_805, 10_000, 11_805, 15_000, 20_000]);
    // A fifth of a coin at 124; 9,000 lamports at 124, then as many at 130.
    const [bought, sold] = [475 + 24.8 - 0.001_116, 475 + 26 - 0.001_116 - 0.001_17];
    expect(series.values).toEqual([500, 500, bought, bought, sold, sold, sold].map((value) => expect.closeTo(value, 6) as number));
    expect(series.held).toEqual([0, 0, 24.8, 24.8, 0, 0, 0]);
    expect(record.strategies).toMatchObject([{ name: 'in-and-out', sent: 2, landed: 2, feesPaid: expect.closeTo(0.002_286, 9) }]);
  });

  it('holds each fill with its quote, its value and its costs', () => {
    expect(measured([...ROUND]).record.fills).toEqual([
      { at: 6_805, strategy: 'in-and-out', input: 'USDC', output: 'SOL', amountIn: '25000000', amountOut: '200000000', quotedOut: '200000000', value: 25, costs: 0.001_116 },
      { at: 11_805, strategy: 'in-and-out', input: 'SOL', output: 'USDC', amountIn: '200000000', amountOut: '26000000', quotedOut: '26000000', value: 26, costs: 0.001_17 },
    ]);
  });

  it('holds what a coin takes and brings at the size of the benchmark, unknown before the first quote', () => {
    const [instrument] = measured([...ROUND]).record.instruments;
    expect(instrument).toMatchObject({ symbol: 'SOL', decimals: 9 });
    expect(instrument!.bids.slice(0, 3)).toEqual([null, null, 124]);
    expect(instrument!.asks.slice(0, 3)).toEqual([null, null, 125]);
    expect(instrument!.bids.at(-1)).toBe(130);
  });

  it('counts the fees of swaps that failed, and what was sent and did not land', () => {
    // The price falls away while the swap is under way: it fails with 6001, and its fee is paid.
    const { record, assessment } = measured([buyingSol(125_000, 5_000), buyingSol(150_000, 6_000)]);
    expect(record.strategies).toMatchObject([{ sent: 1, landed: 0, feesPaid: expect.closeTo(9_000e-9 * 150 * 0.994, 5) }]);
    expect([assessment.metrics.landing_rate, assessment.metrics.fees_paid]).toEqual([0, record.strategies[0]!.feesPaid]);
  });

  it('marks what is held from the other side, less the haircut, where only purchases are quoted', () => {
    const noFee = { ...CALM, costs: { ...BASE_MODEL.costs, microLamportsPerUnit: 0n, tipLamports: 0n as Lamports } };
    const { series, warnings } = measured([buyingSol(125_000, 5_000)], { model: noFee });
    expect(series.unpriced).toBe(0);
    expect(series.values.at(-1)).toBeCloseTo(475 + 25 * 0.994 - 5_000e-9 * 125 * 0.994, 5);
    expect(warnings.filter((warning) => warning.includes('no price'))).toEqual([]);
  });
});

describe('looking on', () => {
  it('changes no decision, however often it looks', () => {
    const path = pricePath([150, 149, 151, 148, 152, 147, 150, 150]);
    const plain = backtest(inAndOut(), path, BASE_MODEL).result;
    for (const everyMs of [700, 5_000, 60_000]) {
      const { result } = measured(path, { model: BASE_MODEL, everyMs });
      expect([result.decisionHash, result.fills.length, result.endAt]).toEqual([plain.decisionHash, plain.fills.length, plain.endAt]);
    }
  });

  it('takes a usual step, so that bars have points of their own, and about two thousand of them', () => {
    const day = 86_400_000;
    expect([60_000, 3_600_000, day, 30 * day, 365 * day, 20_000 * day].map((span) => sampleStep(span))).toEqual([1_000, 5_000, 60_000, 1_800_000, 86_400_000, 86_400_000]);
    for (const hours of [1, 7, 100, 2_000]) expect(3_600_000 % Math.min(3_600_000, sampleStep(hours * 3_600_000))).toBe(0);
  });
});
