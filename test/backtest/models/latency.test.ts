import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chanceOf } from '../../../src/backtest/models/landing.ts';
import { knownBefore, latencyAt, quantilesOf } from '../../../src/backtest/models/latency.ts';
import { assumedUntil, withRecordedRun } from '../../../src/backtest/models/recorded-model.ts';
import { recordedRun } from '../../../src/backtest/models/recorded-run.ts';
import { openRecording } from '../../../src/recording/reader.ts';
import type { Amount, Lamports } from '../../../src/core/amount.ts';
import type { Fill } from '../../../src/trading/intent.ts';
import { outcomeOf } from '../../../src/trading/intent.ts';
import type { SimulationModel } from '../../../src/trading/simulation-model.ts';
import { BASE_MODEL } from '../../../src/trading/simulation-model.ts';
import { SOL, USDC } from '../../market/tokens.ts';
import { openWriter, temporaryFolder } from '../../recording/temporary.ts';

const LAND = [{ share: 0.1, latencyMs: 800 }, { share: 0.5, latencyMs: 1_500 }, { share: 0.9, latencyMs: 2_500 }];

describe('a latency', () => {
  it('lies between the quantiles that are known, and is flat outside them', () => {
    expect([0, 0.1, 0.3, 0.5, 0.7, 0.9, 0.999].map((share) => latencyAt(LAND, share)))
      .toEqual([800, 800, 1_150, 1_500, 2_000, 2_500, 2_500]);
    expect([0, 0.5, 1].map((share) => latencyAt([{ share: 0.5, latencyMs: 300 }], share))).toEqual([300, 300, 300]);
  });

  it('keeps the quantiles of a thousand measured latencies', () => {
    const measured = quantilesOf(Array.from({ length: 1_001 }, (_, n) => (n * 7_919) % 1_001));
    for (const share of [0, 0.05, 0.5, 0.9, 0.99, 1])
      expect(latencyAt(measured, share)).toBe(Math.round(share * 1_000));
    expect(latencyAt(quantilesOf([42]), 0.9)).toBe(42);
  });

  it('never decreases with the share, and stays within the measured range', () => {
    fc.assert(fc.property(fc.array(fc.integer({ min: 0, max: 100_000 }), { minLength: 1, maxLength: 200 }),
      fc.double({ min: 0, max: 1, noNaN: true }), fc.double({ min: 0, max: 1, noNaN: true }), (times, a, b) => {
        const quantiles = quantilesOf(times);
        expect(latencyAt(quantiles, Math.min(a, b))).toBeLessThanOrEqual(latencyAt(quantiles, Math.max(a, b)));
        expect(latencyAt(quantiles, a)).toBeGreaterThanOrEqual(Math.min(...times));
        expect(latencyAt(quantiles, a)).toBeLessThanOrEqual(Math.max(...times));
      }));
  });
});

describe('the random numbers of an attempt', () => {
  it('follow from seed and id alone, differ between ids, and are uniform', () => {
    expect(chanceOf(7, 'dip-1')).toEqual(chanceOf(7, 'dip-1'));
    expect(chanceOf(7, 'dip-1')).not.toEqual(chanceOf(8, 'dip-1'));
    expect(chanceOf(7, 'dip-1').land).not.toBe(chanceOf(7, 'dip-2').land);
    const dropped = Array.from({ length: 4_000 }, (_, n) => chanceOf(7, `dip-${n}`))
      .filter(({ drop }) => drop < 0.1).length;
    expect(dropped).toBeGreaterThan(340);
    expect(dropped).toBeLessThan(460);
  });
});

const FILL: Fill = {
  inputMint: USDC.mint, outputMint: SOL.mint, amountIn: 25_000_000n as Amount, amountOut: 200_000_000n as Amount,
  feeLamports: 0n as Lamports, rentLamports: 0n as Lamports,
};

