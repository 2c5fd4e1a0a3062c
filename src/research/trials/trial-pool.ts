import { availableParallelism } from 'node:os';
import { GannetError } from '../../core/errors.ts';
import { printable } from '../../core/text.ts';
import type { Millis } from '../../core/time.ts';
import { formatDuration } from '../../core/time.ts';
import { interruption } from '../../recording/interrupt.ts';
import type { Recording } from '../../recording/reader.ts';
import { openRecording } from '../../recording/reader.ts';
import { strategyGrants } from '../box/strategy-grants.ts';
import type { BoxEnd } from '../box/supervise.ts';
import { stopText } from '../box/supervise.ts';
import type { BoxedWorker, WorkerBox } from '../box/workers.ts';
import { ownWorkers } from '../box/workers.ts';
import { stopwatch } from '../stopwatch.ts';
import { mostSharedBytes } from './shared-recording.ts';
import type { ThreadSetup } from './thread-setup.ts';
import type { TrialAnswer, TrialStart } from './trial-worker.ts';
import type { Trial, TrialPool, TrialResult } from './trial.ts';
import { DEFAULT_TRIAL_LIMIT_MS } from './trial.ts';

/**
 * The target duration of a batch: handing it over costs next to nothing, and no process waits long for the last one.
 */
const BATCH_MS: Millis = 100;
const LARGEST_BATCH = 256;
/** A process never frees the modules of a trial, about 100 kB each, and is replaced after so many trials. */
const TRIALS_PER_PROCESS = 1_000;

interface TrialPoolOptions {
  /** Number of processes; by default as many as the machine runs at once. */
  readonly workers?: number | undefined;
  readonly interrupt?: AbortSignal | undefined;
  /** The setup's recording, if it is already open. */
  readonly recording?: Recording | undefined;
  /** The maximum duration of a trial, after which its process is ended. */
  readonly limitMs?: Millis | undefined;
  /** The average number of trials after which a process is replaced. */
  readonly trialsPerProcess?: number | undefined;
  /** The maximum size of all copies of the recording in memory; by default a quarter of the machine's. */
  readonly mostSharedBytes?: number | undefined;
  /** Starts the processes; by default this process does. */
  readonly box?: WorkerBox | undefined;
}

/** A pool of boxed processes over one recording. */
export interface RecordingTrialPool extends TrialPool {
  readonly workers: number;
  /** Runs a trial in a process that has run nothing else. Throws INTERRUPTED. */
  runAlone(trial: Trial): Promise<TrialResult>;
  /** Whether each process holds the recording in memory; false when it is too large, and they read it from disk. */
  readonly isHeld: boolean;
}

/** Returns the default number of processes. */
export function defaultWorkers(): number {
  return availableParallelism();
}

/**
 * Starts boxed processes, each of which reads the recording once. A trial that takes too long, ends its process or
 * exhausts its memory fails, and the process is replaced; the others go on. Throws RECORDING_CORRUPT and INTERRUPTED.
 */
