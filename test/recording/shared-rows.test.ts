import * as fc from 'fast-check';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runToEnd } from '../../src/core/chunked-work.ts';
import type { Recording, TimeRange } from '../../src/recording/reader.ts';
import { RECORDING_KINDS } from '../../src/recording/format.ts';
import { openRecording } from '../../src/recording/reader.ts';
import type { SharedRows } from '../../src/recording/shared/shared-source.ts';
import { shareRows } from '../../src/recording/shared/shared-rows.ts';
import { openSharedRows } from '../../src/recording/shared/shared-source.ts';
import { asPlain, plain, readBack, stampedInputs } from './arbitrary-inputs.ts';
import { appendAll, openWriter, temporaryFolder } from './temporary.ts';

function shared(recording: Recording, mostBytes = Infinity): SharedRows | undefined {
  const reading = shareRows(recording, { kinds: RECORDING_KINDS, mostBytes });
  for (let step = reading.next(); ; step = reading.next()) if (step.done === true) return step.value;
}

function rowsOf(rows: ReturnType<typeof openSharedRows>, kinds?: Parameters<Recording['cursor']>[0]): unknown[] {
  const cursor = rows.cursor(kinds);
  const found: unknown[] = [];
  while (cursor.next()) found.push({ seq: cursor.seq, at: cursor.at, input: plain(cursor.input) });
  return found;
}

describe('rows in shared memory', () => {
  it('equal those of the recording, for every kind and segment, at each iteration', async () => {
    const folder = temporaryFolder();
    await fc.assert(fc.asyncProperty(stampedInputs, fc.integer({ min: 1, max: 9 }), fc.boolean(),
      async (inputs, flushEvery, isClosed) => {
        rmSync(join(folder, 'run'), { recursive: true, force: true });
        const writer = openWriter(folder, { flushRows: 4 });
        appendAll(writer, inputs, flushEvery);
        writer.flush();
        // One that was never closed ends where all kinds are known: the recording itself says where.
        const open = isClosed ? undefined : openRecording(writer.directory);
        if (isClosed) await writer.close();
        const recording = open ?? openRecording(writer.directory);
        const rows = openSharedRows(shared(recording)!);
        expect(rowsOf(rows)).toStrictEqual(readBack(recording));
        expect(rowsOf(rows)).toStrictEqual(inputs.map(asPlain));
        expect(rows.feeds).toStrictEqual(recording.feeds);
        expect(rows.kinds).toStrictEqual(recording.kinds);
        for (const kind of recording.kinds)
          expect(rowsOf(rows, { kinds: [kind] })).toStrictEqual(readBack(recording, { kinds: [kind] }));
        if (!isClosed) await writer.close();
      }), { numRuns: 12 });
  });

  it('end at the cut of the recording', async () => {
    const writer = openWriter(temporaryFolder());
    const inputs = fc.sample(stampedInputs, { numRuns: 20, seed: 5 }).toSorted((a, b) => b.length - a.length)[0]!;
    appendAll(writer, inputs, 5);
    await writer.close();
    const cut = openRecording(writer.directory).cutAt(inputs[Math.floor(inputs.length / 2)]!.seq);
    expect(rowsOf(openSharedRows(shared(cut)!))).toStrictEqual(readBack(cut));
  });

  it('are those of a part of the recording, for every kind', async () => {
    const writer = openWriter(temporaryFolder(), { flushRows: 4 });
    const inputs = fc.sample(stampedInputs, { numRuns: 20, seed: 5 }).toSorted((a, b) => b.length - a.length)[0]!;
    appendAll(writer, inputs, 5);
    await writer.close();
    const whole = openRecording(writer.directory);
    for (const [first, last] of [[0, 0.5], [0.3, 0.6], [0.5, 1], [0.4, 0.4]] as const) {
      const [firstSeq, lastSeq] = [first, last].map((share) => inputs[Math.floor(share * (inputs.length - 1))]!.seq);
      const part = runToEnd(whole.partInChunks({ firstSeq: firstSeq!, lastSeq: lastSeq! }));
      const expected = inputs.filter(({ seq }) => seq >= firstSeq! && seq <= lastSeq!).map(asPlain);
      expect(readBack(part)).toStrictEqual(expected);
      expect(rowsOf(openSharedRows(shared(part)!))).toStrictEqual(expected);
      expect([part.events, part.firstAt, part.lastAt])
        .toEqual([expected.length, readBack(part)[0]!.at, readBack(part).at(-1)!.at]);
    }
  });

  it('are those of a time span, from its beginning to before its end', async () => {
    const writer = openWriter(temporaryFolder(), { flushRows: 2 });
    const rows = Array.from({ length: 10 }, (_, i) => ({
      seq: i + 1, at: 1_000 * i,
      input: { kind: 'command', name: 'set-trading-state', state: 'active', reason: String(i) } as const,
    }));
    appendAll(writer, rows, 3);
    await writer.close();
    const whole = openRecording(writer.directory);
    const within = (range: TimeRange) => runToEnd(whole.withinInChunks(range));
    expect(readBack(within({ from: 2_500, to: 6_000 })!).map(({ seq }) => seq)).toEqual([4, 5, 6]);
    expect(within({ from: 2_500, to: 6_000 })).toMatchObject({
      part: { firstSeq: 4, lastSeq: 6 }, events: 3, firstAt: 3_000, lastAt: 5_000, truncatedAt: undefined,
    });
    expect(readBack(within({ to: 2_000 })!).map(({ seq }) => seq)).toEqual([1, 2]);
    expect(readBack(within({ from: 8_000 })!).map(({ seq }) => seq)).toEqual([9, 10]);
    expect(readBack(within({})!)).toEqual(readBack(whole));
    // A part of a part is no wider than either.
    expect(readBack(runToEnd(within({ from: 2_500 })!.withinInChunks({ to: 5_000 }))!).map(({ seq }) => seq))
      .toEqual([4, 5]);
    expect(within({ from: 9_001 })).toBeUndefined();
    expect(within({ from: 2_100, to: 2_900 })).toBeUndefined();
  });

  it('leave out blocks before an instant, and no row after it', async () => {
    const writer = openWriter(temporaryFolder());
    const rows = Array.from({ length: 10 }, (_, i) => ({
      seq: i + 1, at: 1_000 * i,
      input: { kind: 'command', name: 'set-trading-state', state: 'active', reason: String(i) } as const,
    }));
    appendAll(writer, rows, 3);
    await writer.close();
    const source = openSharedRows(shared(openRecording(writer.directory))!);
    expect(rowsOf(source.since(9_001))).toStrictEqual([]);
    expect(rowsOf(source.since(9_000))).toHaveLength(10);
  });

  it('are not copied when they need more memory than allowed', async () => {
    const writer = openWriter(temporaryFolder());
    for (let seq = 1; seq <= 100; seq++) writer.append(seq, seq, {
      kind: 'order-book', feed: 'order-book:rain', receivedAt: seq, marketId: 'rain',
      yes: [{ priceMicroUsd: 1, size: 1 }], no: [],
    });
    await writer.close();
    const recording = openRecording(writer.directory);
    const whole = shared(recording)!;
    expect(whole.bytes).toBeGreaterThan(100 * 40);
    expect(shared(recording, whole.bytes)?.bytes).toBe(whole.bytes);
    expect(shared(recording, whole.bytes - 1)).toBeUndefined();
  });
});
