import { Console } from 'node:console';
import type { MessagePort } from 'node:worker_threads';
import { workerData } from 'node:worker_threads';
import { readRecordedChecks } from '../../backtest/recorded-checks.ts';
import type { TrialContext, UnparsedStrategy } from './run-trial.ts';
import { runTrialInChunks } from './run-trial.ts';
import type { Trial, TrialResult } from './trial.ts';
import { messageOf } from '../../core/errors.ts';
import { printable } from '../../core/text.ts';
import type { SharedRows } from '../../recording/shared/shared-source.ts';
import type { RowSource } from '../../recording/shared/shared-source.ts';
import { openSharedRows } from '../../recording/shared/shared-source.ts';
import { stopwatch } from '../stopwatch.ts';
import { reportUnhandledErrors } from '../strategy-guards.ts';
import { refuseOtherCode } from './strategy-source.ts';
import type { ThreadSetup } from './thread-setup.ts';
import { freshStrategies } from './thread-setup.ts';

const setup = workerData as ThreadSetup;
let context: Promise<Omit<TrialContext, 'strategies'>> | undefined;
/** Errors of work that strategies left to the event loop. */
const strays: string[] = [];

// Standard output belongs to the command; output of a strategy goes to standard error.
globalThis.console = new Console(process.stderr);
process.stdout.write = process.stderr.write.bind(process.stderr);
reportUnhandledErrors({ err: (text) => { process.stderr.write(text); } });
process.on('uncaughtException', (error) => { strays.push(printable(messageOf(error), 500)); });

/** Runs the trials of a task one after the other. An error between two trials belongs to the first one. */
export default async function runTrials(task: TrialTask): Promise<void> {
  const { trials, port } = task;
  const say = (message: TrialMessage): void => { port.postMessage(message); };
  try {
    context ??= createContext(task);
    const shared = await context;
    say({ kind: 'ready' });
    for (const trial of trials) {
      const steps = runTrialInChunks(trial, { ...shared, strategies: await freshCode() });
      let step = steps.next();
      for (; step.done !== true; step = steps.next()) await bothTurns();
      await bothTurns();
      say({ kind: 'result', result: afterStrays(step.value) });
    }
  } finally {
    // Also after a failed start, because the pool waits for it.
    port.close();
  }
}

/** Timers that are due fire between the first turn and the second. */
async function bothTurns(): Promise<void> {
  await turn();
  await turn();
}

function turn(): Promise<void> {
  return new Promise((resolve) => { setImmediate(resolve); });
}

function afterStrays(result: TrialResult): TrialResult {
  const [stray] = strays.splice(0);
  return stray === undefined ? result
    : { kind: 'failed', id: result.id, reason: `work that a strategy left behind failed later: ${stray}` };
}

async function createContext({ rows: shared, lastSeq }: TrialTask): Promise<Omit<TrialContext, 'strategies'>> {
  const rows = shared === null ? await rowsFromDisk(lastSeq) : openSharedRows(shared);
  await freshCode();
  // After the import, so that the checked code is not older than the loaded code.
  for (const own of setup.strategies) await refuseOtherCode(own, setup.places);
  return { setup, rows, checks: readRecordedChecks(rows), stopwatch };
}

/** Each trial gets new modules. */
async function freshCode(): Promise<UnparsedStrategy[]> {
  const fresh = await freshStrategies(setup.strategies.map(({ use }) => use), setup.places);
  return setup.strategies.map((own, i) => ({ ...own, strategy: fresh[i]! }));
}

/** Loaded only when needed, because shared memory does without the reader of files. */
async function rowsFromDisk(lastSeq: number | null): Promise<RowSource> {
  const { openRecording } = await import('../../recording/reader.ts');
  const whole = openRecording(setup.recordingDir);
  const recording = lastSeq === null ? whole : whole.cutAt(lastSeq);
  const { kinds, feeds } = recording;
  const rows: RowSource = { kinds, feeds, cursor: (choice) => recording.cursor(choice), since: () => rows };
  return rows;
}

/** A few trials for a thread. */
export interface TrialTask {
  /** The recording; null when the thread reads it from disk. */
  readonly rows: Pick<SharedRows, 'layout' | 'memory'> | null;
  /** The last input number to read from a recording that may still grow; null for a complete one. */
  readonly lastSeq: number | null;
  readonly trials: readonly Trial[];
  /** Receives the thread's messages. Closed when all trials are done. */
  readonly port: MessagePort;
}

/** A message of a thread about its task. */
export type TrialMessage =
  /** The thread has loaded the strategies and begins. */
  | { readonly kind: 'ready' }
  /** Results come in the order of the trials. */
  | { readonly kind: 'result'; readonly result: TrialResult };
