import { availableParallelism } from 'node:os';
import { Piscina } from 'piscina';
import { readRecordedChecks } from '../../backtest/recorded-checks.ts';
import type { Trial, TrialPool, TrialResult } from './trial.ts';
import type { Millis } from '../../core/time.ts';
import { formatDuration } from '../../core/time.ts';
import type { Recording } from '../../recording/reader.ts';
import { openRecording } from '../../recording/reader.ts';
import type { SharedRows } from '../../recording/shared/shared-rows.ts';
import { stopwatch } from '../stopwatch.ts';
import { interruption } from '../../recording/interrupt.ts';
import { shareRecording } from './shared-recording.ts';
import type { ThreadSetup } from './thread-setup.ts';
import type { MessagePort } from 'node:worker_threads';
import { MessageChannel } from 'node:worker_threads';
import { GannetError, messageOf } from '../../core/errors.ts';
import { printable } from '../../core/text.ts';

const WORKER = new URL('./trial-worker.ts', import.meta.url);
/** Long enough for whatever ends at all. */
export const DEFAULT_TRIAL_LIMIT_MS: Millis = 300_000;
/**
 * A batch takes about so long: what it costs to hand it over does not count then, and nobody waits long for the last
 * one.
 */
const BATCH_MS: Millis = 100;
const LARGEST_BATCH = 256;
/** A thread never forgets the modules of a trial, about 100 kB each: after so many trials it is replaced. */
const TRIALS_PER_THREAD = 1_000;

export interface TrialPoolOptions {
  /** Threads; as many as the machine runs at once by default. */
  readonly workers?: number | undefined;
  readonly interrupt?: AbortSignal | undefined;
  /** The setup's recording where it is open already: it is checked once. */
  readonly recording?: Recording | undefined;
  /** The recording's rows where they are in shared memory already. */
  readonly rows?: SharedRows | undefined;
  /** How long a trial may take before its thread is ended. */
  readonly limitMs?: Millis | undefined;
  /** After how many trials a thread is replaced, on average. */
  readonly trialsPerThread?: number | undefined;
  /** How much of the recording is taken into memory at most; a quarter of the machine's by default. */
  readonly mostSharedBytes?: number | undefined;
}

/** A pool with what is to be known of it. */
export interface RecordingTrialPool extends TrialPool {
  readonly workers: number;
  /** Runs a trial in a thread that has run nothing else. Throws INTERRUPTED. */
  runAlone(trial: Trial): Promise<TrialResult>;
  /** Bytes of the recording in shared memory; undefined where it is too large, and threads read it from the disk. */
  readonly sharedBytes: number | undefined;
}

/** Returns how many threads a pool has unless it is told. */
export function defaultWorkers(): number {
  return availableParallelism();
}

/**
 * Starts threads and reads the recording once for all of them. A trial that takes too long, ends its thread or exhausts
 * its memory fails, and the thread is replaced; the others go on. Throws RECORDING_CORRUPT and INTERRUPTED.
 */
