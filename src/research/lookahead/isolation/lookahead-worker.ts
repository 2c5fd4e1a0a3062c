import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import type { InputCursor } from '../../../backtest/driver.ts';
import { backtestCursor, readRecordedChecks } from '../../../backtest/recorded-checks.ts';
import type { BacktestStrategy } from '../../../backtest/setup.ts';
import { messageOf } from '../../../core/errors.ts';
import type { ChunkedWork } from '../../../core/chunked-work.ts';
import type { Token } from '../../../market/token.ts';
import { tokenTable } from '../../../market/token.ts';
import { createHistoryWriter } from '../../../recording/history-writer.ts';
import type { RecordingManifest } from '../../../recording/manifest.ts';
import type { SharedRows } from '../../../recording/shared/shared-source.ts';
import type { Recording } from '../../../recording/reader.ts';
import { openRecording } from '../../../recording/reader.ts';
import { openSharedRows } from '../../../recording/shared/shared-source.ts';
import type { RecordingSource } from '../../../recording/format.ts';
import { reportUnhandledErrors } from '../../strategy-guards.ts';
import type { ThreadSetup } from '../../trials/thread-setup.ts';
import { loadStrategy } from '../../trials/thread-setup.ts';
import type { History, PassAnswer, PassTask } from '../pass.ts';
import { runPassInChunks } from '../pass.ts';
import type { Perturbation } from '../perturbation.ts';
import { perturbed } from '../perturbation.ts';
import type { AccessMode } from './access-guard.ts';
import { createAccessGuard } from './access-guard.ts';
import { watchGlobals } from './global-changes.ts';
import { perturbMachine, prepareMachinePerturbation } from './machine-perturbation.ts';
import { isolateStrategyModules } from './strategy-modules.ts';

/** The rows of a perturbed future in a pass: enough for a strategy to keep some of it, which the next pass shows. */
const PERTURBED_ROWS = 10_000;
/** Long enough for timers that are due to fire. */
const TURN_MS = 2;

reportUnhandledErrors({ err: (text) => { process.stderr.write(text); } });
const port = parentPort!;
const { setup, rows, lastSeq, made, copiesDir } = workerData as ThreadData;
const source = rows === null ? openFromDisk() : openSharedRows(rows);
const checks = readRecordedChecks(source);
const tokens = tokenTable(setup.tokens);
const byName = new Map(setup.strategies.map((strategy) => [strategy.name, strategy]));
const guard = createAccessGuard(setup.recordingDir);
prepareMachinePerturbation();
const modules = isolateStrategyModules();
const globalChanges = watchGlobals();

function openFromDisk(): Recording {
  const whole = openRecording(setup.recordingDir);
  return lastSeq === null ? whole : whole.cutAt(lastSeq);
}

port.on('message', (task: PassTask) => {
  void answer(task).then((reply) => { port.postMessage(reply); });
});

async function answer(task: PassTask): Promise<PassAnswer> {
  const { perturbation, machineFactors = [], onDisk = false } = task;
  const copy = onDisk && perturbation !== undefined ? await copyPerturbed(perturbation) : undefined;
  const mode: AccessMode = {
    disk: machineFactors.includes('disk') ? { kind: 'refuse' }
      : copy === undefined ? { kind: 'watch' } : { kind: 'redirect', to: copy.directory },
    network: machineFactors.includes('network') ? 'refuse' : 'watch',
  };
  modules.withoutData = mode.disk.kind === 'refuse';
  const restoreMachine = perturbMachine(machineFactors);
  const done: { decisions: PassAnswer['decisions']; fault?: string } = { decisions: [] };
  try {
    const { instances, own } = await guard.duringImport(mode, () => load(task));
    const { cursor, isOver } = rowsOf(task);
    const decisions = await finished(run(task, { instances, own, cursor }), { mode, isOver });
    done.decisions = decisions.filter(({ at }) => at < (perturbation?.from ?? Infinity));
  } catch (error) {
    done.fault = messageOf(error);
  } finally {
    restoreMachine();
    copy?.remove();
  }
  // Work that a strategy left to the event loop runs before the next pass, as it would in a process that continues.
  await sleep(TURN_MS);
  const accesses = [...modules.takeAccesses(), ...guard.takeAccesses()];
  return { ...done, accesses, globalChanges: globalChanges() };
}

