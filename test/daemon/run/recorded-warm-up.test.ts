import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { newRunId } from '../../../src/daemon/files/find-run.ts';
import type { Warmup } from '../../../src/daemon/run/recorded-warm-up.ts';
import { prepareWarmup, repeatWarmup } from '../../../src/daemon/run/recorded-warm-up.ts';
import type { StrategyInstance } from '../../../src/engine/strategy-host.ts';
import type { RecordedRows } from '../../../src/engine/warm-up.ts';
import { tokenStats } from '../../../src/strategy/index.ts';
import { priceInput, strategy } from '../../engine/runs.ts';
import { buyingSol } from '../../market/events.ts';
import { SOL } from '../../market/tokens.ts';
import { filesIn, openWriter, temporaryFolder } from '../../recording/temporary.ts';

const NOW = Date.UTC(2026, 10, 20, 12);
const MINUTE = 60_000;

const named = (feed: string): string => `<${feed}>`;

/** Writes a quote every five seconds into the recording of a run that begins then, this daemon's or another one's. */
function record(recordingDir: string, from: number, until: number, runs = 'runs'): string {
  const name = newRunId({ now: () => from, schedule: () => { throw new Error('no timers here'); } });
  const writer = openWriter(recordingDir, { name });
  let seq = 0;
  for (let at = from; at < until; at += 5_000) writer.append(++seq, at, buyingSol(150_000, at));
  writer.flush();
  const runDir = join(recordingDir, '..', runs, name);
  mkdirSync(runDir, { recursive: true });
  writeFileSync(join(runDir, 'manifest.json'), '{}');
  return name;
}

const warmed = (warmupMs: number, name = 'diver'): StrategyInstance => ({ ...strategy(name), warmupMs });

function prepare(recordingDir: string, instances: readonly StrategyInstance[]): Warmup {
  return prepareWarmup(instances, {
    recordingDir, runDir: join(recordingDir, '..', 'runs', 'this'), until: NOW, describe: named,
  })!;
}

function timesOf(rows: RecordedRows): number[] {
  const times: number[] = [];
  while (rows.next()) times.push(rows.at);
  return times;
}

function missingOf(dir: string, instances: readonly StrategyInstance[]): string[] {
  const warmup = prepare(dir, instances);
  timesOf(warmup.rows);
  return warmup.missing().map(({ strategy: name, message }) => `${name}: ${message}`);
}

function folder(): string {
  return join(temporaryFolder(), 'recordings');
}

describe('the recordings of a warm-up', () => {
  it('are not read where no strategy wants one', () => {
    expect(prepareWarmup([strategy('diver')], { recordingDir: folder(), runDir: '.', until: NOW, describe: named }))
      .toBeUndefined();
  });

  it('are those of several runs in order, including the one before the first, with the data for a replay', () => {
    const dir = folder();
    const names = [[-200, -150], [-90, -40], [-30, -20], [-10, 0]]
      .map(([from, until]) => record(dir, NOW + from! * MINUTE, NOW + until! * MINUTE));
    mkdirSync(join(dir, 'notes'));
    const warmup = prepare(dir, [warmed(60 * MINUTE), warmed(5 * MINUTE, 'short'), strategy('plain')]);
    expect(warmup.record).toEqual({
      strategies: { diver: 60 * MINUTE, short: 5 * MINUTE }, from: NOW - 60 * MINUTE, until: NOW,
      recordings: names.slice(1).map((name) => ({
        recording: `../../recordings/${name}`, first_seq: expect.any(Number), last_seq: expect.any(Number),
        sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      })),
    });
    const times = timesOf(warmup.rows);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(times.filter((at) => at >= NOW - 60 * MINUTE)).toHaveLength((20 + 10 + 10) * 12);
    expect(warmup.shown())
      .toBe('diver was warmed up with 480 recorded events; short was warmed up with 60 recorded events');
    expect(timesOf(repeatWarmup(warmup.record, join(dir, '..', 'runs', 'this')))).toEqual(times);
  });

  it('are only those of this daemon where another daemon uses the same folder', () => {
    const dir = folder();
    const own = [record(dir, NOW - 100 * MINUTE, NOW - 40 * MINUTE), record(dir, NOW - 20 * MINUTE, NOW)];
    record(dir, NOW - 90 * MINUTE, NOW, 'runs-of-another');
    record(dir, NOW - 70 * MINUTE, NOW, 'runs-of-another');
    const warmup = prepare(dir, [warmed(60 * MINUTE)]);
    expect(warmup.record.recordings.map(({ recording }) => recording))
      .toStrictEqual(own.map((name) => `../../recordings/${name}`));
    const times = timesOf(warmup.rows).filter((at) => at >= NOW - 60 * MINUTE);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(times).toHaveLength((20 + 20) * 12);
  });

  it('make a replay fail after a change', () => {
    const dir = folder();
    const name = record(dir, NOW - 10 * MINUTE, NOW);
    const { record: kept } = prepare(dir, [warmed(5 * MINUTE)]);
    const runDir = join(dir, '..', 'runs', 'this');
    expect(() => repeatWarmup(
      { ...kept, recordings: kept.recordings.map((one) => ({ ...one, sha256: 'ab'.repeat(32) })) }, runDir,
    )).toThrow(/expected what the run warmed its strategies with/);
    writeFileSync(
      join(dir, name, filesIn(join(dir, name)).find((file) => file.startsWith('quote/'))!), Buffer.alloc(100_000),
    );
    expect(() => repeatWarmup(kept, runDir)).toThrow(expect.objectContaining({ code: 'RECORDING_CORRUPT' }));
  });
});

describe('a warm-up reports missing data:', () => {
  it('none where everything is there', () => {
    const dir = folder();
    record(dir, NOW - 61 * MINUTE, NOW - 10_000);
    expect(missingOf(dir, [warmed(60 * MINUTE)])).toEqual([]);
  });

  it('everything without a recording', () => {
    expect(missingOf(folder(), [warmed(60 * MINUTE)]))
      .toEqual(['diver: not warmed up as wanted: nothing of the last 1h before the start is recorded']);
  });

  it('its begin, its gaps and its end', () => {
    const dir = folder();
    record(dir, NOW - 50 * MINUTE, NOW - 40 * MINUTE);
    record(dir, NOW - 30 * MINUTE, NOW - 5 * MINUTE);
    expect(missingOf(dir, [warmed(60 * MINUTE), warmed(20 * MINUTE, 'short')])).toEqual([
      'diver: not warmed up as wanted: of the last 1h before the start 34m50s are recorded',
      'short: not warmed up as wanted: of the last 20m before the start 14m55s are recorded',
    ]);
  });

  it('a feed that was not recorded', () => {
    const dir = folder();
    record(dir, NOW - 70 * MINUTE, NOW);
    const two = {
      ...strategy('diver', undefined, () => ({ ...priceInput(), stats: tokenStats(SOL, { every: '10s' }) })),
      warmupMs: 60 * MINUTE,
    };
    expect(missingOf(dir, [two])).toEqual(['diver: not warmed up as wanted: of the last 1h before the start 0s are '
      + `recorded, and nothing of <token-stats:${SOL.mint}>`]);
  });

  it('an unreadable recording', () => {
    const dir = folder();
    const name = record(dir, NOW - 70 * MINUTE, NOW);
    writeFileSync(join(dir, name, 'manifest.json'), '{}');
    expect(missingOf(dir, [warmed(60 * MINUTE)])).toEqual([expect.stringMatching(
      /^diver: not warmed up as wanted: nothing of the last 1h .* is recorded; recording \S+ is left out: /,
    )]);
  });
});
