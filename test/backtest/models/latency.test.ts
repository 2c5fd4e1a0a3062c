import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chanceOf } from '../../../src/backtest/models/chance.ts';
import { knownBefore, latencyAt, quantilesOf } from '../../../src/backtest/models/latency.ts';
import { assumedUntil, recordedLatencies, withRecordedLatency } from '../../../src/backtest/models/recorded-latency.ts';
import { openRecording } from '../../../src/recording/reader.ts';
import { outcomeOf } from '../../../src/trading/intent.ts';
import type { SimulationModel } from '../../../src/trading/simulation-model.ts';
import { BASE_MODEL } from '../../../src/trading/simulation-model.ts';
import { openWriter, temporaryFolder } from '../../recording/temporary.ts';

const LAND = [{ share: 0.1, latencyMs: 800 }, { share: 0.5, latencyMs: 1_500 }, { share: 0.9, latencyMs: 2_500 }];

describe('a latency', () => {
  it('lies between the quantiles that are known, and is flat outside them', () => {
    expect([0, 0.1, 0.3, 0.5, 0.7, 0.9, 0.999].map((share) => latencyAt(LAND, share))).toEqual([800, 800, 1_150, 1_500, 2_000, 2_500, 2_500]);
    expect([0, 0.5, 1].map((share) => latencyAt([{ share: 0.5, latencyMs: 300 }], share))).toEqual([300, 300, 300]);
  });

  it('comes back from what was measured: the quantiles of a thousand are theirs', () => {
    const measured = quantilesOf(Array.from({ length: 1_001 }, (_, n) => (n * 7_919) % 1_001));
    for (const share of [0, 0.05, 0.5, 0.9, 0.99, 1]) expect(latencyAt(measured, share)).toBe(Math.round(share * 1_000));
    expect(latencyAt(quantilesOf([42]), 0.9)).toBe(42);
  });

  it('never falls from one share to a larger one, and stays within what was measured', () => {
    fc.assert(fc.property(fc.array(fc.integer({ min: 0, max: 100_000 }), { minLength: 1, maxLength: 200 }), fc.double({ min: 0, max: 1, noNaN: true }), fc.double({ min: 0, max: 1, noNaN: true }), (times, a, b) => {
      const quantiles = quantilesOf(times);
      expect(latencyAt(quantiles, Math.min(a, b))).toBeLessThanOrEqual(latencyAt(quantiles, Math.max(a, b)));
      expect(latencyAt(quantiles, a)).toBeGreaterThanOrEqual(Math.min(...times));
      expect(latencyAt(quantiles, a)).toBeLessThanOrEqual(Math.max(...times));
    }));
  });
});

describe('the chance of an attempt', () => {
  it('follows from seed and id alone, is another for another, and is even', () => {
    expect(chanceOf(7, 'dip-1')).toEqual(chanceOf(7, 'dip-1'));
    expect(chanceOf(7, 'dip-1')).not.toEqual(chanceOf(8, 'dip-1'));
    expect(chanceOf(7, 'dip-1').land).not.toBe(chanceOf(7, 'dip-2').land);
    const dropped = Array.from({ length: 4_000 }, (_, n) => chanceOf(7, `dip-${n}`)).filter(({ drop }) => drop < 0.1).length;
    expect(dropped).toBeGreaterThan(340);
    expect(dropped).toBeLessThan(460);
  });
});

async function recordingOf(swaps: number) {
  const writer = openWriter(temporaryFolder());
  let seq = 0;
  for (let n = 0; n < swaps; n++) {
    const at = n * 10_000;
    const steps = [['building', 0], ['signed', 200 + n], ['submitted', 201 + n], [n % 5 === 4 ? 'failed' : 'confirmed', 1_200 + 3 * n]] as const;
    for (const [state, after] of steps) writer.append(++seq, at + after, outcomeOf(`swap-${n}`, state));
  }
  // Never ended, or of a further attempt: they say nothing of how long one takes.
  writer.append(++seq, 900_000, outcomeOf('open-1', 'building'));
  writer.append(++seq, 900_100, outcomeOf('open-1', 'building', { attempt: 2 }));
  await writer.close();
  return openRecording(writer.directory);
}

describe('latencies of a recording', () => {
  const asked = { ...BASE_MODEL, latency: { ...BASE_MODEL.latency, quote: 'recorded', land: 'recorded' } } as const;

  it('are those of its run: from the decision to the signature, and from there to the block', async () => {
    const recording = await recordingOf(21);
    const swaps = Array.from({ length: 21 }, (_, n) => n);
    expect(recordedLatencies(recording)).toEqual({
      quote: swaps.map((n) => ({ at: n * 10_000 + 200 + n, latencyMs: 200 + n })), land: swaps.map((n) => ({ at: n * 10_000 + 1_200 + 3 * n, latencyMs: 1_000 + 2 * n })),
    });
    const { latency } = withRecordedLatency(asked, recording, 'it');
    expect([0, 0.5, 1].map((share) => latencyAt(knownBefore(latency.quote, Infinity), share))).toEqual([200, 210, 219]);
    expect([0, 0.5, 1].map((share) => latencyAt(knownBefore(latency.land, Infinity), share))).toEqual([1_000, 1_019, 1_038]);
    expect(latencyAt(latency.sign, 0.5)).toBe(0);
  });

  it('are at each instant those that were known before it, and the usual ones until there are enough', async () => {
    const [short, long] = (await Promise.all([30, 60].map(recordingOf))).map((recording) => withRecordedLatency(asked, recording, 'run-1')) as [SimulationModel, SimulationModel];
    // The 20th swap is signed at 190.219 s, and in its block a second and 38 ms later.
    const last = { quote: 190_219, land: 191_257 };
    for (const key of ['quote', 'land'] as const) {
      expect(knownBefore(long.latency[key], last[key])).toEqual(BASE_MODEL.latency[key]);
      expect(knownBefore(long.latency[key], last[key] + 1)).not.toEqual(BASE_MODEL.latency[key]);
      // What was recorded later changes nothing of what is drawn from before.
      for (let at = 0; at <= 290_000; at += 1_000) expect(knownBefore(long.latency[key], at)).toEqual(knownBefore(short.latency[key], at));
      const most = (at: number): number => latencyAt(knownBefore(long.latency[key], at), 1);
      expect(most(400_000)).toBeGreaterThan(most(290_000));
    }
    expect([assumedUntil(long, 0), assumedUntil(long, 191_256), assumedUntil(long, 191_257), assumedUntil(BASE_MODEL, 0)]).toEqual([191_257, 191_257, undefined, undefined]);
  });

  it('are refused where the run made too few swaps, naming how many; and not looked for where nobody wants them', async () => {
    const recording = await recordingOf(19);
    expect(() => withRecordedLatency(asked, recording, 'run-1')).toThrow(/backtest\.latency\.quote is to come from run-1, whose run made 19 swaps; at least 20/);
    expect(withRecordedLatency(BASE_MODEL, recording, 'run-1')).toEqual(BASE_MODEL);
  });
});