export async function createTrialPool(setup: ThreadSetup, options: TrialPoolOptions = {}): Promise<RecordingTrialPool> {
  const {
    workers = defaultWorkers(), interrupt, limitMs = DEFAULT_TRIAL_LIMIT_MS, trialsPerThread = TRIALS_PER_THREAD,
  } = options;
  const all: Threads[] = [];
  const start = (count: number): Threads => {
    const threads = startThreads(setup, count);
    all.push(threads);
    return threads;
  };
  const close = async (): Promise<void> => {
    interrupt?.removeEventListener('abort', cut);
    await Promise.all(all.splice(0).map(({ pool }) => pool.destroy()));
  };
  const cut = (): void => { void close(); };
  interrupt?.addEventListener('abort', cut, { once: true });
  try {
    if (interrupt?.aborted === true) throw interruption();
    // They load their code while the recording is read here.
    let threads = start(workers);
    let begun = 0;
    const recording = options.recording ?? openRecording(setup.recordingDir);
    const rows = options.rows ?? (await shareRecording(
      recording, { checks: readRecordedChecks(recording), interrupt, mostBytes: options.mostSharedBytes },
    )).rows;
    const shared = {
      rows: rows === undefined ? null : { layout: rows.layout, memory: rows.memory },
      lastSeq: recording.truncatedAt ?? null,
    };
    const runOn = (among: Threads, count: number) =>
      (trials: Iterable<Trial>): AsyncGenerator<TrialResult> => runTrials([...trials], {
        workers: count, interrupt,
        batchOf: (batch, onResult) => runBatch(among, { ...shared, trials: batch }, { limitMs, onResult }),
      });
    const most = trialsPerThread * workers;
    const renew = async (): Promise<void> => {
      const old = threads;
      all.splice(all.indexOf(old), 1);
      threads = start(workers);
      begun = 0;
      await old.pool.destroy();
    };
    return {
      workers, sharedBytes: rows?.bytes, close,
      run: async function* (trials) {
        const left = [...trials];
        while (left.length > 0) {
          if (begun >= most) await renew();
          const part = left.splice(0, most - begun);
          begun += part.length;
          yield* runOn(threads, workers)(part);
        }
      },
      runAlone: async (trial) => {
        for await (const result of runOn(start(1), 1)([trial])) return result;
        throw interruption();
      },
    };
  } catch (error) {
    await close();
    throw interrupt?.aborted === true ? interruption(error) : error;
  }
}

/** Nobody waits for threads that cannot begin: what goes wrong with one apart from any task ends them all. */
function startThreads(setup: ThreadSetup, workers: number): Threads {
  const faults: unknown[] = [];
  const pool = new Piscina({
    filename: WORKER.href, workerData: setup, minThreads: workers, maxThreads: workers, idleTimeout: Infinity,
    // Between trials the event loop turns: what a strategy left there happens before the next one.
    atomics: 'disabled', recordTiming: false,
  });
  pool.on('error', (error) => {
    faults.push(error);
    void pool.destroy();
  });
  return { pool, faults };
}

/**
 * Hands out trials in batches and yields what comes back. A batch that broke off goes on without the trial that broke
 * it.
 */
async function* runTrials(trials: readonly Trial[], { workers, interrupt, batchOf }: {
  readonly workers: number;
  readonly interrupt: AbortSignal | undefined;
  readonly batchOf: (trials: readonly Trial[], onResult: (result: TrialResult) => void) => Promise<BatchEnd>;
}): AsyncGenerator<TrialResult> {
  const results: TrialResult[] = [];
  const again: Trial[] = [];
  const faults: unknown[] = [];
  let next = 0;
  let underWay = 0;
  let perTrialMs: Millis | undefined;
  let wake: (() => void) | undefined;
  interrupt?.addEventListener('abort', () => { wake?.(); }, { once: true });
  const isCut = (): boolean => interrupt?.aborted === true;

  const take = (): readonly Trial[] => {
    if (again.length > 0) return again.splice(0, LARGEST_BATCH);
    const fair = Math.ceil((trials.length - next) / (2 * workers));
    const size = perTrialMs === undefined ? 1
      : Math.max(1, Math.min(LARGEST_BATCH, fair, Math.round(BATCH_MS / perTrialMs)));
    next += size;
    return trials.slice(next - size, next);
  };
  const mayStart = (): boolean =>
    underWay < workers && faults.length === 0 && (again.length > 0 || next < trials.length);
  const start = (): void => {
    while (mayStart()) {
      const batch = take();
      const startedAt = stopwatch();
      underWay += 1;
      void batchOf(batch, (result) => { results.push(result); wake?.(); }).then(({ left }) => {
        if (left.length === 0) perTrialMs = Math.max(0.01, (stopwatch() - startedAt) / batch.length);
        again.push(...left);
      }, (error: unknown) => { faults.push(error); }).finally(() => {
        underWay -= 1;
        wake?.();
      });
    }
  };

  for (;;) {
    if (isCut()) throw interruption(faults[0]);
    start();
    yield* results.splice(0);
    if (faults.length > 0 && !isCut()) throw faults[0];
    // Whoever takes the results takes his time: meanwhile more may have come, or a thread may be free.
    if (results.length > 0 || mayStart() || isCut()) continue;
    if (underWay === 0) return;
    await new Promise<void>((resolve) => { wake = resolve; });
  }
}

