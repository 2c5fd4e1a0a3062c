import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openWindow } from '../../src/recording/window.ts';
import type { RecordingWriter } from '../../src/recording/writer.ts';
import { buyingSol, stats, trouble } from '../market/events.ts';
import { SOL } from '../market/tokens.ts';
import { copyOf, filesIn, openWriter, temporaryFolder } from './temporary.ts';

const HOUR = 3_600_000;

/** A quote each minute, statistics each ten, and trouble each hour, over so many hours from the epoch on. */
function written(hours: number): RecordingWriter {
  const writer = openWriter(temporaryFolder());
  let seq = 0;
  for (let at = 0; at < hours * HOUR; at += 60_000) {
    writer.append(++seq, at, buyingSol(150_000, at));
    if (at % 600_000 === 0) writer.append(++seq, at, stats(SOL, 150, at));
    if (at % HOUR === 0) writer.append(++seq, at, trouble('quote:x', at));
    if (at % 300_000 === 0) writer.flush();
  }
  writer.flush();
  return writer;
}

function rowsOf(window: ReturnType<typeof openWindow>): { readonly at: number; readonly kind: string }[] {
  const cursor = window?.cursor();
  const rows: { at: number; kind: string }[] = [];
  while (cursor?.next() === true) rows.push({ at: cursor.at, kind: cursor.input.kind });
  return rows;
}

describe('a window of a recording', () => {
  it.each([
    'open', 'closed',
  ])('holds the market events of the hours that overlap it, and reads nothing else (%s)', async (ending) => {
    const writer = written(6);
    if (ending === 'closed') await writer.close();
    const window = openWindow(writer.directory, { from: 2.5 * HOUR, until: 4 * HOUR });
    const rows = rowsOf(window);
    expect([rows[0]!.at, rows.at(-1)!.at]).toEqual([2 * HOUR, 4 * HOUR - 60_000]);
    expect(rows.filter(({ kind }) => kind === 'quote')).toHaveLength(120);
    expect(rows.filter(({ kind }) => kind === 'token-stats')).toHaveLength(12);
    expect(rows).toHaveLength(132);
    expect(rows.map(({ at }) => at)).toEqual(rows.map(({ at }) => at).toSorted((a, b) => a - b));
    expect([window!.firstSeq, window!.lastSeq]).toEqual([135, 268]);
    // What lies outside may be damaged without an effect.
    for (const file of filesIn(writer.directory).filter((name) => /T0[05]/.test(name)))
      writeFileSync(join(writer.directory, file), 'broken');
    expect(rowsOf(openWindow(writer.directory, { from: 2.5 * HOUR, until: 4 * HOUR }))).toEqual(rows);
  });

  it('has the same hash for the same rows, and another for other rows', () => {
    const { directory } = written(3);
    const hashOf = (place: string, from: number) => openWindow(place, { from, until: 9 * HOUR })!.sha256;
    expect(hashOf(copyOf(directory), HOUR)).toBe(hashOf(directory, HOUR));
    expect(hashOf(directory, 2 * HOUR)).not.toBe(hashOf(directory, HOUR));
  });

  it('is undefined where nothing was recorded at the time', () => {
    const { directory } = written(2);
    expect(openWindow(directory, { from: 2 * HOUR, until: 3 * HOUR })).toBeUndefined();
    expect(openWindow(directory, { from: -HOUR, until: 0 })).toBeUndefined();
  });

  it('finds the end of a long recording that was never closed without reading all of it', () => {
    const writer = openWriter(temporaryFolder());
    // A line of digests for each flush: more than are read at once.
    for (let seq = 1; seq <= 4_000; seq++) {
      writer.append(seq, seq * 1_000, buyingSol(150_000, seq * 1_000));
      writer.flush();
    }
    const rows = rowsOf(openWindow(writer.directory, { from: 3_990_000, until: 4_000_000 }));
    expect([rows[0]!.at, rows.at(-1)!.at]).toEqual([HOUR, 4_000_000]);
    expect(rowsOf(openWindow(writer.directory, { from: 1_000, until: 4_000_000 }))).toHaveLength(4_000);
  });

  it('is refused when one of its bytes changed', () => {
    const { directory } = written(1);
    const file = filesIn(directory).find((name) => name.startsWith('quote/'))!;
    writeFileSync(join(directory, file), Buffer.alloc(100_000));
    expect(() => openWindow(directory, { from: 0, until: HOUR }))
      .toThrow(expect.objectContaining({ code: 'RECORDING_CORRUPT' }));
    expect(() => openWindow(join(directory, 'nowhere'), { from: 0, until: HOUR }))
      .toThrow(expect.objectContaining({ code: 'RECORDING_NOT_FOUND' }));
  });
});
