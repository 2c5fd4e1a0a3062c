import { createHash } from 'node:crypto';
import { copyFileSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Field, Int32, makeData, makeVector, RecordBatch, Schema, Struct, Table, tableToIPC } from 'apache-arrow';
import { describe, expect, it } from 'vitest';
import { runToEnd } from '../../src/core/chunked-work.ts';
import { inspectRecording } from '../../src/recording/check/inspect.ts';
import { formatManifest, parseManifest } from '../../src/recording/manifest.ts';
import { openRecording } from '../../src/recording/reader.ts';
import type { SegmentDigest } from '../../src/recording/segment/digest.ts';
import { formatDigestLine } from '../../src/recording/segment/digest.ts';
import { listSegments } from '../../src/recording/check/verify.ts';
import { buyingSol, stats } from '../market/events.ts';
import { SOL } from '../market/tokens.ts';
import { readBack } from './arbitrary-inputs.ts';
import { copyOf, openWriter, temporaryFolder } from './temporary.ts';

const HOUR = 3_600_000;
const corrupt = expect.objectContaining({ code: 'RECORDING_CORRUPT' });

/** Three hours of quotes and statistics; two of different prices have files of the same names. */
async function recording(milliUsd: number, ending: 'open' | 'closed'): Promise<string> {
  const writer = openWriter(temporaryFolder());
  let seq = 0;
  for (let at = 0; at < 3 * HOUR; at += 60_000) {
    writer.append(++seq, at, buyingSol(milliUsd + seq, at));
    if (at % 600_000 === 0) writer.append(++seq, at, stats(SOL, milliUsd / 1_000, at));
  }
  writer.flush();
  if (ending === 'closed') await writer.close();
  return copyOf(writer.directory);
}

const nameOf = (hour: number, ending: 'open' | 'closed'): string =>
  `quote/1970-01-01T0${hour}.arrows${ending === 'closed' ? '.zst' : ''}`;
const messagesOf = (issues: readonly { readonly message: string }[]): string =>
  issues.map(({ message }) => message).join('\n');

/** Rewrites the digests and the manifest of a recording consistently, as for a deliberate change. */
function vouch(directory: string, change: (segments: readonly SegmentDigest[]) => readonly SegmentDigest[]): void {
  const manifest = parseManifest(readFileSync(join(directory, 'manifest.json'), 'utf8'));
  const files = change(listSegments(directory).segments);
  const lines = files.map((digest) => formatDigestLine({ ...digest, newFeeds: [] })).join('');
  writeFileSync(join(directory, 'digests.ndjson'), lines);
  writeFileSync(join(directory, 'manifest.json'), formatManifest({
    ...manifest, files, digestsSha256: createHash('sha256').update(lines).digest('hex'),
  }));
}

describe('a segment with the name of another one', () => {
  it('is not read in its place, closed or not', async () => {
    for (const ending of ['open', 'closed'] as const) {
      const directory = await recording(150_000, ending);
      copyFileSync(join(directory, nameOf(1, ending)), join(directory, nameOf(2, ending)));
      expect(() => openRecording(directory), ending).toThrow(corrupt);
      expect(messagesOf(runToEnd(inspectRecording(directory)).issues), ending).toContain(nameOf(2, ending));
    }
  });

  it('makes a closed recording incomplete, which is refused', async () => {
    const directory = await recording(150_000, 'closed');
    renameSync(join(directory, nameOf(1, 'closed')), join(directory, nameOf(7, 'closed')));
    expect(() => openRecording(directory))
      .toThrow(expect.objectContaining({ code: 'RECORDING_CORRUPT', message: expect.stringMatching(
        /^quote\/1970-01-01T01\.arrows\.zst \(60 rows of .*\): expected \d+ bytes, found no such file/,
      ) }));
    expect(runToEnd(inspectRecording(directory))).toMatchObject({
      issues: [{ file: nameOf(1, 'closed') }],
      warnings: [{ file: nameOf(7, 'closed'), message: expect.stringContaining('no part of the recording') }],
    });
  });

  it('leaves a hole in an unclosed recording, reported with its time, unlike a lost end', async () => {
    const directory = await recording(150_000, 'open');
    const ended = copyOf(directory);
    renameSync(join(directory, nameOf(1, 'open')), join(directory, nameOf(7, 'open')));
    const opened = openRecording(directory);
    expect(opened.lost)
      .toStrictEqual([{ file: nameOf(1, 'open'), rows: 60, from: HOUR, until: 2 * HOUR - 60_000, isHole: true }]);
    expect(readBack(opened, { kinds: ['quote'] }).map(({ at }) => at).filter((at) => at >= HOUR && at < 2 * HOUR))
      .toStrictEqual([]);
    expect(runToEnd(opened.lastGapFreeSeq([]))).toBe(66);
    expect(runToEnd(inspectRecording(directory))).toMatchObject({
      issues: [{ file: nameOf(1, 'open'), at: HOUR, message: 'quote/1970-01-01T01.arrows: 60 rows of '
        + '1970-01-01T01:00:00.000Z to 1970-01-01T01:59:00.000Z were written and are lost; it is not there, and later '
        + 'ones are' }],
    });
    rmSync(join(ended, nameOf(2, 'open')));
    expect(openRecording(ended).lost).toMatchObject([{ file: nameOf(2, 'open'), isHole: false }]);
    expect(runToEnd(inspectRecording(ended))).toMatchObject({ issues: [] });
    expect(messagesOf(runToEnd(inspectRecording(ended)).warnings)).toContain('it ends there');
  });
});

