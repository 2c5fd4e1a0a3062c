import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import type { InputCursor } from '../../backtest/driver.ts';
import type { History, PassAnswer, PassTask } from '../../backtest/lookahead/pass.ts';
import { passSteps } from '../../backtest/lookahead/pass.ts';
import { poisoned } from '../../backtest/lookahead/poison.ts';
import { backtestCursor, recordedLooks } from '../../backtest/recorded-looks.ts';
import type { BacktestStrategy } from '../../backtest/setup.ts';
import { messageOf } from '../../core/errors.ts';
import type { Steps } from '../../core/steps.ts';
import { tokenTable } from '../../market/token.ts';
import type { Recording } from '../../recording/reader.ts';
import { openRecording } from '../../recording/reader.ts';
import { openSharedRows } from '../../recording/shared/shared-source.ts';
import { tellLooseErrors } from '../loose-errors.ts';
import { loadStrategy } from '../research/thread-setup.ts';
import { setDiskTrap } from './disk-trap.ts';
import { loadModulesFresh } from './fresh-modules.ts';
import { enterWorld, prepareWorlds } from './other-world.ts';
import { copyRecording } from './recording-copy.ts';
import type { ThreadData } from './thread-data.ts';
import { watchTraces } from './traces.ts';
import type { TrapMode } from './trap-mode.ts';

/** So much of a spoiled future is shown, for whatever a strategy keeps of it to show in the next pass. */
const SPOILED_ROWS = 10_000;
/** Timers that are due have fired then. */
const TURN_MS = 2;

tellLooseErrors({ err: (text) => { process.stderr.write(text); } });
const port = parentPort!;
const { setup, rows, lastSeq, made, copiesDir } = workerData as ThreadData;
const source = rows === null ? openFromDisk() : openSharedRows(rows);
const looks = recordedLooks(source);
const tokens = tokenTable(setup.tokens);
const byName = new Map(setup.strategies.map((strategy) => [strategy.name, strategy]));
const trap = setDiskTrap(setup.recordingDir);
prepareWorlds();
const modules = loadModulesFresh();
const tracesOf = watchTraces();

function openFromDisk(): Recording {
  const whole = openRecording(setup.recordingDir);
  return lastSeq === null ? whole : whole.cutAt(lastSeq);
}

port.on('message', (task: PassTask) => {
  void answer(task).then((reply) => { port.postMessage(reply); });
});

async function answer(task: PassTask): Promise<PassAnswer> {
  const { poison, worlds = [] } = task;
  const copy = task.onDisk === true && poison !== undefined ? await copyRecording(poisoned(backtestCursor(source, looks), poison), { tokens: setup.tokens, copiesDir, ...made }) : undefined;
  const mode: TrapMode = {
    disk: worlds.includes('disk') ? { kind: 'refuse' } : copy === undefined ? { kind: 'watch' } : { kind: 'redirect', to: copy.directory },
    network: worlds.includes('network') ? 'refuse' : 'watch',
  };
  modules.withoutData = mode.disk.kind === 'refuse';
  const leaveWorld = enterWorld(worlds);
  const done: { decisions: PassAnswer['decisions']; fault?: string } = { decisions: [] };
  try {
    const { instances, own } = await trap.duringImport(mode, () => load(task));
    const shown = rowsOf(task);
    const until = poison?.from ?? Infinity;
    done.decisions = (await stepped(run(task, { instances, own, cursor: shown.cursor }), { mode, isOver: shown.isOver })).filter(({ at }) => at < until);
  } catch (error) {
    done.fault = messageOf(error);
  } finally {
    leaveWorld();
    copy?.remove();
  }
  // What a strategy left to the event loop happens before the next pass, as it would in a process that goes on.
  await sleep(TURN_MS);
  return { ...done, reaches: [...modules.takeReaches(), ...trap.takeReaches()], traces: tracesOf() };
}

/** Once the rows are over, promises and timers have their turn: whoever decides in them is found out. Before, nobody waits for them. */
async function stepped<T>(steps: Steps<T>, { mode, isOver }: { readonly mode: TrapMode; readonly isOver: () => boolean }): Promise<T> {
  for (;;) {
    const step = trap.during(mode, () => steps.next());
    if (step.done === true) return step.value;
    if (isOver()) await trap.duringTurn(mode, () => sleep(TURN_MS));
  }
}

async function load({ strategy, generation, neighbours = [] }: PassTask): Promise<{ instances: BacktestStrategy[]; own: BacktestStrategy }> {
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
}): Steps<PassAnswer['decisions']> {
  return passSteps({
    setup,
    strategy: history === undefined ? own : { ...own, warmupMs: history.warmupMs },
    neighbours: instances,
    cursor, looks,
    startAt: history === undefined ? setup.firstAt : beginOf(history),
  });
}

function beginOf({ tradeFrom, warmupMs }: History): number {
  return tradeFrom - warmupMs;
}

/** Our own reading is nobody's reach for the disk. */
function rowsOf({ poison, whole, history }: PassTask): { readonly cursor: InputCursor; readonly isOver: () => boolean } {
  const from = history === undefined ? -Infinity : beginOf(history);
  const tradeFrom = history?.tradeFrom ?? Infinity;
  const plain = backtestCursor(history === undefined ? source : source.since(from), looks);
  const cursor = poison === undefined ? plain : poisoned(plain, poison, whole === true ? Infinity : SPOILED_ROWS);
  const step = rows === null ? () => trap.aside(() => cursor.next()) : () => cursor.next();
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
