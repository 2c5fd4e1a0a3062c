import { existsSync, mkdirSync, readFileSync, readlinkSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runToEnd } from '../../../src/core/chunked-work.ts';
import { takeFileLock } from '../../../src/core/file-lock.ts';
import { findRecording, findRun, recordingOfRun } from '../../../src/daemon/files/find-run.ts';
import { prunedRun, refusePrunedRun } from '../../../src/daemon/files/pruned-run.ts';
import { openReplayInput } from '../../../src/daemon/files/replay-input.ts';
import { readDecisions } from '../../../src/daemon/files/run-files.ts';
import { readManifest } from '../../../src/daemon/files/run-manifest.ts';
import { listRuns } from '../../../src/daemon/retention/inventory.ts';
import { previewPruning, prune } from '../../../src/daemon/retention/prune.ts';
import { inspectRecording } from '../../../src/recording/check/inspect.ts';
import { openRecording } from '../../../src/recording/reader.ts';
import { openWindow } from '../../../src/recording/window.ts';
import { openJournal } from '../../../src/store/journal.ts';
import { temporaryFolder } from '../../store/fixtures.ts';
import { intentOf, wallClock } from '../../store/sample-intents.ts';
import { DAY, HOUR, NOW, makeRun, retention } from './retention-fixture.ts';

const pruned = expect.objectContaining({ code: 'RECORDING_PRUNED' });

function optionsOf(stateDir: string, given: object = {}): Parameters<typeof prune>[0] {
  return { stateDir, recordingDir: join(stateDir, 'recordings'), config: retention(given), now: NOW, warmupMs: 0 };
}

