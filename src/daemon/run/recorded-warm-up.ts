import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import type { ChunkedWork } from '../../core/chunked-work.ts';
import { runToEnd } from '../../core/chunked-work.ts';
import { GannetError, isGannetError, messageOf } from '../../core/errors.ts';
import type { Millis } from '../../core/time.ts';
import { formatDuration } from '../../core/time.ts';
import type { StrategyInstance } from '../../engine/strategy-host.ts';
import type { RecordedRows } from '../../engine/warm-up.ts';
import type { FeedKey } from '../../market/event.ts';
import { feedKey, isPolled } from '../../market/feed.ts';
import { refusePruned } from '../../recording/pruning.ts';
import type { RecordingWindow } from '../../recording/window.ts';
import { openWindow, openWindowInChunks } from '../../recording/window.ts';
import { runStartOf } from '../files/find-run.ts';
import type { WarmupRecord } from '../files/run-manifest.ts';
import type { WarmupWindow } from '../../trading/engine-command.ts';
import { specsOf } from '../../strategy/input.ts';

/** A prepared warm-up. */
export interface Warmup {
  readonly record: WarmupRecord;
  readonly rows: RecordedRows;
  /** Returns a message for each strategy with missing events; call it after the rows were read. */
  missing(): { readonly strategy: string; readonly message: string }[];
  /** Returns the number of events for each strategy, for the log. */
  shown(): string;
}

/**
 * Returns the warm-up of strategies from earlier recordings of this daemon, up to `until`; undefined where no strategy
 * wants one. An unreadable recording is left out and reported.
 */
export function* prepareWarmupInChunks(strategies: readonly StrategyInstance[], {
  recordingDir, runDir, until, running, describe,
}: {
  readonly recordingDir: string;
  readonly runDir: string;
  readonly until: Millis;
  /** The recording that is being written, whose rows belong to the run itself; undefined before it begins. */
  readonly running?: string | undefined;
  /** Names a feed for people. */
  readonly describe: (feed: FeedKey) => string;
}): ChunkedWork<Warmup | undefined> {
  const warmed = strategies.filter(({ warmupMs = 0 }) => warmupMs > 0);
  if (warmed.length === 0) return undefined;
  const from = until - Math.max(...warmed.map(({ warmupMs = 0 }) => warmupMs));
  const faults: string[] = [];
  const windows: RecordingWindow[] = [];
  for (const name of recordingsSince(recordingDir, { runsDir: dirname(runDir), from, until })) {
    try {
      const window = yield* openWindowInChunks(join(recordingDir, name), { from, until });
      if (window !== undefined) windows.push(window);
    } catch (error) {
      if (!isGannetError(error)) throw error;
      faults.push(`recording ${name} is left out: ${messageOf(error)}`);
    }
  }
  const coverage = new Coverage(warmed, until);
  return {
    record: {
      strategies: Object.fromEntries(warmed.map(({ name, warmupMs = 0 }) => [name, warmupMs])),
      from, until,
      recordings: windows.filter(({ directory }) => basename(directory) !== running)
        .map(({ directory, firstSeq, lastSeq, sha256 }) =>
          ({ recording: relative(runDir, directory), first_seq: firstSeq, last_seq: lastSeq, sha256 })),
    },
    rows: coverage.counting(concatenated(windows.map((window) => window.cursor()))),
    missing: () => coverage.missing(faults, describe),
    shown: () => coverage.shown(),
  };
}

/** Prepares a warm-up as `prepareWarmupInChunks` does, without a pause. */
export function prepareWarmup(...given: Parameters<typeof prepareWarmupInChunks>): Warmup | undefined {
  return runToEnd(prepareWarmupInChunks(...given));
}

/**
 * Returns the warm-up of a recorded run again. Throws RECORDING_CORRUPT where its recordings are missing or changed.
 */
export function repeatWarmup({ from, until, recordings }: WarmupWindow, runDir: string): RecordedRows {
  return concatenated(recordings.map(({ recording, sha256 }) => {
    const directory = join(runDir, recording);
    const window = openWindow(directory, { from, until });
    if (window?.sha256 === sha256) return window.cursor();
    refusePruned(directory, 'the warm-up of the run');
    throw new GannetError('RECORDING_CORRUPT',
      `${directory}: expected what the run warmed its strategies with (hash ${sha256}), found `
        + `${window?.sha256 ?? 'nothing of that time'}; restore the recording from a copy`);
  }));
}

/**
 * Runs of one daemon follow one another, so only the run before the first one in the period can overlap its begin.
 * Recordings of other daemons in the same folder are left out: they repeat the same prices, and still grow.
 */
