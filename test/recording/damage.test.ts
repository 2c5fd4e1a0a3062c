import * as fc from 'fast-check';
import { readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runToEnd } from '../../src/core/chunked-work.ts';
import { openRecording } from '../../src/recording/reader.ts';
import type { PlainStamped, Stamped } from './arbitrary-inputs.ts';
import { asPlain, readBack, stampedInputs } from './arbitrary-inputs.ts';
import { appendAll, copyOf, filesIn, openWriter, temporaryFolder } from './temporary.ts';

const corrupt = expect.objectContaining({ code: 'RECORDING_CORRUPT' });

/** Inputs of all kinds within one hour, numbered without gaps. */
function sampleInputs(seed: number): Stamped[] {
  return fc.sample(stampedInputs, { numRuns: 4, seed }).flat().map(({ input }, index) => {
    const at = 1_790_000_000_000 + index;
    return { seq: index + 1, at, input: 'receivedAt' in input ? { ...input, receivedAt: at } : input };
  });
}

/** A recording whose writer stopped without closing it. */
function tornRecording(rows: readonly Stamped[], flushEvery: number): string {
  const writer = openWriter(temporaryFolder());
  appendAll(writer, rows, flushEvery);
  return writer.directory;
}

async function closedRecording(rows: readonly Stamped[]): Promise<string> {
  const writer = openWriter(temporaryFolder(), { flushRows: 5 });
  appendAll(writer, rows, 11);
  await writer.close();
  return writer.directory;
}

function flipByte(path: string, position: number, mask: number): void {
  const bytes = readFileSync(path);
  bytes[position]! ^= mask;
  writeFileSync(path, bytes);
}

/** Positions spread over a file, the ends among them. */
function positionsIn(path: string, count: number): number[] {
  const { length } = readFileSync(path);
  return [...new Set(Array.from({ length: count }, (_, index) => Math.floor((index * (length - 1)) / (count - 1))))];
}

function byKind(rows: readonly PlainStamped[]): Map<string, PlainStamped[]> {
  return Map.groupBy(rows, ({ input }) => (input as { kind: string }).kind);
}

/** Per kind: what was read is what was written, from the first on. */
function expectPrefixes(found: readonly PlainStamped[], written: readonly PlainStamped[]): void {
  for (const [kind, rows] of byKind(found))
    expect(rows).toStrictEqual((byKind(written).get(kind) ?? []).slice(0, rows.length));
  expect(found.map(({ seq }) => seq)).toStrictEqual(found.map(({ seq }) => seq).toSorted((a, b) => a - b));
}

describe('a closed recording with one byte changed', () => {
  it('is refused for any byte in any file', async () => {
    const recording = await closedRecording(sampleInputs(1));
    for (const file of filesIn(recording)) {
      const path = join(recording, file);
      for (const [index, position] of positionsIn(path, 40).entries()) {
        const mask = [1, 0x80, 0x20, 0xff][index % 4]!;
        flipByte(path, position, mask);
        expect(() => openRecording(recording), `${file} at ${position}`)
          .toThrow(expect.objectContaining({ code: expect.stringMatching(/^RECORDING_/) }));
        flipByte(path, position, mask);
      }
    }
    expect(openRecording(recording).truncatedAt).toBeUndefined();
  });

  it('is refused with the name of the file, what was expected and what was found', async () => {
    const recording = await closedRecording(sampleInputs(1));
    const file = filesIn(recording).find((name) => name.endsWith('.arrows.zst'))!;
    flipByte(join(recording, file), 100, 1);
    expect(() => openRecording(recording)).toThrow(expect.objectContaining({
      code: 'RECORDING_CORRUPT', message: expect.stringMatching(new RegExp(`^${file.replaceAll('.', '\\.')} `
        + `\\(\\d+ rows of 2026-[^)]*\\): expected SHA-256 [0-9a-f]{64} .* found [0-9a-f]{64}`)),
    }));
  });

  it('is refused when a file is truncated or missing', async () => {
    const recording = await closedRecording(sampleInputs(2));
    for (const file of filesIn(recording).filter((name) => name !== 'manifest.json')) {
      const shortened = copyOf(recording);
      truncateSync(join(shortened, file), 50);
      expect(() => openRecording(shortened)).toThrow(corrupt);
      rmSync(join(shortened, file));
      expect(() => openRecording(shortened)).toThrow(corrupt);
    }
  });
});