describe('a pruning', () => {
  it('deletes old recordings, decisions and logs, and keeps what names tokens, is pinned or is new', async () => {
    const stateDir = temporaryFolder();
    const [old, kept, recent, newest] = [40, 39, 5, 1].map((days) =>
      makeRun(stateDir, { at: NOW - days * DAY, hours: 2 })) as [Made, Made, Made, Made];
    for (const { writer } of [old, kept, recent, newest]) await writer.close();
    writeFileSync(join(kept.recording, 'keep'), '');
    mkdirSync(join(stateDir, 'recordings', 'synthetic-30d-7'));
    writeFileSync(join(stateDir, 'recordings', 'synthetic-30d-7', 'manifest.json'), '{}');
    const preview = await previewPruning(optionsOf(stateDir));
    expect(preview.plan.pieces.map(({ piece: { kind, name }, reason }) => `${kind} ${name} ${reason}`).sort()).toEqual([
      `logs ${old.runId}.log age`, `logs ${kept.runId}.log age`, `recordings ${old.runId} age`,
      `recordings ${old.runId} age`, `runs ${old.runId} age`,
    ]);
    expect(existsSync(old.recording)).toBe(true);
    const { after, before } = await prune(optionsOf(stateDir));
    expect(after!.total).toBeLessThan(before.total);
    expect(readdirSync(join(stateDir, 'recordings')).filter((name) => !name.startsWith('.')).sort())
      .toEqual([kept.runId, recent.runId, newest.runId, 'synthetic-30d-7'].sort());
    expect(readManifest(old.dir).run_id).toBe(old.runId);
    expect(prunedRun(old.dir)).toEqual({ decisions: true, recording: true });
    expect(() => recordingOfRun(findRun(stateDir, old.runId))).toThrow(pruned);
    expect(() => findRecording(stateDir, old.runId)).toThrow(pruned);
    await expect(openReplayInput(old.dir)).rejects.toThrow(pruned);
    for (const { dir, recording } of [kept, recent, newest]) {
      expect(readDecisions(dir)).toHaveLength(1);
      expect(openRecording(recording).events).toBe(120);
      refusePrunedRun(dir);
    }
    expect(readdirSync(join(stateDir, 'logs')).sort()).toEqual([`${recent.runId}.log`, `${newest.runId}.log`]);
    expect((await prune(optionsOf(stateDir))).plan.pieces).toEqual([]);
  });

  it('cuts a recording that is being written at an hour, and every reader says so', async () => {
    const stateDir = temporaryFolder();
    const { writer, recording, dir } = makeRun(stateDir, { at: NOW - 40 * HOUR, hours: 40 });
    const options = optionsOf(stateDir, { recordings: { max_age: '1d' } });
    const { plan } = await prune(options);
    expect(plan.pieces.every(({ piece: { kind }, reason }) => kind === 'recordings' && reason === 'age')).toBe(true);
    const from = NOW - DAY;
    for (const closed of [false, true]) {
      if (closed) await writer.close();
      const read = openRecording(recording);
      expect([read.firstAt, read.events, read.lost]).toEqual([from, 24 * 60, []]);
      expect(runToEnd(inspectRecording(recording))).toMatchObject({
        issues: [], warnings: expect.arrayContaining([expect.objectContaining({ code: 'RECORDING_PRUNED' })]),
      });
      expect(openWindow(recording, { from: NOW - 2 * HOUR, until: NOW })?.firstSeq).toBe(38 * 60 + 1);
      expect(openWindow(recording, { from: 0, until: NOW - 30 * HOUR })).toBeUndefined();
      await expect(openReplayInput(dir)).rejects.toThrow(/hours before 2026-11-19 12:00 UTC were deleted/);
    }
  });

  it('that was killed leaves files that are read, and the next one removes the rest', async () => {
    const stateDir = temporaryFolder();
    const [old, long] = [40, 2].map((days) => makeRun(stateDir, { at: NOW - days * DAY, hours: 47 })) as [Made, Made];
    for (const { writer } of [old, long]) await writer.close();
    // Killed after the name of the old recording was gone, and after the other one said what it lacks.
    mkdirSync(join(stateDir, 'recordings', '.trash'));
    renameSync(old.recording, join(stateDir, 'recordings', '.trash', old.runId));
    writeFileSync(join(old.dir, 'pruned.json'), '{"recording":true}\n');
    writeFileSync(join(long.recording, 'pruned.json'), '{"before":"2026-11-19T12"}\n');
    expect(openRecording(long.recording).firstAt).toBe(NOW - DAY);
    expect(() => findRecording(stateDir, old.runId)).toThrow(pruned);
    await prune(optionsOf(stateDir, { recordings: { max_age: '1d' } }));
    expect(readdirSync(join(stateDir, 'recordings'))).toEqual([long.runId]);
    expect(readdirSync(join(long.recording, 'quote')).every((name) => name >= '2026-11-19T12')).toBe(true);
    writeFileSync(join(long.recording, 'pruned.json'), '{"before":"now"}');
    expect(() => openRecording(long.recording)).toThrow(expect.objectContaining({ code: 'RECORDING_CORRUPT' }));
  });

  it.each([['hours', 2, '1d'], ['all', 40, '30d']] as const)(
    'of %s of a recording that is read ends the reading with a clear error', async (_what, days, maxAge) => {
      const stateDir = temporaryFolder();
      const [read, newest] = [{ at: NOW - days * DAY, hours: 40 }, { at: NOW - HOUR, hours: 1 }]
        .map((span) => makeRun(stateDir, span));
      await read!.writer.close();
      await newest!.writer.close();
      const cursor = openRecording(read!.recording).cursor();
      for (let event = 0; event < 100; event++) cursor.next();
      await prune(optionsOf(stateDir, { recordings: { max_age: maxAge } }));
      expect(() => { while (cursor.next()) continue; }).toThrow(expect.objectContaining({
        code: 'RECORDING_PRUNED', message: expect.stringMatching(/deleted quote\/.* while it was read.*recording keep/),
      }));
    },
  );

  it('adds no descriptors and leaves no lock beside an open journal, however often it runs', async () => {
    const stateDir = temporaryFolder();
    const journal = openJournal({ path: join(stateDir, 'journal.sqlite'), clock: wallClock });
    const open = (): number => readdirSync('/proc/self/fd')
      .filter((number) => linkOf(number).startsWith(stateDir)).length;
    await prune(optionsOf(stateDir));
    const once = open();
    for (let time = 0; time < 10; time++) await prune(optionsOf(stateDir));
    expect(open()).toBe(once);
    expect(readdirSync(join(stateDir, 'locks'))).toEqual([]);
    journal.close();
    expect(open()).toBe(0);
  });

  it('keeps what an open swap, a warm-up or the newest run needs, and says what is too large', async () => {
    const stateDir = temporaryFolder();
    const { writer } = makeRun(stateDir, { at: NOW - 50 * HOUR, hours: 49 });
    await writer.close();
    const tiny = { budget: '1kB', recordings: { max_size: '1kB' }, logs: { max_size: '1kB' } };
    const warm = await previewPruning({ ...optionsOf(stateDir, tiny), warmupMs: 10 * HOUR });
    expect(hoursLeft(warm)).toBe(10);
    const journal = openJournal({ path: join(stateDir, 'journal.sqlite'), clock: wallClock });
    journal.intentApproved(intentOf(1, { createdAt: NOW - 30 * HOUR }));
    const open = await previewPruning(optionsOf(stateDir, tiny));
    journal.close();
    expect(hoursLeft(open)).toBe(30);
    expect(open.plan.overBudgetBytes).toBeGreaterThan(0);
    expect(open.plan.pieces.every(({ piece: { kind } }) => kind === 'recordings')).toBe(true);
    // Nearly no room on the disk has the same effect as a small budget.
    const full = await previewPruning({ ...optionsOf(stateDir), neededBytes: 1e12 });
    expect([hoursLeft(full), full.plan.pieces[0]!.reason]).toEqual([30, 'disk']);
  });

  it('is refused while another process prunes', async () => {
    const stateDir = temporaryFolder();
    mkdirSync(join(stateDir, 'locks'), { recursive: true });
    const lock = takeFileLock(join(stateDir, 'locks', 'prune.lock'))!;
    await expect(prune(optionsOf(stateDir))).rejects.toThrow(expect.objectContaining({ code: 'STATE_LOCKED' }));
    lock.release();
    expect((await prune(optionsOf(stateDir))).plan.pieces).toEqual([]);
    expect(await listRuns({ stateDir, recordingDir: join(stateDir, 'recordings') })).toEqual([]);
    expect(existsSync(join(stateDir, 'journal.sqlite'))).toBe(false);
  });

  it('deletes the folders of the oldest of very many runs, but not one that alone knows a token', async () => {
    const stateDir = temporaryFolder();
    const old = makeRun(stateDir, { at: NOW - 800 * DAY, hours: 1, tokens: ['PEARL'] });
    await old.writer.close();
    const text = readFileSync(join(old.dir, 'manifest.json'), 'utf8');
    for (let index = 0; index < 502; index++) {
      const day = new Date(NOW - (700 - index) * DAY).toISOString().slice(0, 10).replaceAll('-', '');
      const folder = join(stateDir, 'runs', `${day}T000000-abcdef`);
      mkdirSync(folder);
      writeFileSync(join(folder, 'manifest.json'), text.replaceAll('PEARL', 'SOL'));
    }
    await prune(optionsOf(stateDir));
    const left = readdirSync(join(stateDir, 'runs')).filter((name) => !name.startsWith('.'));
    expect(left).toHaveLength(501);
    expect(left).toContain(old.runId);
  });
});

/** Empty for a descriptor that is closed by now. */
function linkOf(descriptor: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`);
  } catch {
    return '';
  }
}

type Made = ReturnType<typeof makeRun>;

function hoursLeft({ plan }: Awaited<ReturnType<typeof previewPruning>>): number {
  return 49 - plan.pieces.length;
}