export async function createTrialPool(setup: ThreadSetup, options: TrialPoolOptions = {}): Promise<RecordingTrialPool> {
  const {
    workers = defaultWorkers(), interrupt, limitMs = DEFAULT_TRIAL_LIMIT_MS, trialsPerProcess = TRIALS_PER_PROCESS,
    recording = openRecording(setup.recordingDir), mostSharedBytes: most = mostSharedBytes(),
  } = options;
  if (interrupt?.aborted === true) throw interruption();
  const box = options.box ?? ownWorkers({
    readable: [setup.recordingDir, ...await strategyGrants(setup.strategies.map(({ use }) => use), setup.places)],
    writable: [],
  });
  const all: Crew[] = [];
  const start = (count: number): Crew => {
    const crew = createCrew(box, count, {
      setup, part: recording.part, mostBytes: Math.floor(most / count),
    });
    all.push(crew);
    return crew;
  };
  const close = (): void => { for (const crew of all.splice(0)) crew.close(); };
  interrupt?.addEventListener('abort', close, { once: true });
  let crew = start(workers);
  let begun = 0;
  const runOn = (among: Crew, count: number) =>
    (trials: Iterable<Trial>): AsyncGenerator<TrialResult> => runTrials([...trials], {
      workers: count, interrupt, batchOf: (batch, onResult) => among.run(batch, { limitMs, onResult }),
    });
  const mostTrials = trialsPerProcess * workers;
  return {
    workers,
    get isHeld() { return all.every(({ isHeld }) => isHeld); },
    close: async () => {
      interrupt?.removeEventListener('abort', close);
      close();
    },
    run: async function* (trials) {
      const left = [...trials];
      while (left.length > 0) {
        if (begun >= mostTrials) {
          all.splice(all.indexOf(crew), 1);
          crew.close();
          crew = start(workers);
          begun = 0;
        }
        const part = left.splice(0, mostTrials - begun);
        begun += part.length;
        yield* runOn(crew, workers)(part);
      }
    },
    runAlone: async (trial) => {
      for await (const result of runOn(start(1), 1)([trial])) return result;
      throw interruption();
    },
  };
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

/** The end of a batch, with the trials that its process did not reach. */
interface BatchEnd {
  readonly left: readonly Trial[];
}

interface BatchOptions {
  readonly limitMs: Millis;
  readonly onResult: (result: TrialResult) => void;
}

/** Processes that run trials. */
interface Crew {
  /**
   * Runs a few trials in a process that is free. A trial fails when its process ends, or takes longer than `limitMs`
   * and is ended. Throws the fault of a process that cannot begin.
   */
  run(trials: readonly Trial[], options: BatchOptions): Promise<BatchEnd>;
  readonly isHeld: boolean;
  close(): void;
}

function createCrew(box: WorkerBox, count: number, start: TrialStart): Crew {
  const members = Array.from({ length: count }, () => createMember(box, start));
  return {
    get isHeld() { return members.every(({ isHeld }) => isHeld); },
    run: (trials, options) => members.find(({ isFree }) => isFree)!.run(trials, options),
    close: () => { for (const member of members) member.close(); },
  };
}

interface Member extends Crew {
  readonly isFree: boolean;
}

/** What a process does with its next message. */
interface Task {
  readonly onAnswer: (answer: TrialAnswer) => void;
  readonly onEnd: (end: BoxEnd) => void;
}

/** Returns a process that is started again after it ended. */
function createMember(box: WorkerBox, start: TrialStart): Member {
  let worker: BoxedWorker | undefined;
  let task: Task | undefined;
  let isHeld = true;
  let isClosed = false;
  let ready: Promise<void> = Promise.resolve();
  const begin = (): void => {
    const own = Promise.withResolvers<void>();
    ready = own.promise;
    // The next batch reports it.
    ready.catch(() => undefined);
    const started = box.start('trials', {
      onMessage: (message) => {
        const answer = message as TrialAnswer;
        if (answer.kind === 'ready') {
          isHeld = answer.heldBytes !== undefined;
          own.resolve();
        } else if (answer.kind === 'fault') {
          own.reject(new GannetError(answer.code ?? 'STRATEGY_INVALID', answer.code === undefined
            ? cannotStart(answer.message) : answer.message));
        } else task?.onAnswer(answer);
      },
      onEnd: (end) => {
        if (worker === started) worker = undefined;
        own.reject(isClosed ? interruption()
          : new GannetError(end.stop?.code ?? 'STRATEGY_INVALID', cannotStart(reasonOf(end))));
        task?.onEnd(end);
      },
    });
    worker = started;
    started.post(start);
  };
  begin();
  return {
    get isFree() { return task === undefined; },
    get isHeld() { return isHeld; },
    run: async (trials, options) => {
      const ended = Promise.withResolvers<BatchEnd>();
      const taken = batchTask(trials, { ...options, kill: () => { worker?.kill(); }, ended: ended.resolve });
      task = { onAnswer: () => undefined, onEnd: () => undefined };
      try {
        if (worker === undefined) begin();
        await ready;
        task = taken;
        taken.begin();
        worker!.post(trials);
        return await ended.promise;
      } finally {
        taken.stop();
        task = undefined;
      }
    },
    close: () => {
      isClosed = true;
      worker?.kill();
    },
  };
}

function batchTask(trials: readonly Trial[], { limitMs, onResult, kill, ended }: BatchOptions & {
  readonly kill: () => void; readonly ended: (end: BatchEnd) => void;
}): Task & { readonly begin: () => void; readonly stop: () => void } {
  let done = 0;
  let isTooLong = false;
  let timer: NodeJS.Timeout | undefined;
  const stop = (): void => { clearTimeout(timer); };
  const begin = (): void => {
    stop();
    timer = setTimeout(() => {
      isTooLong = true;
      kill();
    }, limitMs);
  };
  return {
    begin, stop,
    onAnswer: (answer) => {
      begin();
      if (answer.kind === 'end') ended({ left: [] });
      if (answer.kind !== 'result') return;
      done += 1;
      onResult(answer.result);
    },
    onEnd: (end) => {
      const during = trials[done];
      if (during !== undefined) onResult({
        kind: 'failed', id: during.id,
        reason: isTooLong ? `it takes longer than ${formatDuration(limitMs)}` : reasonOf(end),
      });
      ended({ left: trials.slice(done + 1) });
    },
  };
}

function cannotStart(reason: string): string {
  return `the process that runs the trials cannot start: ${printable(reason, 500)}`;
}

function reasonOf({ code, signal, stop }: BoxEnd): string {
  if (stop !== undefined) return stopText(stop);
  if (signal === 'SIGABRT' || signal === 'SIGTRAP') return 'it needs more memory than a process has';
  return signal === null ? `a strategy ended the process that it ran in (exit code ${code})`
    : `its process was ended by ${signal} from outside, most likely for lack of memory`;
}
