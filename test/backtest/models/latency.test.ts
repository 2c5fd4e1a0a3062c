import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chanceOf } from '../../../src/backtest/models/chance.ts';
import { latencyAt, quantilesOf } from '../../../src/backtest/models/latency.ts';
import { recordedLatencies, withRecordedLatency } from '../../../src/backtest/models/recorded-latency.ts';
import { openRecording } from '../../../src/recording/reader.ts';
import { outcomeOf } from '../../../src/trading/intent.ts';
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
    expect(recordedLatencies(recording)).toEqual({ quote: Array.from({ length: 21 }, (_, n) => 200 + n), land: Array.from({ length: 21 }, (_, n) => 1_000 + 2 * n) });
    const { latency } = withRecordedLatency(asked, recording, 'it');
    expect([0, 0.5, 1].map((share) => latencyAt(latency.quote, share))).toEqual([200, 210, 220]);
    expect([0, 0.5, 1].map((share) => latencyAt(latency.land, share))).toEqual([1_000, 1_020, 1_040]);
    expect(latencyAt(latency.sign, 0.5)).toBe(0);
  });

  it('are those that were known before an instant, where nothing later may be known', async () => {
    const recording = await recordingOf(30);
    // The 26th swap is decided at 250 s, signed 225 ms later, and seen in its block a second after that.
    expect(recordedLatencies(recording, 250_300)).toEqual({ quote: Array.from({ length: 26 }, (_, n) => 200 + n), land: Array.from({ length: 25 }, (_, n) => 1_000 + 2 * n) });
    expect(() => withRecordedLatency(asked, recording, 'run-1', 150_000)).toThrow(/whose run made 15 swaps before 1970-01-01T00:02:30\.000Z; at least 20/);
  });

  it('are refused where the run made too few swaps, naming how many; and not looked for where nobody wants them', async () => {
    const recording = await recordingOf(19);
    expect(() => withRecordedLatency(asked, recording, 'run-1')).toThrow(/backtest\.latency\.quote is to come from run-1, whose run made 19 swaps; at least 20/);
    expect(withRecordedLatency(BASE_MODEL, recording, 'run-1')).toEqual(BASE_MODEL);
  });
});
