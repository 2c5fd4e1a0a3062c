import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { zstdDecompressSync } from 'node:zlib';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runToEnd } from '../../src/core/chunked-work.ts';
import { createHistoryWriter } from '../../src/recording/history-writer.ts';
import { compactRecording } from '../../src/recording/compression/compact.ts';
import { isBeingWritten } from '../../src/recording/recording-files.ts';
import { WRITER_LOCK_FILE } from '../../src/recording/format.ts';
import { inspectRecording } from '../../src/recording/check/inspect.ts';
import type { RecordingManifest } from '../../src/recording/manifest.ts';
import { openRecording } from '../../src/recording/reader.ts';
import { syntheticQuotes } from '../../src/bench/synthetic-quotes.ts';
import { SOL_MINT, USDC_MINT } from '../../src/market/token.ts';
import { buyingSol, stats } from '../market/events.ts';
import { SOL } from '../market/tokens.ts';
import type { Stamped } from './arbitrary-inputs.ts';
import { asPlain, readBack, stampedInputs } from './arbitrary-inputs.ts';
import { appendAll, filesIn, openWriter, temporaryFolder } from './temporary.ts';

const CHILD = fileURLToPath(new URL('history-child.ts', import.meta.url));

const openHistory = (dir = temporaryFolder()): ReturnType<typeof createHistoryWriter> => createHistoryWriter({
  dir, name: 'history', createdAt: 1_790_000_000_000, tokens: [],
  source: { kind: 'synthetic', market: 'swings', seed: 7 },
});

/** Writes so many quotes as a history; a hundred thousand of them are more than are packed without a thread. */
async function writtenQuotes(
  count: number, stepMs: number,
): Promise<{ readonly directory: string; readonly manifest: RecordingManifest }> {
  const writer = openHistory();
  const cursor = quotes(count, stepMs).cursor();
  while (cursor.next()) {
    writer.append(cursor.seq, cursor.at, cursor.input);
    if (writer.isBusy) await writer.room();
  }
  return { directory: writer.directory, manifest: await writer.close() };
}

function quotes(count: number, stepMs: number): ReturnType<typeof syntheticQuotes> {
  return syntheticQuotes({
    count, instruments: [{ inputMint: USDC_MINT, outputMint: SOL_MINT, amount: 25_000_000n as never, startRate: 6.67 }],
    seed: 3, stepMs,
  });
}

/** The Arrow streams of a closed recording, by segment. */
function streams(
  { directory, manifest }: { readonly directory: string; readonly manifest: RecordingManifest },
): Map<string, Buffer> {
  return new Map(manifest.files.map(({ file, compressed }) => {
    const bytes = readFileSync(join(directory, file));
    let start = 0;
    return [file, Buffer.concat(compressed!.frames.map((length) =>
      zstdDecompressSync(bytes.subarray(start, start += length))))];
  }));
}

/** What a manifest says but for how well its files are compressed. */
function said({ files, feeds, kinds }: RecordingManifest): unknown {
  return [
    files.map(({ compressed, ...rest }) => ({ ...rest, bytes: compressed!.rawBytes, sha256: '' })), feeds.toSorted(),
    kinds,
  ];
}

