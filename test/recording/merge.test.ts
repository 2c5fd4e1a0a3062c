import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { zstdDecompressSync } from 'node:zlib';
import type { Amount, Bps } from '../../src/core/amount.ts';
import { SOL_MINT, USDC_MINT } from '../../src/market/token.ts';
import { compactRecording } from '../../src/recording/compression/compact.ts';
import { openRecording } from '../../src/recording/reader.ts';
import { openWindow } from '../../src/recording/window.ts';
import type { RecordingWriter } from '../../src/recording/writer.ts';
import { buyingSol, stats } from '../market/events.ts';
import { SOL } from '../market/tokens.ts';
import { readBack } from './arbitrary-inputs.ts';
import { copyOf, openWriter, temporaryFolder } from './temporary.ts';

const START = Date.UTC(2026, 10, 20, 12);
const HOUR = 3_600_000;

/** Writes quotes of one feed for an hour, each in a batch of its own, with numbers as a market makes them. */
function writeSlowFeed(writer: RecordingWriter, everyMs: number): number {
  let [state, out, seq] = [12_345, 166_000_000, 0];
  const chance = (): number => (state = (state * 48_271) % 2_147_483_647);
  for (let time = 0; time < HOUR; time += everyMs) {
    const at = START + time + (chance() % 900);
    out += (chance() % 20_001) - 10_000;
    seq += 1 + (chance() % 8);
    writer.append(seq, at, {
      kind: 'quote', feed: `quote:${USDC_MINT}:${SOL_MINT}:25000000`, receivedAt: at - (chance() % 3),
      inputMint: USDC_MINT, outputMint: SOL_MINT, inAmount: 25_000_000n as Amount, outAmount: BigInt(out) as Amount,
      threshold: BigInt(Math.floor(out * 0.995)) as Amount, contextSlot: BigInt(300_000_000 + Math.floor(at / 400)),
      router: ['iris', 'routerA'][chance() % 2]!, feeBps: 0 as Bps, rate: out / 25_000_000,
    });
    writer.flush();
  }
  return Math.ceil(HOUR / everyMs);
}

describe('a segment of small batches', () => {
  it.each([5_000, 10_000, 20_000])('costs at most 20 bytes a quote when one comes every %i ms', async (everyMs) => {
    const writer = openWriter(temporaryFolder());
    const quotes = writeSlowFeed(writer, everyMs);
    const open = copyOf(writer.directory);
    const { files: [file] } = await writer.close();
    expect(file!.bytes / quotes).toBeLessThanOrEqual(20);
    expect(file!.compressed!.unmergedBytes! / quotes).toBeGreaterThan(500);
    expect(readBack(openRecording(writer.directory))).toStrictEqual(readBack(openRecording(open)));
    const stream = zstdDecompressSync(readFileSync(join(writer.directory, file!.file)));
    expect(stream.length).toBe(file!.compressed!.rawBytes);
  });

  it('has the same identity merged or not, so that a warm-up from it can be repeated', async () => {
    const writer = openWriter(temporaryFolder());
    writeSlowFeed(writer, 60_000);
    writer.append(9_000, START + HOUR - 1, stats(SOL, 150, START + HOUR - 1));
    writer.flush();
    const killed = copyOf(writer.directory);
    await writer.close();
    const span = { from: START, until: START + HOUR };
    const before = openWindow(killed, span)!.sha256;
    expect((await compactRecording(killed)).segments).toBe(2);
    const after = openWindow(killed, span)!;
    expect(after.sha256).toBe(before);
    for (const { compressed } of openRecording(killed).segments) expect(compressed!.unmergedBytes).toBeGreaterThan(0);
    expect(openRecording(killed).truncatedAt).toBe(9_000);
  });

  it('is read to its old end by a reader that opened it before it was merged', async () => {
    const writer = openWriter(temporaryFolder());
    const at = (minute: number): number => START + minute * 60_000;
    for (let minute = 0; minute < 30; minute++) {
      writer.append(minute + 1, at(minute), buyingSol(150_000 + minute, at(minute)));
      writer.flush();
    }
    const early = openRecording(writer.directory);
    const expected = readBack(early);
    for (let minute = 30; minute < 60; minute++) {
      writer.append(minute + 1, at(minute), buyingSol(150_000 + minute, at(minute)));
      writer.flush();
    }
    await writer.close();
    expect(readBack(early)).toStrictEqual(expected);
    expect(expected).toHaveLength(30);
    expect(readBack(openRecording(writer.directory))).toHaveLength(60);
  });
});
