import { appendFileSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { VirtualTimeScheduler } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { runToEnd } from '../../src/core/chunked-work.ts';
import { DigestLog } from '../../src/recording/segment/digest-log.ts';
import { recordingIdentity } from '../../src/recording/identity.ts';
import { inspectRecording } from '../../src/recording/check/inspect.ts';
import { openRecording } from '../../src/recording/reader.ts';
import type { DigestLine } from '../../src/recording/segment/digest.ts';
import { parseDigestLines } from '../../src/recording/segment/digest.ts';
import { intactSegments } from '../../src/recording/check/verify.ts';
import { createRecordingWriter } from '../../src/recording/writer.ts';
import { buyingSol, sellingSol } from '../market/events.ts';
import { NO_SMALL_DISK, smallDisk } from '../store/small-disk.ts';
import { copyOf, temporaryFolder } from './temporary.ts';

const HOUR = 3_600_000;
/** Some forty lines: to write as many as are kept by default takes a second, and shows no more. */
const SLACK_BYTES = 10_000;

const line = (file: string, rows: number): DigestLine => ({
  file, bytes: rows * 100, sha256: 'ab'.repeat(32), rows, events: rows, firstSeq: 1, lastSeq: rows, firstAt: 0,
  lastAt: rows, newFeeds: rows === 1 ? ['feed'] : [],
});

const linesIn = (directory: string): readonly DigestLine[] =>
  parseDigestLines(readFileSync(join(directory, 'digests.ndjson'), 'utf8')).lines;

describe('digests', () => {
  it('are removed for settled files once there are many, except the first one and new ones', async () => {
    const directory = temporaryFolder();
    const log = new DigestLog(directory, SLACK_BYTES);
    log.append([line('quote/1.arrows', 1), line('quote/1.arrows', 2)]);
    await log.tidy(() => true);
    expect(linesIn(directory)).toHaveLength(2);
    log.append(Array.from({ length: 200 }, (_, index) =>
      line(index % 2 === 0 ? 'quote/1.arrows' : 'quote/2.arrows', index + 3)));
    const tidying = log.tidy((file) => file === 'quote/1.arrows');
    const sync = log.sync();
    for (let rows = 300; rows < 310; rows++) log.append([line('quote/1.arrows', rows)]);
    await Promise.all([tidying, sync]);
    log.append([line('quote/3.arrows', 1)]);
    await log.sync();
    log.close();
    const lines = linesIn(directory);
    expect(lines.slice(0, 2)).toStrictEqual([line('quote/1.arrows', 1), line('quote/2.arrows', 4)]);
    expect(lines).toHaveLength(1 + 100 + 10 + 1);
    expect(lines.at(-1)).toStrictEqual(line('quote/3.arrows', 1));
  });
});

describe.skipIf(NO_SMALL_DISK !== undefined)('digests that the disk takes in part only', () => {
  it('are removed, so that the next digest starts a line of its own', () => {
    const disk = smallDisk(1);
    const log = new DigestLog(disk.dir);
    log.append([line('quote/1.arrows', 1)]);
    disk.fill();
    expect(() => { log.append(Array.from({ length: 100 }, (_, index) => line('quote/1.arrows', index + 2))); })
      .toThrow(/ENOSPC/);
    disk.clear();
    log.append([line('quote/2.arrows', 1)]);
    log.close();
    expect(linesIn(disk.dir)).toStrictEqual([line('quote/1.arrows', 1), line('quote/2.arrows', 1)]);
  });
});

describe('a segment that is compressed while its digests are read', () => {
  it('is found in spite of fewer digests than before', () => {
    const directory = temporaryFolder();
    mkdirSync(join(directory, 'quote'));
    const [first, second] = [line('quote/1.arrows', 1), line('quote/1.arrows', 2)];
    const compressed: DigestLine = {
      ...second, file: 'quote/1.arrows.zst', bytes: 90, sha256: 'cd'.repeat(32),
      compressed: { rawBytes: 200, frames: [90] },
    };
    writeFileSync(join(directory, compressed.file), Buffer.alloc(90));
    let reads = 0;
    const { segments, lost } = intactSegments(directory, () =>
      (reads++ === 0 ? [first, second, second] : [first, compressed]));
    expect([segments, lost]).toStrictEqual([[compressed], []]);
  });
});

describe('a long recording', () => {
  it('does not keep a line of each second, and keeps its identity', async () => {
    const clock = new VirtualTimeScheduler();
    const writer = createRecordingWriter({
      dir: temporaryFolder(), name: 'run', clock, tokens: [], flushRows: 1, digestSlackBytes: SLACK_BYTES,
      onError: (error) => { throw error; },
    });
    for (let seq = 1; seq <= 60; seq++)
      writer.append(seq, seq * 50_000, seq === 40 ? sellingSol(150_000, seq) : buyingSol(150_000 + seq, seq));
    expect(linesIn(writer.directory)).toHaveLength(60);
    writer.append(61, HOUR, buyingSol(150_000, HOUR));
    const known = copyOf(writer.directory);
    const before = openRecording(known);
    clock.maxFrames = 1_000;
    clock.flush();
    const digests = join(writer.directory, 'digests.ndjson');
    while (statSync(digests).size > SLACK_BYTES) await after(5);
    writer.append(62, HOUR + 1, buyingSol(150_000, HOUR));
    const now = openRecording(copyOf(writer.directory));
    expect(linesIn(writer.directory).map(({ file, rows }) => [file, rows])).toStrictEqual([
      ['quote/1970-01-01T00.arrows', 1], ['quote/1970-01-01T01.arrows', 1], ['quote/1970-01-01T00.arrows.zst', 60],
      ['quote/1970-01-01T01.arrows', 2],
    ]);
    expect([now.feeds.toSorted(), runToEnd(now.lastGapFreeSeq([])), recordingIdentity(now), now.lost])
      .toStrictEqual([before.feeds.toSorted(), 62, recordingIdentity(before), []]);
    appendFileSync(join(now.directory, 'digests.ndjson'), '{"file":"quote/19');
    expect(runToEnd(inspectRecording(now.directory))).toMatchObject({ events: 62, issues: [] });
    expect((await writer.close()).feeds).toStrictEqual(before.feeds);
  });
});
