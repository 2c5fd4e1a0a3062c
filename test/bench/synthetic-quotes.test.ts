import { describe, expect, it } from 'vitest';
import { syntheticQuotes } from '../../src/bench/synthetic-quotes.ts';
import type { Quote } from '../../src/market/quote.ts';
import { rateOf } from '../../src/market/quote.ts';
import { SOL_MINT, USDC_MINT } from '../../src/market/token.ts';
import { openRecording } from '../../src/recording/reader.ts';
import { readBack } from '../recording/arbitrary-inputs.ts';
import { openWriter, temporaryFolder } from '../recording/temporary.ts';

const instruments = [
  { inputMint: USDC_MINT, outputMint: SOL_MINT, amount: 25_000_000n as never, startRate: 6.67 },
  { inputMint: SOL_MINT, outputMint: USDC_MINT, amount: 1_000_000_000n as never, startRate: 0.15 },
];

function walk(seed: number): unknown {
  return readBack(syntheticQuotes({ count: 100, instruments, seed, stepMs: 5 }));
}

describe('synthetic quotes', () => {
  it('are the same for the same seed, and others for another seed', () => {
    expect(walk(1)).toStrictEqual(walk(1));
    expect(walk(1)).not.toStrictEqual(walk(2));
  });

  it('alternate between instruments, near their start prices', () => {
    const source = syntheticQuotes({ count: 70_001, instruments, seed: 1, stepMs: 5, startAt: 1_000 });
    const rows = readBack(source);
    expect([source.events, source.firstAt, source.lastAt, source.feeds.length])
      .toStrictEqual([70_001, 1_000, 351_000, 2]);
    expect(rows).toHaveLength(70_001);
    expect(rows.at(-1))
      .toMatchObject({ seq: 70_001, at: 351_000, input: { receivedAt: 351_000, inputMint: USDC_MINT } });
    expect((rows[0]!.input as Quote).rate).toBeCloseTo(6.67, 1);
    expect((rows[1]!.input as Quote).rate).toBeCloseTo(0.15, 2);
  });

  it('are read from a recording as they were written', async () => {
    const source = syntheticQuotes({ count: 10_000, instruments, seed: 4, stepMs: 5 });
    const writer = openWriter(temporaryFolder());
    const cursor = source.cursor();
    while (cursor.next()) writer.append(cursor.seq, cursor.at, cursor.input);
    await writer.close();
    const recording = openRecording(writer.directory);
    expect(readBack(recording)).toStrictEqual(readBack(source));
    expect([...recording.feeds].sort()).toStrictEqual([...source.feeds].sort());
  });

  it('have the rate of their bigint amounts as a double', () => {
    const large =
      [{ inputMint: USDC_MINT, outputMint: SOL_MINT, amount: 18_446_744_073_709_551_557n as never, startRate: 0.4321 }];
    const cursor = syntheticQuotes({ count: 1_000, instruments: large, seed: 2, stepMs: 1 }).cursor();
    while (cursor.next()) {
      const { input } = cursor;
      if (input.kind === 'quote') expect(input.rate).toBe(rateOf(input.inAmount, input.outAmount));
    }
  });
});
