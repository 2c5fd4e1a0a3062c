import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { VirtualTimeScheduler } from 'rxjs';
import { runToEnd } from '../../src/core/chunked-work.ts';
import type { GannetError } from '../../src/core/errors.ts';
import { openRecording } from '../../src/recording/reader.ts';
import { createRecordingWriter } from '../../src/recording/writer.ts';
import { buyingSol, sellingSol } from '../market/events.ts';
import { openWriter, temporaryFolder } from './temporary.ts';

const CHILD = fileURLToPath(new URL('writing-child.ts', import.meta.url));

/**
 * Starts the writing process, kills it once it has flushed at least `until` inputs, and returns the last number it
 * said.
 */
async function killedWriter(
  folder: string, { until, stepMs }: { readonly until: number; readonly stepMs: number },
): Promise<number> {
  // The zone and language of the writer must not matter to the reader.
  const env = { ...process.env, TZ: 'Asia/Kathmandu', LC_ALL: 'tr_TR.UTF-8' };
  const child = spawn(process.execPath, [CHILD, folder, String(stepMs)], { stdio: ['ignore', 'pipe', 'inherit'], env });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    said += chunk;
    if (Number(said.trimEnd().split('\n').at(-1)) >= until) child.kill('SIGKILL');
  });
  await once(child, 'close');
  // The last line may have been torn by the kill.
  return Number(said.slice(0, said.lastIndexOf('\n')).split('\n').at(-1));
}

describe('a recording whose writer was killed', () => {
  // A minute apart, segments end and are compressed all the time.
  it.each([
    { until: 70, stepMs: 1 }, { until: 8_000, stepMs: 1 }, { until: 700, stepMs: 60_000 },
    { until: 3_000, stepMs: 60_000 },
  ])('has everything that was flushed ($until inputs and more, $stepMs ms apart)', async ({ until, stepMs }) => {
    const folder = temporaryFolder();
    const acknowledged = await killedWriter(folder, { until, stepMs });
    const recording = openRecording(join(folder, 'run'));
    const end = runToEnd(recording.lastGapFreeSeq([]));
    expect(end).toBeGreaterThanOrEqual(acknowledged);
    const cursor = recording.cutAt(end).cursor();
    let seq = 0;
    while (cursor.next()) {
      seq += 1;
      expect(cursor.seq).toBe(seq);
      if (cursor.input.kind === 'command') expect(cursor.input.reason).toBe(`number ${seq}`);
    }
    expect(seq).toBe(end);
  });
});

describe('a writer', () => {
  it('flushes each second', () => {
    const clock = new VirtualTimeScheduler();
    const writer =
      createRecordingWriter({ dir: temporaryFolder(), clock, tokens: [], onError: (error) => { throw error; } });
    writer.append(1, 0, { kind: 'command', name: 'set-trading-state', state: 'active', reason: 'a' });
    expect(openRecording(writer.directory).events).toBe(0);
    clock.maxFrames = 1_000;
    clock.flush();
    expect(openRecording(writer.directory).events).toBe(1);
  });

  it('reports a fault of the disk once, counts dropped inputs, and rejects its close', async () => {
    const errors: GannetError[] = [];
    const writer = openWriter(temporaryFolder(), { onError: (error) => { errors.push(error); } });
    // Where the folder of a kind should be, there is a file.
    writeFileSync(join(writer.directory, 'command'), '');
    const command = { kind: 'command', name: 'set-trading-state', state: 'active', reason: 'a' } as const;
    writer.append(1, 1, command);
    writer.flush();
    writer.append(2, 2, command);
    writer.flush();
    expect(errors).toMatchObject([{ code: 'RECORDING_WRITE_FAILED' }]);
    expect(writer.stats()).toMatchObject({ failed: true, dropped: 1 });
    await expect(writer.close()).rejects.toMatchObject({ code: 'RECORDING_WRITE_FAILED' });
    expect(openRecording(writer.directory)).toMatchObject({ events: 0, truncatedAt: 0 });
  });

  it('refuses times that are not whole milliseconds, because a replay would see others', () => {
    const writer = openWriter(temporaryFolder());
    const health = { kind: 'feed-health', feed: 'a', status: 'healthy', consecutiveFailures: 0 } as const;
    expect(() => { writer.append(1, 5, { ...health, receivedAt: 4.5 }); })
      .toThrow(expect.objectContaining({ name: 'AssertionError' }));
    expect(() => { writer.append(1, 5.5, { ...health, receivedAt: 4.5 }); })
      .toThrow(expect.objectContaining({ name: 'AssertionError' }));
    expect(() => { writer.append(1, 5, { ...health, receivedAt: 5, eventAt: NaN }); })
      .toThrow(expect.objectContaining({ name: 'AssertionError' }));
  });

  it('keeps its feeds and all rows when it dies while it writes the final manifest', async () => {
    const writer = openWriter(temporaryFolder());
    for (let seq = 1; seq <= 4; seq++)
      writer.append(seq, seq * 3_600_000, seq % 2 === 0 ? buyingSol(150_000, seq) : sellingSol(150_000, seq));
    const manifest = join(writer.directory, 'manifest.json');
    const before = readFileSync(manifest);
    await writer.close();
    const whole = openRecording(writer.directory);
    writeFileSync(manifest, before);
    const { truncatedAt, events, feeds } = openRecording(writer.directory);
    expect({ truncatedAt, events, feeds }).toEqual({ truncatedAt: 4, events: 4, feeds: whole.feeds });
    expect(feeds).toHaveLength(2);
  });

  it('refuses a folder that cannot be created', () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'file'), '');
    expect(() => openWriter(join(folder, 'file'))).toThrow(expect.objectContaining({ code: 'RECORDING_WRITE_FAILED' }));
  });
});