function copyPerturbed(perturbation: Perturbation): ReturnType<typeof copyRecording> {
  const cursor = perturbed(backtestCursor(source, checks), perturbation);
  return copyRecording(cursor, { tokens: setup.tokens, copiesDir, ...made });
}

/** Finishes the steps. Only after the last row does it wait for promises and timers, so that late decisions show. */
async function finished<T>(
  steps: ChunkedWork<T>, { mode, isOver }: { readonly mode: AccessMode; readonly isOver: () => boolean },
): Promise<T> {
  for (;;) {
    const step = guard.during(mode, () => steps.next());
    if (step.done === true) return step.value;
    if (isOver()) await guard.duringTurn(mode, () => sleep(TURN_MS));
  }
}

async function load(
  { strategy, generation, neighbours = [] }: PassTask,
): Promise<{ instances: BacktestStrategy[]; own: BacktestStrategy }> {
  modules.generation = generation;
  const instances: BacktestStrategy[] = [];
  for (const name of neighbours) instances.push(await instanceOf(name));
  return { instances, own: await instanceOf(strategy) };
}

function instanceOf(name: string): Promise<BacktestStrategy> {
  return loadStrategy(byName.get(name)!, tokens, setup.places);
}

function run({ history }: PassTask, { instances, own, cursor }: {
  readonly instances: readonly BacktestStrategy[]; readonly own: BacktestStrategy; readonly cursor: InputCursor;
}): ChunkedWork<PassAnswer['decisions']> {
  return runPassInChunks({
    setup,
    strategy: history === undefined ? own : { ...own, warmupMs: history.warmupMs },
    neighbours: instances,
    cursor, checks,
    startAt: history === undefined ? setup.firstAt : beginOf(history),
  });
}

function beginOf({ tradeFrom, warmupMs }: History): number {
  return tradeFrom - warmupMs;
}

/** The project's own reading is no access of the strategy. */
function rowsOf(
  { perturbation, isWholeFuture = false, history }: PassTask,
): { readonly cursor: InputCursor; readonly isOver: () => boolean } {
  const from = history === undefined ? -Infinity : beginOf(history);
  const tradeFrom = history?.tradeFrom ?? Infinity;
  const plain = backtestCursor(history === undefined ? source : source.since(from), checks);
  const most = isWholeFuture ? Infinity : PERTURBED_ROWS;
  const cursor = perturbation === undefined ? plain : perturbed(plain, perturbation, most);
  const step = rows === null ? () => guard.aside(() => cursor.next()) : () => cursor.next();
  let left = history?.rows ?? Infinity;
  let isOver = false;
  return {
    isOver: () => isOver,
    cursor: {
      next: () => {
        while (left > 0 && step()) {
          const { at } = cursor;
          if (at < from) continue;
          if (at >= tradeFrom) left -= 1;
          return true;
        }
        isOver = true;
        return false;
      },
      get at() { return cursor.at; },
      get input() { return cursor.input; },
    },
  };
}

/** Writes rows into a new recording in an existing folder; returns its folder and a function that removes it. */
async function copyRecording(cursor: InputCursor, { copiesDir, ...about }: {
  readonly copiesDir: string;
  readonly tokens: readonly Token[];
  readonly createdAt: number;
  readonly source: RecordingSource;
}): Promise<{ readonly directory: string; readonly remove: () => void }> {
  const dir = mkdtempSync(join(copiesDir, 'copy-'));
  const remove = (): void => { rmSync(dir, { recursive: true, force: true }); };
  try {
    const writer = createHistoryWriter({ dir, name: 'copy', ...about });
    for (let seq = 1; cursor.next(); seq++) {
      writer.append(seq, cursor.at, cursor.input);
      if (writer.isBusy) await writer.room();
    }
    await writer.close();
    return { directory: writer.directory, remove };
  } catch (error) {
    remove();
    throw error;
  }
}

/** The data of a thread; plain data. */
export interface ThreadData {
  readonly setup: ThreadSetup;
  /** The recording's rows; null when they are too large for memory, and the thread reads them from disk. */
  readonly rows: Pick<SharedRows, 'layout' | 'memory'> | null;
  /** The last input number to read from a recording that may still grow; null for a complete one. */
  readonly lastSeq: number | null;
  /** The creation time and the source of the recording, for copies. */
  readonly made: Pick<RecordingManifest, 'createdAt' | 'source'>;
  /** The folder for copies. The pool removes it, because a thread that is ended cannot. */
  readonly copiesDir: string;
}