function recordingsSince(recordingDir: string, { runsDir, from, until }: {
  readonly runsDir: string; readonly from: Millis; readonly until: Millis;
}): string[] {
  const isOwn = (name: string): boolean => existsSync(join(runsDir, name, 'manifest.json'));
  const runs = namesIn(recordingDir).filter(isOwn).map((name) => ({ name, beganAt: runStartOf(name) ?? Infinity }))
    .filter(({ beganAt }) => beganAt < until);
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

/** Returns rows one after the other. */
export function concatenated(parts: readonly RecordedRows[]): RecordedRows {
  const waiting = [...parts];
  let cursor = waiting.shift();
  return {
    next: () => {
      while (cursor?.next() === false) cursor = waiting.shift();
      return cursor !== undefined;
    },
    get at() { return cursor!.at; },
    get input() { return cursor!.input; },
  };
}

/** Polls may be late: a shorter pause between two is no gap. */
const GAP_MIN_MS = 30_000;
/** A smaller share of the wanted period is reported. */
const ENOUGH = 0.9;

/** How much of the wanted period the recordings have for one feed of one strategy. */
interface FeedCoverage {
  readonly from: Millis;
  readonly everyMs: Millis;
  events: number;
  lastAt: Millis;
  /** Time without recorded events. */
  gapsMs: Millis;
}

/** Measures how much of the wanted period a warm-up covers. */
class Coverage {
  readonly #strategies: readonly {
    readonly name: string; readonly warmupMs: Millis; readonly feeds: ReadonlyMap<FeedKey, FeedCoverage>;
  }[];
  readonly #byFeed = new Map<FeedKey, FeedCoverage[]>();
  readonly #until: Millis;

  constructor(strategies: readonly StrategyInstance[], until: Millis) {
    this.#until = until;
    this.#strategies = strategies.map(({ name, strategy, params, warmupMs = 0 }) => {
      const from = until - warmupMs;
      const specs = Object.values(strategy.inputs(params)).flatMap(specsOf).filter(isPolled);
      const feeds = new Map(specs.map((spec): [FeedKey, FeedCoverage] =>
        [feedKey(spec), { from, everyMs: spec.everyMs, events: 0, lastAt: from, gapsMs: 0 }]));
      for (const [feed, one] of feeds) this.#byFeed.set(feed, [...(this.#byFeed.get(feed) ?? []), one]);
      return { name, warmupMs, feeds };
    });
  }

  /** Returns the same rows and counts them as they are read. */
  counting(rows: RecordedRows): RecordedRows {
    let input: RecordedRows['input'] | undefined;
    return {
      next: () => {
        if (!rows.next()) return false;
        ({ input } = rows);
        if ('feed' in input) this.#count(input.feed, rows.at);
        return true;
      },
      get at() { return rows.at; },
      get input() { return input!; },
    };
  }

  /** Returns a message for each strategy with too little; `faults` name unreadable recordings. */
  missing(
    faults: readonly string[], describe: (feed: FeedKey) => string,
  ): { readonly strategy: string; readonly message: string }[] {
    return this.#strategies.flatMap(({ name, warmupMs, feeds }) => {
      const found = [...feeds].map(([feed, one]) => ({ feed, foundMs: this.#foundMs(one) }));
      const least = Math.min(warmupMs, ...found.map(({ foundMs }) => foundMs));
      if (least >= ENOUGH * warmupMs && faults.length === 0) return [];
      const never = found.filter(({ foundMs }) => foundMs === 0).map(({ feed }) => feed);
      const wanted = `the last ${formatDuration(warmupMs)} before the start`;
      const what = never.length === found.length
        ? `nothing of ${wanted} is recorded`
        : `of ${wanted} ${formatDuration(wholeSeconds(least))} are `
          + `recorded${never.length === 0 ? '' : `, and nothing of ${never.map(describe).join(', ')}`}`;
      return [{ strategy: name, message: `not warmed up as wanted: ${[what, ...faults].join('; ')}` }];
    });
  }

  /** Returns the number of events for each strategy, for the log. */
  shown(): string {
    return this.#strategies.map(({ name, feeds }) => {
      const events = [...feeds.values()].reduce((sum, one) => sum + one.events, 0);
      return `${name} was warmed up with ${events} recorded events`;
    }).join('; ');
  }

  #count(feed: FeedKey, at: Millis): void {
    if (at >= this.#until) return;
    for (const one of this.#byFeed.get(feed) ?? []) {
      if (at < one.from) continue;
      one.events += 1;
      one.gapsMs += gapMs(one, at);
      one.lastAt = at;
    }
  }

  #foundMs(one: FeedCoverage): Millis {
    return one.events === 0 ? 0 : this.#until - one.from - one.gapsMs - gapMs(one, this.#until);
  }
}

function gapMs({ everyMs, lastAt }: FeedCoverage, at: Millis): Millis {
  const pauseMs = at - lastAt;
  return pauseMs > Math.max(GAP_MIN_MS, 3 * everyMs) ? pauseMs : 0;
}

function wholeSeconds(spanMs: Millis): Millis {
  return Math.floor(spanMs / 1_000) * 1_000;
}
