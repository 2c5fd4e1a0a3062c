import { availableParallelism } from 'node:os';
import type { MessagePort } from 'node:worker_threads';
import { MessageChannel } from 'node:worker_threads';
import { Piscina } from 'piscina';
import { readRecordedChecks } from '../../backtest/recorded-checks.ts';
import { GannetError, messageOf } from '../../core/errors.ts';
import { printable } from '../../core/text.ts';
import type { Millis } from '../../core/time.ts';
import { formatDuration } from '../../core/time.ts';
import { interruption } from '../../recording/interrupt.ts';
import type { Recording } from '../../recording/reader.ts';
import { openRecording } from '../../recording/reader.ts';
import type { SharedRows } from '../../recording/shared/shared-source.ts';
import { stopwatch } from '../stopwatch.ts';
import { shareRecording } from './shared-recording.ts';
import type { ThreadSetup } from './thread-setup.ts';
import type { TrialMessage, TrialTask } from './trial-worker.ts';
import type { Trial, TrialPool, TrialResult } from './trial.ts';

const WORKER = new URL('./trial-worker.ts', import.meta.url);
/** Long enough for every trial that ends at all. */
export const DEFAULT_TRIAL_LIMIT_MS: Millis = 300_000;
/**
 * The target duration of a batch: the cost of handing it over is negligible, and no thread waits long for the last one.
 */
const BATCH_MS: Millis = 100;
const LARGEST_BATCH = 256;
/** A thread never frees the modules of a trial, about 100 kB each, and is replaced after so many trials. */
const TRIALS_PER_THREAD = 1_000;

interface TrialPoolOptions {
  /** Number of threads; by default as many as the machine runs at once. */
  readonly workers?: number | undefined;
  readonly interrupt?: AbortSignal | undefined;
  /** The setup's recording, if it is already open. */
  readonly recording?: Recording | undefined;
  /** The recording's rows, if they are already in shared memory. */
  readonly rows?: SharedRows | undefined;
  /** The maximum duration of a trial, after which its thread is ended. */
  readonly limitMs?: Millis | undefined;
  /** The average number of trials after which a thread is replaced. */
  readonly trialsPerThread?: number | undefined;
  /** The maximum size of the recording in memory; by default a quarter of the machine's. */
  readonly mostSharedBytes?: number | undefined;
}

/** A pool of threads over one recording. */
export interface RecordingTrialPool extends TrialPool {
  readonly workers: number;
  /** Runs a trial in a thread that has run nothing else. Throws INTERRUPTED. */
  runAlone(trial: Trial): Promise<TrialResult>;
  /** Bytes of the recording in shared memory; undefined when it is too large, and threads read it from disk. */
  readonly sharedBytes: number | undefined;
}

/** Returns the default number of threads. */
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
    // The threads load their code while this one reads the recording.
    let threads = start(workers);
    let begun = 0;
    const { shared, bytes } = await sharedData(setup, options);
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
      workers, sharedBytes: bytes, close,
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

/** Returns the recording as the threads receive it, and its size in shared memory. */
async function sharedData(
  { recordingDir }: ThreadSetup,
  { recording = openRecording(recordingDir), rows: given, interrupt, mostSharedBytes: mostBytes }: TrialPoolOptions,
): Promise<{ readonly shared: Pick<TrialTask, 'rows' | 'lastSeq'>; readonly bytes: number | undefined }> {
  const checks = readRecordedChecks(recording);
  const rows = given ?? (await shareRecording(recording, { checks, interrupt, mostBytes })).rows;
  const shared = {
    rows: rows === undefined ? null : { layout: rows.layout, memory: rows.memory },
    lastSeq: recording.truncatedAt ?? null,
  };
  return { shared, bytes: rows?.bytes };
}

/** A fault of a thread outside of any task ends the pool, because its threads cannot start. */
function startThreads(setup: ThreadSetup, workers: number): Threads {
  const faults: unknown[] = [];
  const pool = new Piscina({
    filename: WORKER.href, workerData: setup, minThreads: workers, maxThreads: workers, idleTimeout: Infinity,
    // The event loop turns between trials, so that leftover work of a strategy runs before the next one.
    atomics: 'disabled', recordTiming: false,
  });
  pool.on('error', (error) => {
    faults.push(error);
    void pool.destroy();
  });
  return { pool, faults };
}

/**
 * Hands out trials in batches and yields their results. After a failed batch, its remaining trials run again, without
 * the one that failed it.
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
    // While the caller handled the results, more may have arrived, or a thread may have become free.
    if (results.length > 0 || mayStart() || isCut()) continue;
    if (underWay === 0) return;
    await new Promise<void>((resolve) => { wake = resolve; });
  }
}

/** The threads of a pool, and their faults outside of any task. */
interface Threads {
  readonly pool: Piscina;
  readonly faults: readonly unknown[];
}

/** The end of a batch, with the trials that its thread did not reach. */
interface BatchEnd {
  readonly left: readonly Trial[];
}

/**
 * Runs a few trials in one of the threads and passes on their results. A trial fails when its thread ends, or takes
 * longer than `limitMs` and is ended. Throws STRATEGY_INVALID when the thread could not begin.
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
  // The port closes after the last message, or when its thread has ended.
  const closed = new Promise((resolve) => { here.on('close', resolve); });
  try {
    const sent: TrialTask = { ...task, port };
    await pool.run(sent, { transferList: transferListOf(port), signal: tooLong.signal });
    await closed;
    return { left: [] };
  } catch (error) {
    // A task that never reached a thread leaves its port open.
    port.close();
    await closed;
    const during = trials[done];
    if (!isReady) throw new GannetError(
      'STRATEGY_INVALID',
      `the thread that runs the trials cannot start: ${printable(messageOf(faults[0] ?? error), 500)}`,
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

/** The library's types expect other transfer lists. */
function transferListOf(port: MessagePort): NonNullable<Parameters<Piscina['run']>[1]>['transferList'] {
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
