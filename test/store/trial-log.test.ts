import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import * as fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openJournal } from '../../src/store/journal.ts';
import type { LoggedTrial, TrialLog } from '../../src/store/trial-log.ts';
import { openTrialLog } from '../../src/store/trial-log.ts';
import { temporaryFolder } from './fixtures.ts';
import { wallClock } from './sample-intents.ts';
import { NO_SMALL_DISK, smallDisk } from './small-disk.ts';

const CHILD = fileURLToPath(new URL('trial-logging-child.ts', import.meta.url));
const DAY = 86_400_000;
const MONTH = { recording: 'a', from: 0, to: 30 * DAY };
const logPath = (): string => join(temporaryFolder(), 'trials.sqlite');

function trial(id: string, rest: Partial<LoggedTrial> = {}): LoggedTrial {
  return { id, params: '{}', data: MONTH, sharpe: 1, isFold: false, ...rest };
}

function opened(path = logPath()): TrialLog {
  const log = openTrialLog(path);
  onTestFinished(() => { log.close(); });
  return log;
}

describe('the log of trials', () => {
  it('counts a trial once however often it is run, by its last result, and keeps it when it is closed', () => {
    const path = logPath();
    const log = openTrialLog(path);
    log.record([trial('one', { sharpe: 1 }), trial('two', { sharpe: 2 })]);
    log.record([trial('one', { sharpe: 4 })]);
    log.close();
    expect(opened(path).of(MONTH)).toStrictEqual({ count: 2, sharpeVariance: 2 });
  });

  it('counts those without a Sharpe ratio too, and gives a variance of two at least', () => {
    const log = opened();
    expect(log.of(MONTH)).toStrictEqual({ count: 0, sharpeVariance: undefined });
    log.record([trial('idle', { sharpe: null }), trial('one')]);
    expect(log.of(MONTH)).toStrictEqual({ count: 2, sharpeVariance: undefined });
    log.record([trial('two', { sharpe: 3 })]);
    expect(log.of(MONTH)).toStrictEqual({ count: 3, sharpeVariance: 2 });
  });

  it('keeps recordings apart, and periods that share no row; what shares some counts', () => {
    const log = opened();
    log.record([
      trial('other', { data: { ...MONTH, recording: 'b' } }),
      trial('after', { data: { ...MONTH, from: 30 * DAY, to: 31 * DAY } }),
      trial('within', { data: { ...MONTH, from: 5 * DAY, to: 6 * DAY } }),
      trial('across', { data: { ...MONTH, from: 29 * DAY, to: 40 * DAY } }),
    ]);
    expect(log.of(MONTH).count).toBe(2);
    expect(log.of({ ...MONTH, from: 7 * DAY, to: 29 * DAY }).count).toBe(0);
  });

  it('takes of a trial on several spans the most similar one, and excludes short spans from the variance', () => {
    const log = opened();
    const week = { ...MONTH, to: 7 * DAY };
    log.record([
      trial('one', { sharpe: 1 }), trial('one', { sharpe: 90, data: week }), trial('two', { sharpe: 3 }),
      trial('two', { sharpe: -70, data: week }),
    ]);
    log.record([trial('three', { sharpe: 500, data: week })]);
    expect(log.of(MONTH)).toStrictEqual({ count: 3, sharpeVariance: 2 });
    expect(log.of(week)).toMatchObject({ count: 3, sharpeVariance: expect.closeTo(86_433.333, 2) });
    // Where nothing else is there, short spans are all that is known.
    expect(log.of({ ...MONTH, to: 100 * DAY, from: 6 * DAY }))
      .toMatchObject({ count: 3, sharpeVariance: expect.closeTo(82_669, 6) });
  });

  it('leaves out fold trials on request, unless they were also run for their own sake, in any order', () => {
    const log = opened();
    log.record([
      trial('fold', { isFold: true }), trial('both', { isFold: true }), trial('both'), trial('own'),
      trial('own', { isFold: true }),
    ]);
    expect([log.of(MONTH).count, log.of(MONTH, { withFolds: false }).count]).toStrictEqual([3, 2]);
  });

  it('never counts fewer after another trial', () => {
    const log = opened();
    const period = fc.tuple(fc.integer({ min: 0, max: 50 }), fc.integer({ min: 1, max: 50 }))
      .map(([from, days]) => ({ recording: 'p', from, to: from + days }));
    const trials = fc.array(fc.record({
      id: fc.constantFrom('a', 'b', 'c', 'd', 'e'), params: fc.constant('{}'), data: period,
      sharpe: fc.option(fc.double({ min: -5, max: 5, noNaN: true })), isFold: fc.boolean(),
    }), { minLength: 1, maxLength: 8 });
    fc.assert(fc.property(trials, period, (list, data) => {
      const before = log.of(data);
      log.record(list);
      const now = log.of(data);
      expect(now.count).toBeGreaterThanOrEqual(before.count);
      expect(now.count).toBeLessThanOrEqual(5);
      expect(log.of(data, { withFolds: false }).count).toBeLessThanOrEqual(now.count);
    }), { numRuns: 30 });
  });

  it('is written by several processes at once without loss', async () => {
    const path = logPath();
    const children = ['a', 'b', 'c'].map((prefix) =>
      spawn(process.execPath, [CHILD, path, prefix, '12'], { stdio: ['ignore', 'inherit', 'inherit'] }));
    const codes = await Promise.all(children.map(async (child) => (await once(child, 'exit'))[0] as number));
    expect(codes).toStrictEqual([0, 0, 0]);
    expect(opened(path).of({ recording: 'rec', from: 0, to: 1_000 }).count).toBe(37);
  });
});

