import { parentPort, workerData } from 'node:worker_threads';
import type { History, PassAnswer, PassTask } from '../../backtest/lookahead/pass.ts';
import { runPass } from '../../backtest/lookahead/pass.ts';
import { poisoned } from '../../backtest/lookahead/poison.ts';
import type { InputCursor } from '../../backtest/driver.ts';
import { backtestCursor, recordedLooks } from '../../backtest/recorded-looks.ts';
import type { BacktestStrategy } from '../../backtest/setup.ts';
import { messageOf } from '../../core/errors.ts';
import { tokenTable } from '../../market/token.ts';
import type { Recording } from '../../recording/reader.ts';
import { openRecording } from '../../recording/reader.ts';
import { tellLooseErrors } from '../loose-errors.ts';
import type { ThreadSetup } from '../research/thread-setup.ts';
import { loadStrategy } from '../research/thread-setup.ts';
import type { DiskMode } from './disk-trap.ts';
import { setDiskTrap } from './disk-trap.ts';
import { loadModulesFresh } from './fresh-modules.ts';
import { enterWorld } from './other-world.ts';
import { copyRecording } from './recording-copy.ts';
import { watchTraces } from './traces.ts';

tellLooseErrors({ err: (text) => { process.stderr.write(text); } });
const port = parentPort!;
const setup = workerData as ThreadSetup;
const recording = openRecording(setup.recordingDir);
const tokens = tokenTable(setup.tokens);
const byName = new Map(setup.strategies.map((strategy) => [strategy.name, strategy]));
const trap = setDiskTrap(setup.recordingDir);
const modules = loadModulesFresh();
const tracesOf = watchTraces();

port.on('message', (task: PassTask) => {
  void answer(task).then((reply) => { port.postMessage(reply); });
});

async function answer(task: PassTask): Promise<PassAnswer> {
  const copy = task.onDisk === true ? await copyRecording(rowsOf(recording, task), { tokens: setup.tokens, createdAt: recording.manifest.createdAt }) : undefined;
  const source = copy === undefined ? recording : openRecording(copy.directory);
  const cursor = copy === undefined ? rowsOf(recording, task) : backtestCursor(source, recordedLooks(source));
  const disk: DiskMode = task.worlds?.includes('disk') === true ? { kind: 'refuse' } : copy === undefined ? { kind: 'watch' } : { kind: 'redirect', to: copy.directory };
  const leaveWorld = enterWorld(task.worlds ?? []);
  const done: { decisions: PassAnswer['decisions']; fault?: string } = { decisions: [] };
  try {
    const { instances, own } = await trap.duringImport(disk, () => load(task));
    const until = task.poison?.from ?? Infinity;
    done.decisions = trap.during(disk, () => run(task, { instances, own, cursor, source })).filter(({ at }) => at < until);
  } catch (error) {
    done.fault = messageOf(error);
  } finally {
    leaveWorld();
    copy?.remove();
  }
  // What a strategy left to the event loop happens before the next pass, as it would in a process that goes on.
  await new Promise((resolve) => { setTimeout(resolve, 2); });
  return { ...done, reaches: [...modules.takeReaches(), ...trap.takeReaches()], traces: tracesOf() };
}

function rowsOf(source: Recording, { poison }: PassTask): InputCursor {
  const cursor = backtestCursor(source, recordedLooks(source));
  return poison === undefined ? cursor : poisoned(cursor, poison);
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

function run(task: PassTask, { instances, own, cursor, source }: {
  readonly instances: readonly BacktestStrategy[]; readonly own: BacktestStrategy; readonly cursor: InputCursor; readonly source: Recording;
}): PassAnswer['decisions'] {
  const { history } = task;
  return runPass({
    setup,
    strategy: history === undefined ? own : { ...own, warmupMs: history.warmupMs },
    neighbours: instances,
    cursor: asideFrom(cursor, history),
    looks: trap.aside(() => recordedLooks(source)),
    startAt: history === undefined ? setup.firstAt : history.tradeFrom - history.warmupMs,
  });
}

/** Our own reading is nobody's reach for the disk. */
function asideFrom(cursor: InputCursor, history: History | undefined): InputCursor {
  const step = (): boolean => cursor.next();
  const from = history === undefined ? -Infinity : history.tradeFrom - history.warmupMs;
  return {
    next: () => {
      while (trap.aside(step)) if (cursor.at >= from) return true;
      return false;
    },
    get at() { return cursor.at; },
    get input() { return cursor.input; },
  };
}