describe('a history', () => {
  it('is locked until it is closed or stopped', async () => {
    for (const end of ['close', 'stop'] as const) {
      const writer = openHistory();
      writer.append(1, 1_790_000_000_000, buyingSol(150_000, 1_790_000_000_000));
      expect(isBeingWritten(writer.directory)).toBe(true);
      await expect(compactRecording(writer.directory)).rejects.toMatchObject({ code: 'STATE_LOCKED' });
      await writer[end]();
      expect(isBeingWritten(writer.directory)).toBe(false);
      expect(existsSync(join(writer.directory, WRITER_LOCK_FILE))).toBe(false);
    }
  });

  it('contains its inputs and passes the inspection', async () => {
    await fc.assert(fc.asyncProperty(stampedInputs, async (rows) => {
      const writer = openHistory();
      for (const { seq, at, input } of rows) writer.append(seq, at, input);
      await writer.close();
      const recording = openRecording(writer.directory);
      expect(recording.truncatedAt).toBeUndefined();
      expect(readBack(recording)).toStrictEqual(rows.map(asPlain));
      expect(runToEnd(inspectRecording(writer.directory)).issues).toStrictEqual([]);
    }), { numRuns: 15 });
  });

  it('equals the closed recording of a live writer with the same inputs', async () => {
    const rows = Array.from({ length: 300 }, (_, index): Stamped => ({
      seq: index + 1, at: index * 30_000,
      input: index % 20 === 0 ? stats(SOL, 150, index * 30_000) : buyingSol(150_000 + index, index * 30_000),
    }));
    const history = openHistory();
    for (const { seq, at, input } of rows) history.append(seq, at, input);
    const recorder = openWriter(temporaryFolder());
    appendAll(recorder, rows, Infinity);
    const [one, other] = [
      { directory: history.directory, manifest: await history.close() },
      { directory: recorder.directory, manifest: await recorder.close() },
    ];
    expect(said(one.manifest)).toStrictEqual(said(other.manifest));
    expect(streams(one)).toStrictEqual(streams(other));
    expect(filesIn(one.directory)).toStrictEqual(filesIn(other.directory));
  });

  it('is the same when packed in a thread, also with segments of many frames', async () => {
    const [first, again] = [await writtenQuotes(130_000, 100), await writtenQuotes(130_000, 100)];
    expect(again.manifest).toStrictEqual(first.manifest);
    expect(first.manifest.files.map(({ events }) => events)).toStrictEqual([32_000, 36_000, 36_000, 26_000]);
    expect(first.manifest.files[1]!.compressed!.frames).toHaveLength(3);
    const cursor = openRecording(first.directory).cursor();
    const expected = quotes(130_000, 100).cursor();
    let rows = 0;
    while (cursor.next() && expected.next()) {
      if (cursor.seq !== expected.seq || cursor.at !== expected.at || cursor.input.kind !== 'quote'
          || cursor.input.rate !== (expected.input as typeof cursor.input).rate) break;
      rows += 1;
    }
    expect(rows).toBe(130_000);
  });

  it('ends where it was stopped, and says so', async () => {
    const writer = openHistory();
    for (let seq = 1; seq <= 200; seq++) writer.append(seq, seq * 60_000, buyingSol(150_000, seq * 60_000));
    await writer.stop();
    expect(openRecording(writer.directory)).toMatchObject({ truncatedAt: 200, events: 200, lost: [] });
    expect(openRecording(writer.directory).manifest.closed).toBe(false);
  });

  it('without inputs is an empty recording', async () => {
    const writer = openHistory();
    expect(await writer.close()).toMatchObject({ closed: true, files: [], endedAt: 1_790_000_000_000 });
    expect(openRecording(writer.directory).events).toBe(0);
  });

  it.each([
    ['by itself', 10], ['in its thread', 120_000],
  ])('rejects with the fault of a full disk (%s)', async (_, count) => {
    const writer = openHistory();
    // Where the last segment should be, something is.
    mkdirSync(join(writer.directory, 'token-stats'));
    writeFileSync(join(writer.directory, 'token-stats', '2025-06-15T15.arrows.zst'), '');
    const cursor = quotes(count, 1).cursor();
    while (cursor.next()) writer.append(cursor.seq, cursor.at, cursor.input);
    const at = Date.UTC(2025, 5, 15, 15, 30);
    writer.append(cursor.seq + 1, at, stats(SOL, 150, at));
    await expect(writer.close())
      .rejects.toMatchObject({ code: 'RECORDING_WRITE_FAILED', message: expect.stringContaining(writer.directory) });
    expect(openRecording(writer.directory).manifest.closed).toBe(false);
  });

  it('keeps the complete segments when its writer is killed', async () => {
    const folder = temporaryFolder();
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', CHILD, folder], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(child.stdout, 'data');
    child.kill('SIGKILL');
    await once(child, 'close');
    const recording = openRecording(join(folder, 'history'));
    expect(recording.manifest.closed).toBe(false);
    expect(recording.events).toBeGreaterThan(0);
    const rows = readBack(recording);
    expect(rows.map(({ seq }) => seq)).toStrictEqual(rows.map((__, index) => index + 1));
    expect(runToEnd(inspectRecording(recording.directory)).issues).toStrictEqual([]);
  });
});