describe('an unclosed recording', () => {
  it('contains what was flushed, and says where it ends', () => {
    const rows = sampleInputs(3);
    const recording = openRecording(tornRecording(rows, 10));
    const flushed = rows.slice(0, rows.length - (rows.length % 10)).map(asPlain);
    expect(readBack(recording)).toStrictEqual(flushed);
    expect(recording.truncatedAt).toBe(flushed.length);
    expect(runToEnd(recording.lastGapFreeSeq([]))).toBe(flushed.length);
  });

  it('never gives a wrong row when files are truncated: each kind is a prefix of what was written', () => {
    const rows = sampleInputs(4);
    const recording = tornRecording(rows, 5);
    const written = rows.map(asPlain);
    const files = filesIn(recording).filter((name) => name !== 'manifest.json');
    fc.assert(fc.property(fc.constantFrom(...files), fc.double({ min: 0, max: 1, noNaN: true }),
      fc.constantFrom(...files), fc.double({ min: 0, max: 1, noNaN: true }), (first, firstPart, second, secondPart) => {
        const copy = copyOf(recording);
        truncateSync(join(copy, first), Math.floor(readFileSync(join(copy, first)).length * firstPart));
        truncateSync(join(copy, second), Math.floor(readFileSync(join(copy, second)).length * secondPart));
        const opened = openRecording(copy);
        expectPrefixes(readBack(opened), written);
        const end = runToEnd(opened.lastGapFreeSeq([]));
        const cut = opened.cutAt(end);
        expect(readBack(cut)).toStrictEqual(written.slice(0, end));
        expect([cut.events, cut.truncatedAt, cut.lastAt]).toStrictEqual([end, end, written[end - 1]?.at]);
      }), { numRuns: 50 });
  });

  it('ignores bytes after the last digest', () => {
    const rows = sampleInputs(5);
    const recording = tornRecording(rows, 1);
    for (const file of filesIn(recording).filter((name) => name.endsWith('.arrows'))) {
      writeFileSync(join(recording, file), Buffer.alloc(1_000, 0xee), { flag: 'a' });
    }
    writeFileSync(join(recording, 'digests.ndjson'), '{"file":"quote/', { flag: 'a' });
    expect(readBack(openRecording(recording))).toStrictEqual(rows.map(asPlain));
  });

  it('is refused or shortened when a digested byte is changed', () => {
    const rows = sampleInputs(6);
    const recording = tornRecording(rows, 10);
    const whole = openRecording(recording);
    for (const file of filesIn(recording)) {
      const path = join(recording, file);
      for (const position of positionsIn(path, 40)) {
        flipByte(path, position, 0x04);
        const isLastNewline = file === 'digests.ndjson' && position === readFileSync(path).length - 1;
        if (isLastNewline) expect(openRecording(recording).events).toBeLessThan(whole.events);
        else expect(() => openRecording(recording), `${file} at ${position}`)
          .toThrow(expect.objectContaining({ code: expect.stringMatching(/^RECORDING_/) }));
        flipByte(path, position, 0x04);
      }
    }
  });

  it('is complete up to the last number without a gap, counting decisions', () => {
    const rows = sampleInputs(7).filter(({ seq }) => seq !== 4 && seq !== 9);
    const recording = openRecording(tornRecording(rows, 1));
    expect(runToEnd(recording.lastGapFreeSeq([]))).toBe(3);
    expect(runToEnd(recording.lastGapFreeSeq([9]))).toBe(3);
    expect(runToEnd(recording.lastGapFreeSeq([4]))).toBe(8);
    const last = rows.at(-1)!.seq;
    expect(runToEnd(recording.lastGapFreeSeq([9, 4]))).toBe(last);
    expect(runToEnd(recording.lastGapFreeSeq([4, 9, last + 1, last + 2, last + 4]))).toBe(last + 2);
  });

  it('gives blocks that end at the cut', () => {
    const rows = sampleInputs(8);
    const cut = openRecording(tornRecording(rows, 1_000_000)).cutAt(7);
    expect(cut.events).toBe(0);
    const recording = openRecording(tornRecording(rows, rows.length)).cutAt(7);
    const seqs = [...recording.read()]
      .flatMap((block) => Array.from({ length: block.length }, (_, index) => block.seqAt(index)));
    expect(seqs.sort((a, b) => a - b)).toStrictEqual([1, 2, 3, 4, 5, 6, 7]);
  });
});

describe('a folder without a recording of this format', () => {
  it('is not found without a manifest', () => {
    expect(() => openRecording(join(temporaryFolder(), 'none')))
      .toThrow(expect.objectContaining({ code: 'RECORDING_NOT_FOUND' }));
  });

  it('is refused with the release that reads it', () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'manifest.json'), '{"format_version": 9, "readable_since": "3.1.0", "what": "ever"}');
    expect(() => openRecording(folder)).toThrow(expect.objectContaining({
      code: 'RECORDING_VERSION',
      message: 'the recording has format 9, which Gannet 3.1.0 reads; this one reads formats 1 and 2',
    }));
  });

  it.each([
    '', '{', '[]', 'null', '{}', '{"format_version": "1"}', '{"format_version": 1}',
  ])('is refused when the manifest is %j', (text) => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'manifest.json'), text);
    expect(() => openRecording(folder)).toThrow(corrupt);
  });
});