function invalid(path: string, message: RegExp): unknown {
  return expect.objectContaining({
    code: 'TRIALS_INVALID', message: expect.stringMatching(message), details: expect.objectContaining({ path }),
  });
}

function filled(): string {
  const path = logPath();
  const log = openTrialLog(path);
  log.record(Array.from({ length: 400 }, (_, n) => trial(`trial-${n}`, { params: 'x'.repeat(100) })));
  log.close();
  return path;
}

describe('a file that is not a trial log of this format', () => {
  it('is refused when it is newer, naming the release that reads it', () => {
    const path = filled();
    const database = new DatabaseSync(path);
    database.exec("PRAGMA user_version = 9; UPDATE format SET readable_since = '3.1.0'");
    database.close();
    expect(() => openTrialLog(path))
      .toThrow(invalid(path, /has format 9, which Gannet 3\.1\.0 reads; this one reads up to format 1/));
  });

  it('is refused and left unchanged when it is another database, such as a journal', () => {
    const path = join(temporaryFolder(), 'journal.sqlite');
    openJournal({ path, clock: wallClock }).close();
    const before = readFileSync(path);
    expect(() => openTrialLog(path)).toThrow(
      invalid(path, /expected a Gannet trial log, found another SQLite database; give another state directory/),
    );
    expect(readFileSync(path)).toStrictEqual(before);
  });

  it.each([
    ['is no database', (path: string) => {
      writeFileSync(path, 'these are notes, not a database, and quite long ones at that\n'.repeat(100));
    }],
    ['lost its end', (path: string) => { truncateSync(path, Math.floor(readFileSync(path).length * 0.6)); }],
    [
      'was overwritten in the middle',
      (path: string) => { writeFileSync(path, readFileSync(path).fill(0xee, 8_192, 40_000)); },
    ],
  ])('is refused when it %s, with the file and what to do', (_, spoil) => {
    const path = filled();
    spoil(path);
    expect(() => openTrialLog(path)).toThrow(invalid(path, /restore it from a copy, or move the file away/));
  });

  it('cannot be opened when a folder is in its place, or a file in the place of its folder', () => {
    const path = logPath();
    mkdirSync(path);
    expect(() => openTrialLog(path))
      .toThrow(expect.objectContaining({ code: 'TRIALS_FAILED', message: expect.stringContaining(path) }));
    rmSync(path, { recursive: true });
    writeFileSync(path, '');
    expect(() => openTrialLog(join(path, 'trials.sqlite'))).toThrow(expect.objectContaining({ code: 'TRIALS_FAILED' }));
  });
});

it.skipIf(
  NO_SMALL_DISK !== undefined,
)('a full disk refuses trials, and the log continues when there is room again', () => {
  const disk = smallDisk();
  const log = opened(join(disk.dir, 'trials.sqlite'));
  log.record([trial('before')]);
  disk.fill();
  const many = Array.from({ length: 2_000 }, (_, n) => trial(`after-${n}`, { params: 'x'.repeat(200) }));
  expect(() => { log.record(many); })
    .toThrow(expect.objectContaining({ code: 'TRIALS_FAILED', message: expect.stringContaining('check the disk') }));
  expect(log.of(MONTH).count).toBe(1);
  disk.clear();
  log.record(many);
  expect(log.of(MONTH).count).toBe(2_001);
});