/** With a slot they landed on a chain; without one the run was a paper run. */
async function recordingOf(swaps: number, slot?: bigint, { buildMs = 0 }: { readonly buildMs?: number } = {}) {
  const writer = openWriter(temporaryFolder());
  let seq = 0;
  for (let n = 0; n < swaps; n++) {
    const at = n * 10_000;
    const steps = [
      ['building', 0], ['signed', 200 + n], ['submitted', 201 + n],
      [n % 5 === 4 ? 'failed' : 'confirmed', 1_200 + 3 * n + (n % 2) * buildMs],
    ] as const;
    for (const [state, after] of steps) writer.append(++seq, at + after, outcomeOf(`swap-${n}`, state, {
      router: buildMs > 0 && n % 2 === 1 ? 'build' : 'iris', ...(state === 'confirmed' ? { slot, fill: FILL } : {}),
    }));
  }
  // Unfinished, or of a further attempt: they do not tell a latency.
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
    expect(recordedRun(recording).latencies).toEqual({
      quote: swaps.map((n) => ({ at: n * 10_000 + 200 + n, latencyMs: 200 + n, route: 'order' })),
      land: swaps.map((n) => ({ at: n * 10_000 + 1_200 + 3 * n, latencyMs: 1_000 + 2 * n, route: 'order' })),
    });
    const { latency } = withRecordedRun(asked, recording, 'it');
    expect([0, 0.5, 1].map((share) => latencyAt(knownBefore(latency.quote, Infinity), share))).toEqual([200, 210, 219]);
    expect([0, 0.5, 1].map((share) => latencyAt(knownBefore(latency.land, Infinity), share)))
      .toEqual([1_000, 1_019, 1_038]);
    expect(latencyAt(latency.sign, 0.5)).toBe(0);
  });

  it('are at each instant those known before it, and the default ones until there are enough', async () => {
    const [short, long] = (await Promise.all([30, 60].map((swaps) => recordingOf(swaps))))
      .map((recording) => withRecordedRun(asked, recording, 'run-1')) as [SimulationModel, SimulationModel];
    // The 20th swap is signed at 190.219 s, and in its block a second and 38 ms later.
    const last = { quote: 190_219, land: 191_257 };
    for (const key of ['quote', 'land'] as const) {
      expect(knownBefore(long.latency[key], last[key])).toEqual(BASE_MODEL.latency[key]);
      expect(knownBefore(long.latency[key], last[key] + 1)).not.toEqual(BASE_MODEL.latency[key]);
      // Later records do not change the distribution before them.
      for (let at = 0; at <= 290_000; at += 1_000)
        expect(knownBefore(long.latency[key], at)).toEqual(knownBefore(short.latency[key], at));
      const most = (at: number): number => latencyAt(knownBefore(long.latency[key], at), 1);
      expect(most(400_000)).toBeGreaterThan(most(290_000));
    }
    expect([
      assumedUntil(long, 0), assumedUntil(long, 191_256), assumedUntil(long, 191_257), assumedUntil(BASE_MODEL, 0),
    ]).toEqual([191_257, 191_257, undefined, undefined]);
  });

  it('issue 13.5: are used by default, for each route, where the run landed swaps on a chain', async () => {
    const recordedOr = [{ share: 0.5, latencyMs: 9_000 }];
    const unasked = { ...BASE_MODEL, latency: { ...BASE_MODEL.latency, quote: { recordedOr }, land: { recordedOr } } };
    const [paper, few, landed] = await Promise.all([recordingOf(30), recordingOf(20, 7n), recordingOf(30, 7n)]);
    for (const none of [paper, few]) expect(withRecordedRun(unasked, none, 'run-1').latency)
      .toEqual({ ...BASE_MODEL.latency, quote: recordedOr, land: recordedOr });
    expect(withRecordedRun(unasked, paper, 'run-1').recordedSwaps).toBeUndefined();
    const { latency, recordedSwaps } = withRecordedRun(unasked, landed, 'run-1');
    expect([1, 30_203, 30_204, 900_000].map((at) => latencyAt(knownBefore(latency.quote, at), 1)))
      .toEqual([202, 202, 203, 229]);
    expect([1, 900_000].map((at) => latencyAt(knownBefore(latency.land, at), 0))).toEqual([1_000, 1_000]);
    expect(assumedUntil({ ...BASE_MODEL, latency }, 1)).toBeUndefined();
    // Every other swap was composed locally, and took a second more to land.
    const routes = withRecordedRun(unasked, await recordingOf(60, 7n, { buildMs: 1_000 }), 'run-1').latency.land;
    expect((['order', 'build'] as const).map((route) => latencyAt(knownBefore(routes, 900_000, route), 0)))
      .toEqual([1_000, 2_002]);
    expect(recordedSwaps).toHaveLength(24);
    expect(recordedSwaps![0])
      .toEqual({ at: 1_200, inputMint: USDC.mint, outputMint: SOL.mint, inAmount: 25_000_000n, accepted: undefined });
  });

  it('are refused with a count where the run made too few swaps, and not read by default', async () => {
    const recording = await recordingOf(19);
    expect(() => withRecordedRun(asked, recording, 'run-1'))
      .toThrow(/backtest\.latency\.quote is to come from run-1, whose run made 19 swaps; at least 20/);
    expect(withRecordedRun(BASE_MODEL, recording, 'run-1')).toEqual(BASE_MODEL);
  });
});
