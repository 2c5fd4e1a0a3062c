import { realpathSync } from 'node:fs';
import { join, sep } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { InputCursor } from '../../../backtest/driver.ts';
import { backtestCursor } from '../../../backtest/recorded-checks.ts';
import type { BacktestStrategy } from '../../../backtest/setup.ts';
import { messageOf } from '../../../core/errors.ts';
import type { ChunkedWork } from '../../../core/chunked-work.ts';
import { tokenTable } from '../../../market/token.ts';
import type { RecordingPart } from '../../../recording/reader.ts';
import { openSharedRows } from '../../../recording/shared/shared-source.ts';
import { openWorkerChannel } from '../../box/boxed-worker.ts';
import { goesOn, whileWorking } from '../../box/phases.ts';
import { reportUnhandledErrors } from '../../strategy-guards.ts';
import { openPart, shareRecording } from '../../trials/shared-recording.ts';
import type { ThreadSetup, ThreadStrategy } from '../../trials/thread-setup.ts';
import { loadStrategy } from '../../trials/thread-setup.ts';
import type { History, PassAnswer, PassTask } from '../pass.ts';
import { countInputs, runPassInChunks, runTogetherInChunks } from '../pass.ts';
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
const { start, say, serve } = await openWorkerChannel<ThreadData, PassTask, PassAnswer>();
const { setup, part, mostBytes } = start;
const { recording, checks } = openPart(setup.recordingDir, part);
const { rows = null } = await shareRecording(recording, { checks, mostBytes });
const source = rows === null ? recording : openSharedRows(rows);
const tokens = tokenTable(setup.tokens);
const byName = new Map(setup.strategies.map((strategy) => [strategy.name, strategy]));
const recordingPath = join(realpathSync(setup.recordingDir), sep);
// Rows in memory are all that is needed from here on: no strategy reads its future from the disk.
serve(async (task) => { say(await whileWorking(namesOf(task), () => answer(task))); },
  { unreadable: rows === null ? [] : [setup.recordingDir] });
const guard = createAccessGuard();
prepareMachinePerturbation();
const modules = isolateStrategyModules();
const globalChanges = watchGlobals();

async function answer(task: PassTask): Promise<PassAnswer> {
  const { perturbation, machineFactors = [], machineVariant } = task;
  const mode: AccessMode = {
    // Where the box must let this process read the recording, the guard keeps it from the strategy.
    disk: rows === null || machineFactors.includes('disk') ? 'refuse' : 'watch',
    network: machineFactors.includes('network') ? 'refuse' : 'watch',
  };
  modules.withoutData = mode.disk === 'refuse';
  const restoreMachine = perturbMachine(machineFactors, machineVariant);
  let decided: Decided = { decisions: [] };
  let fault: string | undefined;
  try {
    const instances = await guard.duringImport(mode, () => load(task));
    const { cursor, isOver } = rowsOf(task);
    decided = await finished(run(task, { instances, cursor }), { mode, isOver });
    if (task.countsInputs === true && decided.decisions.length === 0) {
      const counted = { setup, checks, startAt: setup.firstAt, cursor: rowsOf(task).cursor };
      decided = { ...decided, inputs: countInputs(instances.at(-1)!, counted) };
    }
  } catch (error) {
    fault = messageOf(error);
  } finally {
    restoreMachine();
  }
  // Work that a strategy left to the event loop runs before the next pass, as it would in a process that continues.
  await sleep(TURN_MS);
  const accesses = [...modules.takeAccesses(), ...guard.takeAccesses()];
  const decisions = decided.decisions.filter(({ at }) => at < (perturbation?.from ?? Infinity));
  return { ...decided, decisions, fault, accesses, globalChanges: globalChanges() };
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

/** The strategies of a pass, the one that it is about last. */
function namesOf({ strategy, neighbours = [], together }: PassTask): readonly ThreadStrategy[] {
  return (together ?? [...neighbours, strategy]).map((name) => byName.get(name)!);
}

/** Loads the strategy last, after its neighbours; or all strategies that run together. */
async function load(task: PassTask): Promise<BacktestStrategy[]> {
  const names = namesOf(task).map(({ name }) => name);
  modules.generation = task.generation;
  const data = names.flatMap((name) => byName.get(name)!.data ?? []).map(({ path }) => path);
  // A recording in the strategy's folder stays a recording.
  modules.codeData = guard.codeData = new Set(data.filter((path) => !path.startsWith(recordingPath)));
  const instances: BacktestStrategy[] = [];
  for (const name of names) instances.push(await instanceOf(name));
  return instances;
}

function instanceOf(name: string): Promise<BacktestStrategy> {
  return loadStrategy(byName.get(name)!, tokens, setup.places);
}

/** What a pass decided. */
type Decided = Pick<PassAnswer, 'decisions' | 'decisionHash' | 'inputs'>;

function run({ history, together }: PassTask, { instances, cursor }: {
  readonly instances: readonly BacktestStrategy[]; readonly cursor: InputCursor;
}): ChunkedWork<Decided> {
  if (together !== undefined) {
    return runTogetherInChunks({ setup, strategies: instances, cursor, checks, startAt: setup.firstAt });
  }
  const own = instances.at(-1)!;
  return runPassInChunks({
    setup,
    strategy: history === undefined ? own : { ...own, warmupMs: history.warmupMs },
    neighbours: instances.slice(0, -1),
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
          goesOn();
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

/** The first message to a process that runs passes. */
export interface ThreadData {
  readonly setup: ThreadSetup;
  /** The most bytes of the recording that this process keeps in memory. Beyond that it reads from the disk. */
  readonly mostBytes: number;
  /** The inputs to read: of a recording that may still grow, up to the last one that the command saw. */
  readonly part: RecordingPart;
}
