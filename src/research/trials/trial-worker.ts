import { Console } from 'node:console';
import type { TrialContext, UnparsedStrategy } from './run-trial.ts';
import { runTrialInChunks } from './run-trial.ts';
import type { Trial, TrialResult } from './trial.ts';
import type { ErrorCode } from '../../core/errors.ts';
import { isGannetError, messageOf } from '../../core/errors.ts';
import { printable } from '../../core/text.ts';
import { placeOf } from '../../core/throw-place.ts';
import type { Recording, RecordingPart } from '../../recording/reader.ts';
import type { RowSource } from '../../recording/shared/shared-source.ts';
import { openSharedRows } from '../../recording/shared/shared-source.ts';
import { stopwatch } from '../stopwatch.ts';
import { openWorkerChannel } from '../box/boxed-worker.ts';
import { refusalMessage } from '../../core/refusals.ts';
import { reportUnhandledErrors } from '../strategy-guards.ts';
import { openPart, shareRecording } from './shared-recording.ts';
import { refuseOtherCode } from './strategy-source.ts';
import type { ThreadSetup } from './thread-setup.ts';
import { freshStrategies } from './thread-setup.ts';

let context: Omit<TrialContext, 'strategies'>;
/** Errors of work that strategies left to the event loop. */
const strays: string[] = [];

// Standard output belongs to the command; output of a strategy goes to standard error.
globalThis.console = new Console({ stdout: process.stderr, colorMode: false });
process.stdout.write = process.stderr.write.bind(process.stderr);
reportUnhandledErrors({ err: (text) => { process.stderr.write(text); } });
process.on('uncaughtException', (error) => { strays.push(strayText(error)); });

const { start, say, serve } = await openWorkerChannel<TrialStart, readonly Trial[], TrialAnswer>();
const { setup } = start;
serve(runTrials);
try {
  say({ kind: 'ready', heldBytes: await createContext(start) });
} catch (error) {
  say({ kind: 'fault', code: isGannetError(error) ? error.code : undefined, message: messageOf(error) });
}

/** Runs trials one after the other. An error between two trials belongs to the first one. */
async function runTrials(trials: readonly Trial[]): Promise<void> {
  for (const trial of trials) {
    const steps = runTrialInChunks(trial, { ...context, strategies: await freshCode() });
    let step = steps.next();
    for (; step.done !== true; step = steps.next()) await bothTurns();
    await bothTurns();
    say({ kind: 'result', result: afterStrays(step.value) });
  }
  say({ kind: 'end' });
}

/** Returns an error of the event loop with the author's line. */
function strayText(error: unknown): string {
  const place = placeOf(error);
  return `${printable(refusalMessage(error), 500)}${place === undefined ? '' : `, at ${place}`}`;
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

/** Reads the recording into memory, where it is small enough; returns its size there. */
async function createContext({ part, mostBytes }: TrialStart): Promise<number | undefined> {
  const { recording, checks } = openPart(setup.recordingDir, part);
  const { rows: held } = await shareRecording(recording, { checks, mostBytes });
  const rows = held === undefined ? rowsFromDisk(recording) : openSharedRows(held);
  await freshCode();
  // After the import, so that the checked code is not older than the loaded code.
  for (const own of setup.strategies) await refuseOtherCode(own, setup.places);
  context = { setup, rows, checks, stopwatch };
  return held?.bytes;
}

/** Each trial gets new modules. */
async function freshCode(): Promise<UnparsedStrategy[]> {
  const fresh = await freshStrategies(setup.strategies, setup.places);
  return setup.strategies.map((own, i) => ({ ...own, strategy: fresh[i]! }));
}

function rowsFromDisk(recording: Recording): RowSource {
  const { kinds, feeds } = recording;
  const rows: RowSource = { kinds, feeds, cursor: (choice) => recording.cursor(choice), since: () => rows };
  return rows;
}

/** What a process needs before its first trial. */
export interface TrialStart {
  readonly setup: ThreadSetup;
  /** The inputs to read: of a recording that may still grow, up to the last one that the command saw. */
  readonly part: RecordingPart;
  /** The maximum size of the recording in this process's memory. */
  readonly mostBytes: number;
}

/** A message of a process that runs trials. */
export type TrialAnswer =
  /** It has loaded the strategies and the recording, which takes so many bytes; undefined when it stays on disk. */
  | { readonly kind: 'ready'; readonly heldBytes: number | undefined }
  /** It cannot begin. */
  | { readonly kind: 'fault'; readonly code: ErrorCode | undefined; readonly message: string }
  /** Results come in the order of the trials. */
  | { readonly kind: 'result'; readonly result: TrialResult }
  /** All trials of the last message are done. */
  | { readonly kind: 'end' };
