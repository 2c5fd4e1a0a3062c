import { existsSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { runDirOf } from '../../../src/daemon/files/find-run.ts';
import { createRunFiles, readDecisions, writeBehindRunFiles } from '../../../src/daemon/files/run-files.ts';
import type { RunManifest } from '../../../src/daemon/files/run-manifest.ts';
import { readManifest } from '../../../src/daemon/files/run-manifest.ts';
import { createLog } from '../../../src/daemon/reporting/log.ts';
import type { DiskGuard, DiskMarks } from '../../../src/daemon/watch/disk-guard.ts';
import { createDiskGuard, isDiskFull } from '../../../src/daemon/watch/disk-guard.ts';
import type { LoggedDecision } from '../../../src/engine/decision-log.ts';
import { DecisionLog } from '../../../src/engine/decision-log.ts';
import { VirtualClock } from '../../../src/engine/virtual-clock.ts';
import { openRecording } from '../../../src/recording/reader.ts';
import { createRecordingWriter } from '../../../src/recording/writer.ts';
import { lockState } from '../../../src/store/locks.ts';
import type { EngineState } from '../../../src/trading/engine-state.ts';
import { buyingSol } from '../../market/events.ts';
import { temporaryFolder } from '../../store/fixtures.ts';
import { NO_SMALL_DISK, smallDisk } from '../../store/small-disk.ts';

const START = 1_790_000_000_000;
const MIB = 1_048_576;
const MARKS: DiskMarks = { recordingBytes: 3 * MIB, entriesBytes: 1.5 * MIB, ballastBytes: MIB / 2 };

/** A run as the guard sees it; commands take effect at once. */
interface Guarded {
  readonly guard: DiskGuard;
  readonly ballast: string;
  readonly state: { trading: EngineState['trading']; tradingBy: EngineState['tradingBy'] };
  readonly told: string[];
  readonly recording: { on: boolean };
  /** Lets five seconds pass again and again, until it is as wanted. */
  until(wanted: () => boolean): Promise<void>;
}

function guarded(dir: string, marks = MARKS): Guarded {
  const clock = new VirtualClock(START);
  const guard = createDiskGuard({
    stateDir: dir, recordingDir: join(dir, 'recordings', 'not yet there'), clock, log: () => undefined, marks,
  });
  const state: Guarded['state'] = { trading: 'active', tradingBy: 'operator' };
  const told: string[] = [];
  const recording = { on: true };
  const watching = guard.watch({
    state,
    accept: ({ state: trading, by = 'operator' }) => {
      state.trading = trading;
      state.tradingBy = by;
      told.push(`${trading} by ${by}`);
    },
    alert: (level, message) => { told.push(`${level}: ${message}`); },
    stopRecording: () => {
      const was = recording.on;
      recording.on = false;
      return was;
    },
    retry: () => undefined,
  });
  onTestFinished(() => { watching.unsubscribe(); });
  return {
    guard, state, told, recording, ballast: join(dir, 'ballast'),
    until: (wanted) => expect.poll(() => {
      clock.advanceTo(clock.now() + 5_000);
      return wanted();
    }, { interval: 20, timeout: 10_000 }).toBe(true),
  };
}

function decisions(count: number): LoggedDecision[] {
  const log = new DecisionLog();
  return Array.from({ length: count }, (_, index) => log.append({
    seq: index + 1, at: START + index, strategy: 'diver', verdict: 'denied', code: 'TRADING_HALTED',
    proposal: { kind: 'alert', level: 'info', message: 'x'.repeat(500) },
  }));
}

const manifestOf = (runId: string): RunManifest => ({ format_version: 1, run_id: runId } as RunManifest);

describe.skipIf(
  NO_SMALL_DISK !== undefined,
)(`on a full disk${NO_SMALL_DISK === undefined ? '' : ` (left out: ${NO_SMALL_DISK})`}`, () => {
  it('a run stops the recording first, then entries, and resumes entries once there is room', async () => {
    const disk = smallDisk();
    const run = guarded(disk.dir);
    // It is there before it is whole.
    await run.until(() => existsSync(run.ballast) && statSync(run.ballast).size === MARKS.ballastBytes);
    expect([run.told, run.recording.on]).toEqual([[], true]);
    disk.fill(2 * MIB);
    await run.until(() => !run.recording.on);
    expect(run.told)
      .toEqual([
        expect.stringMatching(/^warning: the disk of .* has 2 MiB left: the recording of this run has stopped/),
      ]);
    expect(run.state.trading).toBe('active');
    disk.fill(MIB);
    await run.until(() => run.state.trading !== 'active');
    expect(run.told.slice(1)).toEqual([
      expect.stringMatching(/^critical: .*no more entries until there is room again, exits go on/),
      'reduce-only by disk-guard',
    ]);
    expect(existsSync(run.ballast)).toBe(true);
    disk.clear();
    await run.until(() => run.state.trading === 'active');
    expect(run.told.slice(3)).toEqual(['info: there is room on the disk again', 'active by disk-guard']);
    expect(run.recording.on).toBe(false);
  });

  it('a run deletes its ballast as the last reserve, and writes a new one later', async () => {
    const disk = smallDisk();
    const run = guarded(disk.dir);
    await run.until(() => existsSync(run.ballast) && statSync(run.ballast).size === MARKS.ballastBytes);
    disk.fill(MIB / 4);
    await run.until(() => !existsSync(run.ballast));
    writeFileSync(join(disk.dir, 'an exit'), Buffer.alloc(MARKS.ballastBytes));
    disk.clear();
    await run.until(() => existsSync(run.ballast));
    expect(readdirSync(disk.dir).sort()).toEqual(['an exit', 'ballast']);
  });

  it('a decision is written whole or not at all, and all are written once there is room', () => {
    const disk = smallDisk(1);
    const faults: Error[] = [];
    const told: string[] = [];
    const files = writeBehindRunFiles({ dir: runDirOf(disk.dir, 'run'), open: () => createRunFiles(disk.dir, 'run') }, {
      onFault: (error) => { faults.push(error); return false; }, onWritten: () => { told.push('written'); },
    });
    const all = decisions(40);
    files.manifest(manifestOf('before'));
    for (const logged of all.slice(0, 5)) files.decision(logged);
    disk.fill(700);
    for (const logged of all.slice(5, 35)) files.decision(logged);
    files.manifest(manifestOf('later'));
    expect(faults.length).toBeGreaterThan(0);
    const kept = readDecisions(files.dir);
    expect(kept.length).toBeGreaterThanOrEqual(5);
    expect(kept.length).toBeLessThan(35);
    expect(readFileSync(join(files.dir, 'decisions.ndjson'), 'utf8')).toMatch(/\n$/);
    expect(readManifest(files.dir).run_id).toBe('before');
    expect(readdirSync(files.dir).sort()).toEqual(['decisions.ndjson', 'manifest.json']);
    disk.clear();
    for (const logged of all.slice(35)) files.decision(logged);
    files.close();
    expect(readDecisions(files.dir).map(({ h }) => h)).toEqual(all.map(({ h }) => h));
    expect(readManifest(files.dir).run_id).toBe('later');
    expect(told).toEqual(['written']);
  });

  it('a recording ends at its last whole batch and stays readable', async () => {
    const disk = smallDisk(1);
    const faults: Error[] = [];
    const writer = createRecordingWriter({
      dir: disk.dir, name: 'run', clock: new VirtualClock(START), tokens: [],
      onError: (error) => { faults.push(error); },
    });
    for (let seq = 1; seq <= 50; seq++) writer.append(seq, START + seq, buyingSol(150_000 + seq, START + seq));
    writer.flush();
    disk.fill();
    for (let seq = 51; seq <= 20_000; seq++) writer.append(seq, START + seq, buyingSol(150_000 + seq, START + seq));
    writer.flush();
    expect(faults).toMatchObject([{ code: 'RECORDING_WRITE_FAILED' }]);
    expect(isDiskFull(faults[0])).toBe(true);
    expect(writer.stop()).toBe(false);
    disk.clear();
    await expect(writer.close()).rejects.toMatchObject({ code: 'RECORDING_WRITE_FAILED' });
    expect(openRecording(writer.directory)).toMatchObject({ truncatedAt: 50, events: 50 });
  });

  it('a log that cannot write can still be closed', async () => {
    const disk = smallDisk(1);
    const { log, close } =
      createLog({ level: 'info', secrets: [], terminal: false, file: { stateDir: disk.dir, name: 'run' } });
    log('info', 'while there is room');
    disk.fill();
    // More than is left of the file's last page: a part of it would fit.
    log('info', 'while there is none '.repeat(220));
    await new Promise((resolve) => { setTimeout(resolve, 20); });
    disk.clear();
    log('info', 'and again');
    await close();
    const lines = readFileSync(join(disk.dir, 'logs', 'run.log'), 'utf8').trim().split('\n')
      .map((line) => (JSON.parse(line) as { message: string }).message);
    expect(lines).toEqual(['while there is room', 'and again']);
  });

  it('a start gets its lock', () => {
    const disk = smallDisk(1);
    lockState(join(disk.dir, 'state'), new VirtualClock(START)).release();
    disk.fill();
    lockState(join(disk.dir, 'state'), new VirtualClock(START)).release();
  });

  it('issue 13.38: a run’s files are created once there is room', () => {
    const disk = smallDisk(1);
    const faults: Error[] = [];
    disk.fill();
    const files = writeBehindRunFiles({ dir: runDirOf(disk.dir, 'run'), open: () => createRunFiles(disk.dir, 'run') }, {
      onFault: (error) => { faults.push(error); return false; }, onWritten: () => undefined,
    });
    files.manifest(manifestOf('run'));
    const all = decisions(3);
    for (const logged of all) files.decision(logged);
    expect(faults.length).toBeGreaterThan(0);
    disk.clear();
    files.close();
    expect([readManifest(files.dir).run_id, readDecisions(files.dir).length]).toEqual(['run', 3]);
  });
});

describe('the disk guard', () => {
  it('keeps restrictions of the operator, and undoes only its own', async () => {
    const run = guarded(temporaryFolder(), { recordingBytes: 0, entriesBytes: 0, ballastBytes: 0 });
    run.state.trading = 'halted';
    run.guard.failed('the journal', new Error('no space'));
    expect(run.state).toEqual({ trading: 'halted', tradingBy: 'operator' });
    run.guard.recovered('the journal');
    await run.until(() => run.told.some((line) => line.startsWith('info: there is room')));
    expect(run.state).toEqual({ trading: 'halted', tradingBy: 'operator' });
  });

  it('removes a partial ballast that a crashed run left', () => {
    const dir = temporaryFolder();
    writeFileSync(join(dir, 'ballast.new'), 'a part');
    guarded(dir);
    expect(existsSync(join(dir, 'ballast.new'))).toBe(false);
  });

  it('undoes the restriction of an earlier run on a full disk', async () => {
    const run = guarded(temporaryFolder(), { recordingBytes: 0, entriesBytes: 0, ballastBytes: 0 });
    Object.assign(run.state, { trading: 'reduce-only', tradingBy: 'disk-guard' });
    await run.until(() => run.state.trading === 'active');
  });

  it('alerts once on a failed write, stops entries while it lasts, and repeats that after a resume', async () => {
    const run = guarded(temporaryFolder(), { recordingBytes: 0, entriesBytes: 0, ballastBytes: 0 });
    run.guard.failed('the journal', new Error('no space\u001b[31m'));
    run.guard.failed('the journal', new Error('no space'));
    const alerts = run.told.filter((line) => line.startsWith('critical'));
    expect(alerts).toHaveLength(1);
    expect(alerts[0]).toMatch(/^critical: the journal cannot be written \(no space[\x20-\x7e]*\): no more entries/);
    run.state.trading = 'active';
    await run.until(() => run.state.trading === 'reduce-only');
    run.guard.recovered('the journal');
    await run.until(() => run.state.trading === 'active');
  });

  it('does not stop entries when only the recording cannot be written', () => {
    const run = guarded(temporaryFolder(), { recordingBytes: 0, entriesBytes: 0, ballastBytes: 0 });
    run.guard.recordingFailed(new Error('no space'));
    expect([run.state.trading, run.told])
      .toEqual(['active', [expect.stringMatching(/^warning: the recording stopped/)]]);
    // Another writer on the disk of the journal does.
    run.guard.failed('the journal', new Error('no space'));
    expect(run.state.trading).toBe('reduce-only');
  });
});

describe('the guard of the disks', () => {
  it('logs each cause of a failed write once, however often the writer tries again', () => {
    const logged: string[] = [];
    const dir = temporaryFolder();
    const guard = createDiskGuard({
      stateDir: dir, recordingDir: dir, clock: new VirtualClock(START),
      log: (level, message) => { logged.push(`${level}: ${message}`); },
    });
    const tries = (cause: string): void => {
      for (let time = 0; time < 5; time++) guard.failed('the journal', new Error(cause));
    };
    tries('the disk is full');
    tries('it is read-only');
    expect(logged).toEqual(Array(2).fill('error: the journal could not be written'));
    guard.recovered('the journal');
    tries('it is read-only');
    expect(logged).toHaveLength(3);
  });
});
