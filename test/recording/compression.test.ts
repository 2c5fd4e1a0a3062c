import { createHash } from 'node:crypto';
import {
  existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, truncateSync, writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import { VirtualTimeScheduler } from 'rxjs';
import { describe, expect, it, vi } from 'vitest';
import { runToEnd } from '../../src/core/chunked-work.ts';
import type { Amount, Bps } from '../../src/core/amount.ts';
import type { GannetError } from '../../src/core/errors.ts';
import { SOL_MINT, USDC_MINT } from '../../src/market/token.ts';
import { formatManifest, parseManifest } from '../../src/recording/manifest.ts';
import { openRecording } from '../../src/recording/reader.ts';
import { formatDigestLine } from '../../src/recording/segment/digest.ts';
import type { RecordingWriter } from '../../src/recording/writer.ts';
import { createRecordingWriter } from '../../src/recording/writer.ts';
import { buyingSol, stats } from '../market/events.ts';
import { SOL } from '../market/tokens.ts';
import { readBack } from './arbitrary-inputs.ts';
import { copyOf, filesIn, openWriter, temporaryFolder } from './temporary.ts';

const HOUR = 3_600_000;
const FILE = 'quote/1970-01-01T00.arrows';
const corrupt = expect.objectContaining({ code: 'RECORDING_CORRUPT' });

/** Two hours of quotes and statistics, flushed and not closed. */
function twoHours(writer: RecordingWriter = openWriter(temporaryFolder())): RecordingWriter {
  let seq = 0;
  for (let at = 0; at < 2 * HOUR; at += 30_000) {
    writer.append(++seq, at, buyingSol(150_000 + seq, at));
    if (at % 600_000 === 0) writer.append(++seq, at, stats(SOL, 150, at));
  }
  writer.flush();
  return writer;
}

/** The same recording before and after its first hour of quotes was compressed, and the digest that says so. */
async function beforeAndAfter(): Promise<{ readonly open: string; readonly closed: string; readonly line: string }> {
  const writer = twoHours();
  const open = copyOf(writer.directory);
  const manifest = await writer.close();
  const digest = manifest.files.find(({ file }) => file === `${FILE}.zst`)!;
  return { open, closed: writer.directory, line: formatDigestLine({ ...digest, newFeeds: [] }) };
}

/** Numbers as they come from a market: nothing repeats that does not repeat there. */
function writeQuotes(writer: RecordingWriter, count: number): void {
  let [state, seq, out] = [12_345, 0, 166_000_000];
  const chance = (): number => (state = (state * 48_271) % 2_147_483_647);
  for (let index = 0; index < count; index++) {
    seq += 1 + (chance() % 3);
    out += (chance() % 20_001) - 10_000;
    const at = 1_790_000_000_000 + index * 40 + (chance() % 40);
    writer.append(seq, at, {
      kind: 'quote', feed: 'quote:a', receivedAt: at - (chance() % 3), eventAt: at - 40 - (chance() % 200),
      inputMint: USDC_MINT, outputMint: SOL_MINT, inAmount: 25_000_000n as Amount, outAmount: BigInt(out) as Amount,
      threshold: BigInt(Math.floor(out * 0.995)) as Amount,
      contextSlot: BigInt(300_000_000 + Math.floor(at / 400)), router: ['iris', 'routerA'][chance() % 2]!,
      feeBps: 0 as Bps, rate: out / 25_000_000,
    });
  }
}

describe('a complete segment', () => {
  it('becomes a zstd file of at most 20 bytes a quote that any decompressor restores to the Arrow stream', async () => {
    const writer = openWriter(temporaryFolder());
    writeQuotes(writer, 40_000);
    writer.flush();
    const open = copyOf(writer.directory);
    const { files } = await writer.close();
    expect(files.map(({ file }) => file)).toStrictEqual(['quote/2026-09-21T14.arrows.zst']);
    const [file] = files;
    expect(statSync(join(writer.directory, file!.file)).size).toBe(file!.bytes);
    expect(file!.bytes / 40_000).toBeLessThan(20);
    expect(file!.compressed!.frames.length).toBeGreaterThan(3);
    const stream = frames(readFileSync(join(writer.directory, file!.file)), file!.compressed!.frames)
      .map((frame) => zstdDecompressSync(frame));
    const before = readFileSync(join(open, 'quote/2026-09-21T14.arrows'));
    expect(Buffer.concat(stream).subarray(0, before.length).equals(before)).toBe(true);
    expect(readBack(openRecording(writer.directory))).toStrictEqual(readBack(openRecording(open)));
  });

  it('is compressed during the recording, and read equally by an earlier reader', async () => {
    const clock = new VirtualTimeScheduler();
    const writer =
      createRecordingWriter({ dir: temporaryFolder(), clock, tokens: [], onError: (error) => { throw error; } });
    writeQuotes(writer, 15_000);
    writer.flush();
    const expected = readBack(openRecording(writer.directory));
    const early = openRecording(writer.directory);
    const cursor = early.cursor();
    for (let row = 0; row < 5_000; row++) cursor.next();
    const next = expected.at(-1)!;
    writer.append(next.seq + 1, next.at + HOUR, {
      kind: 'command', name: 'leap-time', from: 1, reason: 'another kind',
    });
    writer.append(next.seq + 2, next.at + HOUR, buyingSol(150_000, next.at + HOUR));
    clock.maxFrames = 1_000;
    clock.flush();
    const open = join(writer.directory, 'quote/2026-09-21T14.arrows');
    await vi.waitFor(() => { expect(existsSync(open)).toBe(false); }, { timeout: 20_000, interval: 20 });
    let rows = 5_000;
    while (cursor.next()) rows += 1;
    expect([rows, cursor.seq]).toStrictEqual([15_000, next.seq]);
    expect(readBack(early)).toStrictEqual(expected);
    expect(readBack(openRecording(writer.directory)).slice(0, 15_000)).toStrictEqual(expected);
    expect(readBack(early.cutAt(expected[13_000]!.seq))).toHaveLength(13_001);
    await writer.close();
    expect(readBack(openRecording(writer.directory)).slice(0, 15_000)).toStrictEqual(expected);
  });

  it('remains uncompressed when the disk has no room, and is tried again at the end', async () => {
    const clock = new VirtualTimeScheduler();
    const writer = twoHours(createRecordingWriter(
      { dir: temporaryFolder(), name: 'run', clock, tokens: [], onError: (error) => { throw error; } },
    ));
    const expected = readBack(openRecording(writer.directory));
    const hindrance = join(writer.directory, `${FILE}.zst.new`);
    mkdirSync(join(hindrance, 'deep'), { recursive: true });
    clock.maxFrames = 1_000;
    clock.flush();
    await vi.waitFor(() => { expect(writer.stats().uncompressed).toBe(1); }, { timeout: 20_000, interval: 20 });
    expect(writer.stats().failed).toBe(false);
    expect(readBack(openRecording(writer.directory))).toStrictEqual(expected);
    const hindered = copyOf(writer.directory);
    rmSync(hindrance, { recursive: true });
    const { files } = await writer.close();
    expect(files.every(({ file }) => file.endsWith('.zst'))).toBe(true);
    expect(readBack(openRecording(writer.directory))).toStrictEqual(expected);
    expect(readBack(openRecording(hindered))).toStrictEqual(expected);
  });

  it('is reported and not compressed when its bytes changed', async () => {
    const errors: GannetError[] = [];
    const writer = twoHours(openWriter(temporaryFolder(), { onError: (error) => { errors.push(error); } }));
    const path = join(writer.directory, FILE);
    const bytes = readFileSync(path);
    bytes[bytes.length >> 1]! ^= 1;
    writeFileSync(path, bytes);
    await expect(writer.close()).rejects.toThrow(corrupt);
    expect(errors).toMatchObject([{ code: 'RECORDING_CORRUPT', message: expect.stringContaining(FILE) }]);
    expect(readFileSync(path).subarray(0, bytes.length).equals(bytes)).toBe(true);
    expect(existsSync(`${path}.zst`)).toBe(false);
  });
});

describe('a writer killed during compression', () => {
  it('leaves a complete recording at any point', async () => {
    const { open, closed, line } = await beforeAndAfter();
    const expected = readBack(openRecording(closed));
    const packed = readFileSync(join(closed, `${FILE}.zst`));
    const put = (name: string, bytes: Buffer): string => {
      const place = copyOf(open);
      writeFileSync(join(place, name), bytes);
      return place;
    };
    for (const length of [0, 1, 4, packed.length >> 1, packed.length - 1, packed.length]) {
      expect(readBack(openRecording(put(`${FILE}.zst.new`, packed.subarray(0, length)))), `unfinished, ${length} bytes`)
        .toStrictEqual(expected);
    }
    const named = put(`${FILE}.zst`, packed);
    expect(readBack(openRecording(named)), 'named, without a digest').toStrictEqual(expected);
    const digests = readFileSync(join(open, 'digests.ndjson'), 'utf8');
    for (let length = 0; length <= line.length; length += length < line.length - 8 ? 9 : 1) {
      writeFileSync(join(named, 'digests.ndjson'), digests + line.slice(0, length));
      expect(readBack(openRecording(named)), `${length} bytes of its digest`).toStrictEqual(expected);
    }
    rmSync(join(named, FILE));
    expect(readBack(openRecording(named)), 'the old file gone').toStrictEqual(expected);
  });

  it('leaves the old file valid while the new one is shorter than its digest', async () => {
    const { open, closed, line } = await beforeAndAfter();
    const place = copyOf(open);
    writeFileSync(join(place, `${FILE}.zst`), readFileSync(join(closed, `${FILE}.zst`)).subarray(0, -1));
    writeFileSync(join(place, 'digests.ndjson'), line, { flag: 'a' });
    expect(readBack(openRecording(place))).toStrictEqual(readBack(openRecording(closed)));
  });
});

describe('a compressed segment of an unclosed recording', () => {
  it('is refused for any changed or appended byte', async () => {
    const { open, closed, line } = await beforeAndAfter();
    rmSync(join(open, FILE));
    writeFileSync(join(open, 'digests.ndjson'), line, { flag: 'a' });
    const path = join(open, `${FILE}.zst`);
    const packed = readFileSync(join(closed, `${FILE}.zst`));
    const positions = [...Array.from({ length: 24 }, (_, index) => index), ...Array.from({ length: 60 }, (_, index) =>
      Math.floor((index * (packed.length - 1)) / 59))];
    for (const position of positions) {
      const bytes = Buffer.from(packed);
      bytes[position]! ^= 0x10;
      writeFileSync(path, bytes);
      expect(() => openRecording(open), `byte ${position}`).toThrow(corrupt);
    }
    writeFileSync(path, Buffer.concat([packed, Buffer.of(0)]));
    expect(() => openRecording(open)).toThrow(corrupt);
    writeFileSync(path, packed);
    expect(openRecording(open).truncatedAt).toBeGreaterThan(0);
  });

  it('is left out when it is truncated, and is never read in part', async () => {
    const { open, closed, line } = await beforeAndAfter();
    renameSync(join(closed, `${FILE}.zst`), join(open, `${FILE}.zst`));
    rmSync(join(open, FILE));
    truncateSync(join(open, `${FILE}.zst`), 100);
    writeFileSync(join(open, 'digests.ndjson'), line, { flag: 'a' });
    const quotes = readBack(openRecording(open), { kinds: ['quote'] });
    expect(quotes.every(({ at }) => at >= HOUR)).toBe(true);
    expect(runToEnd(openRecording(open).lastGapFreeSeq([]))).toBe(0);
  });
});

describe('a recording of format 1', () => {
  it('is read as it was written, both open and closed', async () => {
    const writer = twoHours();
    const open = copyOf(writer.directory);
    const manifest = parseManifest(readFileSync(join(open, 'manifest.json'), 'utf8'));
    expect(manifest.formatVersion).toBe(2);
    const asFirst = { ...manifest, formatVersion: 1 };
    writeFileSync(join(open, 'manifest.json'), formatManifest(asFirst));
    const expected = readBack(openRecording(writer.directory));
    expect(readBack(openRecording(open))).toStrictEqual(expected);
    const files = openRecording(open).segments;
    const lines = files.map((digest) => formatDigestLine({ ...digest, newFeeds: [] })).join('');
    writeFileSync(join(open, 'digests.ndjson'), lines);
    // Format 1 ends with the files as they were appended to; here nothing was cut off.
    writeFileSync(join(open, 'manifest.json'), formatManifest({
      ...asFirst, closed: true, endedAt: 2 * HOUR, files,
      digestsSha256: createHash('sha256').update(lines).digest('hex'),
    }));
    for (const { file, bytes } of files) truncateSync(join(open, file), bytes);
    expect(filesIn(open).filter((file) => file.endsWith('.zst'))).toStrictEqual([]);
    expect(openRecording(open).truncatedAt).toBeUndefined();
    expect(readBack(openRecording(open))).toStrictEqual(expected);
    await writer.close();
  });
});

function frames(bytes: Buffer, lengths: readonly number[]): Buffer[] {
  let start = 0;
  return lengths.map((length) => bytes.subarray(start, start += length));
}
