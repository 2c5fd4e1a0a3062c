import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { exportJsonl } from '../../../src/recording/export/jsonl.ts';
import { exportParquet } from '../../../src/recording/export/parquet.ts';
import type { Input } from '../../../src/trading/step.ts';
import type { Recording } from '../../../src/recording/reader.ts';
import { openRecording } from '../../../src/recording/reader.ts';
import { UnfinishedFile } from '../../../src/recording/export/unfinished-file.ts';
import { book, buyingSol } from '../../market/events.ts';
import { openWriter, temporaryFolder } from '../temporary.ts';

const never = new AbortController().signal;
const MODULE = new URL('../../../src/recording/export/unfinished-file.ts', import.meta.url).href;

async function recordingOf(inputs: readonly Input[]): Promise<Recording> {
  const writer = openWriter(temporaryFolder());
  inputs.forEach((input, index) => { writer.append(index + 1, index, input); });
  await writer.close();
  return openRecording(writer.directory);
}

/** What a process leaves of a file that is killed over it. */
function leaveBehind(path: string): void {
  const child = spawnSync(process.execPath, ['--input-type=module', '-e', `
    const { UnfinishedFile } = await import(${JSON.stringify(MODULE)});
    new UnfinishedFile(${JSON.stringify(path)}).write(Buffer.from('half of a longer export than the next one'));
    process.kill(process.pid, 'SIGKILL');
  `]);
  expect(child.signal).toBe('SIGKILL');
  expect(existsSync(`${path}.new`)).toBe(true);
}

describe('an unfinished file', () => {
  it('replaces the unfinished file of a killed process, and leaves no other file', async () => {
    const recording = await recordingOf([buyingSol(150_000, 0)]);
    const folder = temporaryFolder();
    const jsonl = join(folder, 'out.jsonl');
    const parquet = join(folder, 'quote.parquet');
    leaveBehind(jsonl);
    for (const end of ['.new', '.new.lock']) copyFileSync(jsonl + end, parquet + end);
    expect(await exportJsonl(recording, { file: jsonl, interrupt: never })).toMatchObject({ events: 1 });
    expect(JSON.parse(readFileSync(jsonl, 'utf8'))).toMatchObject({ seq: 1, kind: 'quote' });
    expect(await exportParquet(recording, { directory: folder, interrupt: never })).toMatchObject([{ rows: 1 }]);
    expect(readdirSync(folder).toSorted()).toStrictEqual(['out.jsonl', 'quote.parquet']);
  });

  it('is not created while another one is written, nor over a file without a lock', () => {
    const folder = temporaryFolder();
    const path = join(folder, 'out');
    const first = new UnfinishedFile(path);
    expect(() => new UnfinishedFile(path)).toThrow(
      expect.objectContaining({ code: 'USAGE', message: expect.stringContaining('another export is writing it') }),
    );
    first.discard();
    expect(readdirSync(folder)).toStrictEqual([]);
    writeFileSync(`${path}.new`, 'mine');
    expect(() => new UnfinishedFile(path))
      .toThrow(expect.objectContaining({ code: 'USAGE', message: expect.stringContaining(`${path}.new`) }));
    expect(readFileSync(`${path}.new`, 'utf8')).toBe('mine');
    expect(readdirSync(folder)).toStrictEqual(['out.new']);
    expect(() => new UnfinishedFile(join(folder, 'nowhere', 'out')))
      .toThrow(expect.objectContaining({ code: 'USAGE' }));
  });

  it('is never published over another file, and remains after it is published', () => {
    const folder = temporaryFolder();
    const path = join(folder, 'out');
    const file = new UnfinishedFile(path);
    file.finish();
    writeFileSync(path, 'mine');
    expect(() => { file.publish(); }).toThrow(expect.objectContaining({ code: 'USAGE' }));
    file.discard();
    expect([readdirSync(folder), readFileSync(path, 'utf8')]).toStrictEqual([['out'], 'mine']);
    rmSync(path);
    const again = new UnfinishedFile(path);
    again.write(Buffer.from('whole'));
    again.finish();
    again.publish();
    again.discard();
    expect([readdirSync(folder), readFileSync(path, 'utf8')]).toStrictEqual([['out'], 'whole']);
  });
});

describe('an export to lines of JSON', () => {
  it('writes numbers without a JSON form as strings', async () => {
    const recording = await recordingOf([book([[60, Infinity], [61, -Infinity], [62, NaN], [63, 0.5]], [])]);
    const file = join(temporaryFolder(), 'out.jsonl');
    await exportJsonl(recording, { file, interrupt: never });
    const line = JSON.parse(readFileSync(file, 'utf8')) as { readonly yes: readonly { readonly size: unknown }[] };
    expect(line.yes.map(({ size }) => size)).toStrictEqual(['Infinity', '-Infinity', 'NaN', 0.5]);
  });

  it('stops at an interrupt, and leaves no file', async () => {
    const recording = await recordingOf(Array.from({ length: 20_000 }, (_, index) =>
      buyingSol(150_000 + index, index)));
    const file = join(temporaryFolder(), 'out.jsonl');
    const interrupt = new AbortController();
    const done = expect(exportJsonl(recording, { file, interrupt: interrupt.signal }))
      .rejects.toMatchObject({ code: 'INTERRUPTED' });
    expect(existsSync(`${file}.new`)).toBe(true);
    setImmediate(() => { interrupt.abort(); });
    await done;
    expect(readdirSync(join(file, '..'))).toStrictEqual([]);
  });

  it('leaves no file after a fault', async () => {
    const recording = await recordingOf([buyingSol(150_000, 0)]);
    const file = join(temporaryFolder(), 'out.jsonl');
    const broken: Recording = { ...recording, cursor: () => { throw new Error('the disk is gone'); } };
    await expect(exportJsonl(broken, { file, interrupt: never })).rejects.toThrow('the disk is gone');
    expect(readdirSync(join(file, '..'))).toStrictEqual([]);
  });
});
