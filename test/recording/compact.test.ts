import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { infoText } from '../../src/cli/output/recording-info-text.ts';
import { infoOf } from '../../src/recording/check/info.ts';
import { compactRecording } from '../../src/recording/compression/compact.ts';
import { inspectRecording } from '../../src/recording/check/inspect.ts';
import { recordingIdentity } from '../../src/recording/identity.ts';
import { formatManifest, parseManifest } from '../../src/recording/manifest.ts';
import { openRecording } from '../../src/recording/reader.ts';
import { formatDigestLine } from '../../src/recording/segment/digest.ts';
import { runToEnd } from '../../src/core/chunked-work.ts';
import { openWindow } from '../../src/recording/window.ts';
import { buyingSol, stats } from '../market/events.ts';
import { SOL } from '../market/tokens.ts';
import { readBack } from './arbitrary-inputs.ts';
import { copyOf, filesIn, openWriter, temporaryFolder } from './temporary.ts';

const CHILD = fileURLToPath(new URL('writing-child.ts', import.meta.url));
const HOUR = 3_600_000;
const FILE = 'quote/1970-01-01T00.arrows';

/** Starts a writer of inputs a minute apart, and waits until it has written a day and more. */
async function livingWriter(): Promise<{ readonly directory: string; readonly kill: () => Promise<void> }> {
  const folder = temporaryFolder();
  const child: ChildProcess = spawn(
    process.execPath, ['--disable-warning=ExperimentalWarning', CHILD, folder, '60000'],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  await new Promise<void>((resolve) => {
    child.stdout!.on(
      'data', (chunk: Buffer) => { if (Number(String(chunk).trimEnd().split('\n').at(-1)) > 1_700) resolve(); },
    );
  });
  return {
    directory: join(folder, 'run'),
    kill: async () => {
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

/** Three hours of quotes and statistics as a writer leaves them that dies before anything is compressed. */
function deadRecording(): string {
  const writer = openWriter(temporaryFolder());
  let seq = 0;
  for (let at = 0; at < 3 * HOUR; at += 60_000) {
    writer.append(++seq, at, buyingSol(150_000 + seq, at));
    if (at % 600_000 === 0) writer.append(++seq, at, stats(SOL, 150, at));
    if (at % 900_000 === 0) writer.flush();
  }
  writer.flush();
  return copyOf(writer.directory);
}

/** Whatever is known of a recording by those who have seen it. */
function knownOf(directory: string): unknown {
  const recording = openRecording(directory);
  return {
    rows: readBack(recording), truncatedAt: recording.truncatedAt, end: runToEnd(recording.lastGapFreeSeq([])),
    feeds: recording.feeds.toSorted(), lost: recording.lost,
    manifest: readFileSync(join(directory, 'manifest.json'), 'utf8'), identity: recordingIdentity(recording),
    window: openWindow(directory, { from: HOUR, until: 2 * HOUR })?.sha256,
  };
}

describe('a recording whose writer was killed', () => {
  it('is compressed afterwards, and keeps its identity', async () => {
    const { directory, kill } = await livingWriter();
    await expect(compactRecording(directory)).rejects.toMatchObject({ code: 'STATE_LOCKED' });
    await kill();
    const before = knownOf(directory);
    const { uncompressed } = runToEnd(infoOf(openRecording(directory)));
    expect(uncompressed).toStrictEqual(openRecording(directory)
      .segments.filter(({ compressed }) => compressed === undefined).map(({ file }) => file));
    expect(uncompressed.length).toBeGreaterThan(0);
    expect(infoText(runToEnd(infoOf(openRecording(directory))))).toContain('gannet recording compact');
    expect(runToEnd(inspectRecording(directory)).warnings.filter(({ message }) => message.includes('not compressed'))
      .map(({ file }) => file).toSorted())
      .toStrictEqual(uncompressed.toSorted());
    const done = await compactRecording(directory);
    expect(done.segments).toBe(uncompressed.length);
    expect(done.bytesAfter).toBeLessThan(done.bytesBefore);
    // The file of a writer killed before its first digest is no part of the recording, and may not be removed.
    const digests = readFileSync(join(directory, 'digests.ndjson'), 'utf8');
    const isStray = (file: string): boolean => file.endsWith('.arrows') && !digests.includes(file);
    expect(filesIn(directory).filter((file) => !file.includes('.zst') || file.endsWith('.new')).filter((file) =>
      !isStray(file)))
      .toStrictEqual(['digests.ndjson', 'manifest.json']);
    expect(existsSync(join(directory, 'writer.lock'))).toBe(false);
    expect(knownOf(directory)).toStrictEqual(before);
    expect(runToEnd(inspectRecording(directory)).issues).toStrictEqual([]);
    expect(runToEnd(inspectRecording(directory)).warnings.filter(({ file }) => !isStray(file))).toStrictEqual([]);
    expect(runToEnd(infoOf(openRecording(directory))).uncompressed).toStrictEqual([]);
    expect(await compactRecording(directory)).toStrictEqual({ segments: 0, bytesBefore: 0, bytesAfter: 0, left: 0 });
  });
});

describe('compacting', () => {
  it('continues after a compaction that died at any point', async () => {
    const directory = deadRecording();
    const before = knownOf(directory);
    const whole = copyOf(directory);
    await compactRecording(whole);
    const digests = readFileSync(join(directory, 'digests.ndjson'), 'utf8');
    const lines = readFileSync(join(whole, 'digests.ndjson'), 'utf8').slice(digests.length);
    const packed = readFileSync(join(whole, `${FILE}.zst`));
    const states: readonly ((place: string) => void)[] = [
      (place) => {
        writeFileSync(join(place, `${FILE}.zst.new`), packed.subarray(0, packed.length >> 1));
        writeFileSync(join(place, 'digests.ndjson.new'), digests.slice(0, 100));
      },
      (place) => { writeFileSync(join(place, `${FILE}.zst`), packed); },
      (place) => {
        writeFileSync(join(place, `${FILE}.zst`), packed);
        appendFileSync(join(place, 'digests.ndjson'), lines.slice(0, 40));
      },
      (place) => {
        for (const file of filesIn(whole).filter((name) => name.endsWith('.zst')))
          writeFileSync(join(place, file), readFileSync(join(whole, file)));
        appendFileSync(join(place, 'digests.ndjson'), lines);
      },
    ];
    for (const [index, spoil] of states.entries()) {
      const place = copyOf(directory);
      spoil(place);
      await compactRecording(place);
      expect(filesIn(place), `state ${index}`).toStrictEqual(filesIn(whole));
      expect(knownOf(place), `state ${index}`).toStrictEqual(before);
      expect(runToEnd(inspectRecording(place)), `state ${index}`).toMatchObject({ issues: [], warnings: [] });
    }
  });

  it('keeps the record of lost rows, and no row without a digest', async () => {
    const directory = deadRecording();
    const path = join(directory, FILE);
    truncateSync(path, readFileSync(path).length - 600);
    appendFileSync(join(directory, 'quote/1970-01-01T02.arrows'), 'garbage');
    const before = knownOf(directory);
    expect(before).toMatchObject({ lost: [{ file: FILE, isHole: true, until: HOUR - 60_000 }] });
    await compactRecording(directory);
    expect(knownOf(directory)).toStrictEqual(before);
    expect(runToEnd(inspectRecording(directory)).issues)
      .toMatchObject([{ file: FILE, message: expect.stringContaining('are lost') }]);
  });

  it('refuses a segment whose bytes contradict its digest, and leaves it unchanged', async () => {
    const directory = deadRecording();
    const path = join(directory, FILE);
    const bytes = readFileSync(path);
    bytes[bytes.length >> 1]! ^= 1;
    writeFileSync(path, bytes);
    await expect(compactRecording(directory))
      .rejects.toMatchObject({ code: 'RECORDING_CORRUPT', message: expect.stringContaining(FILE) });
    expect(readFileSync(path).equals(bytes)).toBe(true);
    expect(existsSync(`${path}.zst`)).toBe(false);
  });

  it('stops within a segment at an interrupt, leaves it unchanged, and continues the next time', async () => {
    const directory = deadRecording();
    // Twenty-four frames, of which the first is on the disk long before the last.
    const large = Buffer.alloc(24 << 20, 'rows');
    const [first] = openRecording(directory).segments.filter(({ file }) => file === FILE);
    writeFileSync(join(directory, FILE), large);
    appendFileSync(join(directory, 'digests.ndjson'), formatDigestLine({
      ...first!, bytes: large.length, sha256: createHash('sha256').update(large).digest('hex'), newFeeds: [],
    }));
    const before = filesIn(directory);
    const interrupt = new AbortController();
    const compacting = compactRecording(directory, interrupt.signal);
    const unfinished = join(directory, `${FILE}.zst.new`);
    while ((statSync(unfinished, { throwIfNoEntry: false })?.size ?? 0) === 0) await nextTurn();
    interrupt.abort();
    expect((await compacting).left).toBeGreaterThan(0);
    expect(existsSync(unfinished)).toBe(false);
    expect(existsSync(join(directory, `${FILE}.zst`))).toBe(false);
    expect(readFileSync(join(directory, FILE)).equals(large)).toBe(true);
    expect(filesIn(directory).map((file) => file.replace(/\.zst$/, '')).toSorted()).toStrictEqual(before.toSorted());
    expect((await compactRecording(directory)).left).toBe(0);
    expect(existsSync(join(directory, `${FILE}.zst`))).toBe(true);
  });

  it('changes no closed recording and none of format 1', async () => {
    const writer = openWriter(temporaryFolder());
    writer.append(1, 1, buyingSol(150_000, 1));
    await writer.close();
    const first = deadRecording();
    const manifest = parseManifest(readFileSync(join(first, 'manifest.json'), 'utf8'));
    writeFileSync(join(first, 'manifest.json'), formatManifest({ ...manifest, formatVersion: 1 }));
    for (const directory of [writer.directory, first]) {
      const files = new Map(filesIn(directory).map((file) => [file, readFileSync(join(directory, file))]));
      expect(await compactRecording(directory)).toStrictEqual({ segments: 0, bytesBefore: 0, bytesAfter: 0, left: 0 });
      expect(new Map(filesIn(directory).map((file) => [file, readFileSync(join(directory, file))])))
        .toStrictEqual(files);
    }
  });
});

describe('the window of a warm-up', () => {
  it('keeps its hash when its segments are compressed, also without a stored hash of the Arrow stream', async () => {
    const directory = deadRecording();
    const window = { from: HOUR, until: 3 * HOUR };
    const seen = openWindow(directory, window)!.sha256;
    await compactRecording(directory);
    expect(openWindow(directory, window)!.sha256).toBe(seen);
    // As it was written before: the digest of the compressed file alone.
    const { segments } = openRecording(directory);
    const old = segments.map(({ compressed, ...digest }) => formatDigestLine({
      ...digest, compressed: { rawBytes: compressed!.rawBytes, frames: compressed!.frames }, newFeeds: [],
    }));
    writeFileSync(join(directory, 'digests.ndjson'), old.join(''));
    expect(openWindow(directory, window)!.sha256).not.toBe(seen);
    expect(readBack(openRecording(directory)).length).toBeGreaterThan(150);
  });
});
