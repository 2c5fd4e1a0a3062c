import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sampleRecording } from '../../src/report/price-samples.ts';
import { writeEvents } from '../../src/recording/import/write-events.ts';
import { openRecording } from '../../src/recording/reader.ts';
import type { MarketEvent } from '../../src/market/event.ts';
import { market, tradingRun } from './reports.ts';
import { buyingSol, sellingSol } from '../market/events.ts';
import { SOL, TOKENS, USDC } from '../market/tokens.ts';

const folder = mkdtempSync(join(tmpdir(), 'gannet-samples-'));
afterAll(() => { rmSync(folder, { recursive: true }); });

const MINUTE = 60_000;
const run = tradingRun();
const events = market({ quotes: 240, everyMs: MINUTE });

/** Returns the samples of a recording of such events. */
async function samplesOf(name: string, heard: readonly MarketEvent[]): Promise<ReturnType<typeof sampleRecording>> {
  const { directory } = await writeEvents(heard, {
    directory: join(folder, name), tokens: [SOL, USDC], source: { kind: 'synthetic', market: 'swings', seed: 1 },
    startAt: 0, interrupt: new AbortController().signal,
  });
  return sampleRecording(openRecording(directory), { run, tokens: TOKENS, currency: USDC });
}

describe('the samples of a recording in a report', () => {
  let samples: ReturnType<typeof sampleRecording>;
  beforeAll(async () => {
    samples = await samplesOf('run', events);
  });

  it('contain each price recorded around the swaps, in both directions, in the currency', () => {
    const prices = samples.prices.get('SOL')!;
    expect(prices.lines.map(({ label }) => label)).toEqual(['a purchase takes', 'a sale brings']);
    expect(prices.source).toMatch(/^As recorded: 25 USDC into SOL, and [\d.]+ SOL into USDC\.$/);
    const times = new Set(events.map(({ receivedAt }) => receivedAt));
    expect(prices.times.length).toBeGreaterThan(40);
    expect(prices.times.filter((at) => !times.has(at))).toEqual([]);
    for (const [i] of prices.times.entries()) {
      const [asked, bid] = prices.lines.map(({ values }) => values[i]!);
      expect(asked! - bid!).toBeGreaterThan(0.1);
      expect(asked! - bid!).toBeLessThan(0.5);
    }
  });

  it('contain the last rate quoted before each decision, and no later one', () => {
    expect(samples.decisionRates.size).toBe(run.result.fills.length);
    for (const { intent } of run.result.fills) {
      const last = events.findLast((event) => event.kind === 'quote' && event.receivedAt <= intent.createdAt);
      if (last?.kind !== 'quote') throw new Error('expected a quote before each decision');
      const rate = Number(last.outAmount) / Number(last.inAmount);
      const expected = last.inputMint === intent.inputMint ? rate : 1 / rate;
      expect(samples.decisionRates.get(intent.id)).toBeCloseTo(expected, 12);
    }
  });

  it('contain the spans without data', () => {
    expect([samples.silences.all, samples.silences.bySymbol.get('SOL')]).toEqual([[], []]);
  });

  it.each([
    ['at one instant', 0], ['some moments apart', 8],
  ])('find gaps between candles with two sizes %s only where candles are missing', async (
    name, lateMs,
  ) => {
    const ends = Array.from({ length: 100 }, (_, candle) => (candle + 1) * 5 * MINUTE)
      .filter((at) => at <= 200 * MINUTE || at >= 260 * MINUTE);
    const { silences } = await samplesOf(name, ends.flatMap((at) =>
      [buyingSol(150_000, at), sellingSol(150_000, at + lateMs)]));
    expect([silences.all, silences.bySymbol.get('SOL')])
      .toEqual(Array.from({ length: 2 }, () => [{ from: 200 * MINUTE + lateMs, until: 260 * MINUTE }]));
  });
});