/** The threads of a pool, and what went wrong with one apart from any task. */
interface Threads {
  readonly pool: Piscina;
  readonly faults: readonly unknown[];
}

/** How a batch ended: trials that its thread did not get to are left. */
interface BatchEnd {
  readonly left: readonly Trial[];
}

/**
 * Runs a few trials in one of the threads and hands on what each came to. The one during which the thread ends, or is
 * ended since it takes longer than `limitMs`, has failed. Throws STRATEGY_INVALID where the thread did not get as far
 * as to begin.
 */
async function runBatch({ pool, faults }: Threads, task: Omit<TrialTask, 'port'>, { limitMs, onResult }: {
  readonly limitMs: Millis;
  readonly onResult: (result: TrialResult) => void;
}): Promise<BatchEnd> {
  const { trials } = task;
  const { port1: here, port2: port } = new MessageChannel();
  const tooLong = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let isReady = false;
  let done = 0;
  const restartTimer = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => { tooLong.abort(); }, limitMs);
  };
  here.on('message', (message: TrialMessage) => {
    restartTimer();
    if (message.kind === 'ready') {
      isReady = true;
      return;
    }
    done += 1;
    onResult(message.result);
  });
  // It closes behind the last message, and when the thread at its other end is gone.
  const closed = new Promise((resolve) => { here.on('close', resolve); });
  try {
    await pool.run({ ...task, port } satisfies TrialTask, { transferList: moved(port), signal: tooLong.signal });
    await closed;
    return { left: [] };
  } catch (error) {
    // A task that never reached a thread takes its port with it.
    port.close();
    await closed;
    const during = trials[done];
    if (!isReady) throw new GannetError(
      'STRATEGY_INVALID',
      `the thread that runs the trials cannot begin: ${printable(messageOf(faults[0] ?? error), 500)}`,
      { cause: error },
    );
    if (during === undefined) return { left: [] };
    onResult({ kind: 'failed', id: during.id, reason: tooLong.signal.aborted
      ? `it takes longer than ${formatDuration(limitMs)}` : reasonOf(error) });
    return { left: trials.slice(done + 1) };
  } finally {
    clearTimeout(timer);
  }
}

/** A list, which the library's types take for options. */
function moved(port: MessagePort): NonNullable<Parameters<Piscina['run']>[1]>['transferList'] {
  const list: unknown = [port];
  return list as NonNullable<Parameters<Piscina['run']>[1]>['transferList'];
}

function reasonOf(error: unknown): string {
  const code = /^worker exited with code: (-?\d+)$/.exec(messageOf(error))?.[1];
  if (code !== undefined) return `a strategy ended the thread that it ran in (exit code ${code})`;
  if (error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY')
    return 'it needs more memory than a thread has';
  return printable(messageOf(error), 500);
}

/** A few trials for a thread. */
export interface TrialTask {
  /** The recording; null where the thread reads it from the disk. */
  readonly rows: Pick<SharedRows, 'layout' | 'memory'> | null;
  /** The last number that the threads read of one that may still grow; null where it is whole. */
  readonly lastSeq: number | null;
  readonly trials: readonly Trial[];
  /** Takes what a thread says. Closed when all of them are done. */
  readonly port: MessagePort;
}

/** What a thread says of a task. */
export type TrialMessage =
  /** It has loaded the strategies, and begins. */
  | { readonly kind: 'ready' }
  /** In the order of the trials. */
  | { readonly kind: 'result'; readonly result: TrialResult };