describe('a duplicate segment', () => {
  it('is read once, and its other file is reported', async () => {
    for (const ending of ['open', 'closed'] as const) {
      const directory = await recording(150_000, ending);
      const rows = readBack(openRecording(directory));
      copyFileSync(join(directory, nameOf(1, ending)), join(directory, nameOf(9, ending)));
      expect(readBack(openRecording(directory)), ending).toStrictEqual(rows);
      expect(messagesOf(runToEnd(inspectRecording(directory)).warnings), ending)
        .toContain(`${nameOf(9, ending)}: no part of the recording`);
    }
  });

  it('is reported for overlapping rows and a wrong hour when digests exist for both', async () => {
    const directory = await recording(150_000, 'closed');
    copyFileSync(join(directory, nameOf(1, 'closed')), join(directory, nameOf(9, 'closed')));
    vouch(directory, (segments) => segments.flatMap((digest) =>
      (digest.file === nameOf(1, 'closed') ? [digest, { ...digest, file: nameOf(9, 'closed') }] : [digest])));
    const { issues } = runToEnd(inspectRecording(directory));
    expect(issues[0]).toMatchObject({
      file: nameOf(9, 'closed'), row: 1, at: HOUR, message: expect.stringContaining(`overlaps ${nameOf(1, 'closed')}`),
    });
    expect(messagesOf(issues))
      .toMatch(/T09.*time goes backwards: 1970-01-01T01:00:00\.000Z comes after 1970-01-01T01:59:00\.000Z/);
    expect(messagesOf(issues))
      .toMatch(/T09.*expected rows of the hour 1970-01-01T09, found 1970-01-01T01:00:00\.000Z first/);
  });

  it('is reported when digests have the hours in another order', async () => {
    const directory = await recording(150_000, 'closed');
    vouch(directory, (segments) => segments.toReversed());
    expect(messagesOf(runToEnd(inspectRecording(directory)).issues)).toMatch(/T01.*overlaps quote\/1970-01-01T02/);
  });
});

describe('files of two recordings in one folder', () => {
  it('are not mixed: a replaced segment is refused, any other file is reported', async () => {
    for (const ending of ['open', 'closed'] as const) {
      const [directory, other] = [await recording(150_000, ending), await recording(90_000, ending)];
      const rows = readBack(openRecording(directory));
      copyFileSync(join(other, nameOf(1, ending)), join(directory, nameOf(8, ending)));
      expect(readBack(openRecording(directory)), ending).toStrictEqual(rows);
      expect(messagesOf(runToEnd(inspectRecording(directory)).warnings), ending).toContain(nameOf(8, ending));
      copyFileSync(join(other, nameOf(1, ending)), join(directory, nameOf(1, ending)));
      expect(() => openRecording(directory), ending).toThrow(corrupt);
      expect(messagesOf(runToEnd(inspectRecording(directory)).issues), ending).toContain(nameOf(1, ending));
    }
  });

  it('are refused when digests or manifest belong to the other recording', async () => {
    for (const ending of ['open', 'closed'] as const) {
      const [directory, other] = [await recording(150_000, ending), await recording(90_000, ending)];
      for (const file of ending === 'closed' ? ['digests.ndjson', 'manifest.json'] : ['digests.ndjson']) {
        const mixed = copyOf(directory);
        copyFileSync(join(other, file), join(mixed, file));
        expect(() => openRecording(mixed), `${ending} ${file}`).toThrow(corrupt);
      }
    }
  });
});

describe('a segment of another layout', () => {
  const schema = new Schema([new Field('price', new Int32())]);
  const column = makeVector(Int32Array.of(1, 2, 3)).data[0]!;
  const columns = makeData({ type: new Struct(schema.fields), length: 3, children: [column] });

  it.each<[string, Uint8Array, string]>([
    [
      'other columns', tableToIPC(new Table([new RecordBatch(schema, columns)]), 'stream'),
      'expected a column seq, found none',
    ],
    ['another format', Buffer.from('no stream of Arrow at all, but text'), 'expected an Arrow stream'],
  ])('is refused by name in spite of a correct digest (%s)', async (_, bytes, words) => {
    const directory = await recording(150_000, 'open');
    const file = nameOf(0, 'open');
    const facts = { bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') };
    const lines = listSegments(directory)
      .segments.map((digest) => formatDigestLine({ ...digest, ...(digest.file === file ? facts : {}), newFeeds: [] }));
    writeFileSync(join(directory, 'digests.ndjson'), lines.join(''));
    writeFileSync(join(directory, file), bytes);
    expect(() => readBack(openRecording(directory))).toThrow(
      expect.objectContaining({ code: 'RECORDING_CORRUPT', message: expect.stringContaining(`${file}: ${words}`) }),
    );
    expect(runToEnd(inspectRecording(directory)).issues).toMatchObject([{ file }]);
  });
});
