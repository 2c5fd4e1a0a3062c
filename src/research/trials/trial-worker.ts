import { Console } from 'node:console';
import { workerData } from 'node:worker_threads';
import { readRecordedChecks } from '../../backtest/recorded-checks.ts';
import type { TrialContext, UnparsedStrategy } from './run-trial.ts';
import { trialSteps } from './run-trial.ts';
import type { TrialResult } from './trial.ts';
import { messageOf } from '../../core/errors.ts';
import { printable } from '../../core/text.ts';
import type { RowSource } from '../../recording/shared/shared-source.ts';
import { openSharedRows } from '../../recording/shared/shared-source.ts';
import { stopwatch } from '../stopwatch.ts';
import { reportUnhandledErrors } from '../strategy-guards.ts';
import { refuseOtherCode } from './strategy-source.ts';
import type { ThreadSetup } from './thread-setup.ts';
import { freshStrategies } from './thread-setup.ts';
import type { TrialMessage, TrialTask } from './trial-pool.ts';

const setup = workerData as ThreadSetup;
let ground: Promise<Omit<TrialContext, 'strategies'>> | undefined;
/** What a strategy left to the event loop and nobody caught. */
const strays: string[] = [];

// Standard output is the command's own: a strategy's words stand beside it.
globalThis.console = new Console(process.stderr);
process.stdout.write = process.stderr.write.bind(process.stderr);
reportUnhandledErrors({ err: (text) => { process.stderr.write(text); } });
process.on('uncaughtException', (error) => { strays.push(printable(messageOf(error), 500)); });

/** Runs the trials of a task one after the other. What happens between two of them is of the one before. */
export default async function runTrials(task: TrialTask): Promise<void> {
  const { trials, port } = task;
  const say = (message: TrialMessage): void => { port.postMessage(message); };
  try {
    ground ??= layGround(task);
    const laid = await ground;
    say({ kind: 'ready' });
    for (const trial of trials) {
      const steps = trialSteps(trial, { ...laid, strategies: await freshCode() });
      let step = steps.next();
      for (; step.done !== true; step = steps.next()) await bothTurns();
      await bothTurns();
      say({ kind: 'result', result: afterStrays(step.value) });
    }
  } finally {
    // Also where it cannot begin: the other end waits for it.
    port.close();
  }
}

/** Timers that are due come between the first turn and the second. */
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
    : { kind: 'failed', id: result.id, reason: `a strategy left something behind that failed later: ${stray}` };
}

async function layGround({ rows: shared, lastSeq }: TrialTask): Promise<Omit<TrialContext, 'strategies'>> {
  const rows = shared === null ? await rowsFromDisk(lastSeq) : openSharedRows(shared);
  await freshCode();
  // Behind the import: what was loaded, and is run from now on, is at least as old as what is looked at.
  for (const own of setup.strategies) await refuseOtherCode(own, setup.places);
  return { setup, rows, checks: readRecordedChecks(rows), stopwatch };
}

/** In modules of their own for each trial. */
async function freshCode(): Promise<UnparsedStrategy[]> {
  const fresh = await freshStrategies(setup.strategies.map(({ use }) => use), setup.places);
  return setup.strategies.map((own, i) => ({ ...own, strategy: fresh[i]! }));
}

/** Whoever reads from shared memory does without the reader of files. */
async function rowsFromDisk(lastSeq: number | null): Promise<RowSource> {
  const { openRecording } = await import('../../recording/reader.ts');
  const whole = openRecording(setup.recordingDir);
  const recording = lastSeq === null ? whole : whole.cutAt(lastSeq);
  const { kinds, feeds } = recording;
  const rows: RowSource = { kinds, feeds, cursor: (choice) => recording.cursor(choice), since: () => rows };
  return rows;
}
