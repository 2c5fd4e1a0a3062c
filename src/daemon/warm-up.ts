import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { Millis } from '../core/time.ts';
import { GannetError, isGannetError, messageOf } from '../core/errors.ts';
import type { StrategyInstance } from '../engine/host.ts';
import type { RecordedRows } from '../engine/warm-up.ts';
import type { FeedKey } from '../market/event.ts';
import type { RecordingWindow } from '../recording/window.ts';
import { openWindow } from '../recording/window.ts';
import { beginningOf } from './run-id.ts';
import { Coverage } from './warm-up-coverage.ts';

/** What strategies were shown before they started: with it, a replay shows them the same. */
export interface WarmupRecord {
  /** How much of the past each strategy was shown, milliseconds. */
  readonly strategies: Readonly<Record<string, Millis>>;
  readonly from: Millis;
  readonly until: Millis;
  /** Oldest first; folders relative to the run's own. The hash is that of the segments that reach into the time. */
  readonly recordings: readonly { readonly recording: string; readonly first_seq: number; readonly last_seq: number; readonly sha256: string }[];
}

/** A warm-up that is about to begin. */
export interface Warmup {
  readonly record: WarmupRecord;
  readonly rows: RecordedRows;
  /** Returns what is missing, each in a sentence, once the rows were shown. */
  missing(): { readonly strategy: string; readonly message: string }[];
  /** Returns what was shown, for the log. */
  shown(): string;
}

/**
 * Returns what this daemon's runs recorded in the time before `until` that the strategies want to see again; undefined
 * where none of them wants to. A recording that cannot be read is left out and told.
 */
export function prepareWarmup(strategies: readonly StrategyInstance[], { recordingDir, runDir, until, describe }: {
  readonly recordingDir: string;
  readonly runDir: string;
  readonly until: Millis;
  /** Names a feed for people. */
  readonly describe: (feed: FeedKey) => string;
}): Warmup | undefined {
  const warmed = strategies.filter(({ warmupMs = 0 }) => warmupMs > 0);
  if (warmed.length === 0) return undefined;
  const from = until - Math.max(...warmed.map(({ warmupMs = 0 }) => warmupMs));
  const faults: string[] = [];
  const windows = recordingsSince(recordingDir, { runsDir: dirname(runDir), from, until }).flatMap((name) => {
    try {
      return openWindow(join(recordingDir, name), { from, until }) ?? [];
    } catch (error) {
      if (!isGannetError(error)) throw error;
      faults.push(`recording ${name} is left out: ${messageOf(error)}`);
      return [];
    }
  });
  const coverage = new Coverage(warmed, until);
  return {
    record: {
      strategies: Object.fromEntries(warmed.map(({ name, warmupMs = 0 }) => [name, warmupMs])),
      from, until,
      recordings: windows.map(({ directory, firstSeq, lastSeq, sha256 }) => ({ recording: relative(runDir, directory), first_seq: firstSeq, last_seq: lastSeq, sha256 })),
    },
    rows: coverage.watching(inTurn(windows)),
    missing: () => coverage.missing(faults, describe),
    shown: () => coverage.shown(),
  };
}

/** Returns what a run showed its strategies before they started. Throws RECORDING_CORRUPT where it is not there any more. */
export function repeatWarmup({ from, until, recordings }: WarmupRecord, runDir: string): RecordedRows {
  return inTurn(recordings.map(({ recording, sha256 }) => {
    const directory = join(runDir, recording);
    const window = openWindow(directory, { from, until });
    if (window?.sha256 === sha256) return window;
    throw new GannetError('RECORDING_CORRUPT',
      `${directory}: expected what the run warmed its strategies with (hash ${sha256}), found ${window?.sha256 ?? 'nothing of that time'}; restore the recording from a copy`);
  }));
}

/**
 * Runs of one daemon follow one another, so the one before the first that began in the time is the oldest that can reach
 * into it. Another daemon's may stand in the same folder: they know the same prices again, and still grow.
 */
function recordingsSince(recordingDir: string, { runsDir, from, until }: { readonly runsDir: string; readonly from: Millis; readonly until: Millis }): string[] {
  const isOwn = (name: string): boolean => existsSync(join(runsDir, name, 'manifest.json'));
  const runs = namesIn(recordingDir).filter(isOwn).map((name) => ({ name, beganAt: beginningOf(name) ?? Infinity })).filter(({ beganAt }) => beganAt < until);
  runs.sort((a, b) => a.beganAt - b.beganAt || (a.name < b.name ? -1 : 1));
  const first = runs.findIndex(({ beganAt }) => beganAt >= from);
  return runs.slice(Math.max(0, first === -1 ? runs.length - 1 : first - 1)).map(({ name }) => name);
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}

function inTurn(windows: readonly RecordingWindow[]): RecordedRows {
  const waiting = [...windows];
  let cursor = waiting.shift()?.cursor();
  return {
    next: () => {
      while (cursor?.next() === false) cursor = waiting.shift()?.cursor();
      return cursor !== undefined;
    },
    get at() { return cursor!.at; },
    get input() { return cursor!.input; },
  };
}
