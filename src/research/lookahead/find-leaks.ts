import type { Recording } from '../../recording/reader.ts';
import { openRecording } from '../../recording/reader.ts';
import { strategyGrants } from '../box/strategy-grants.ts';
import type { WorkerBox } from '../box/workers.ts';
import { ownWorkers } from '../box/workers.ts';
import { createThreadPool } from './isolation/worker-pool.ts';
import type { BacktestDecisions, LookaheadProgress, LookaheadResult } from './lookahead.ts';
import { lookahead } from './lookahead.ts';
import type { PassThread } from './pass.ts';
import type { WarmUpVerdict } from './warm-up.ts';
import { judgeWarmUp } from './warm-up.ts';
import { mostSharedBytes } from '../trials/shared-recording.ts';
import type { ThreadSetup } from '../trials/thread-setup.ts';

type PoolData = Parameters<typeof createThreadPool>[1];

/** Two strategies at a time run in two processes each. */
const PROCESSES = 4;

/** How a look-ahead check runs. */
interface CheckOptions {
  /** The recording of the setup, where it is open already. */
  readonly recording?: Recording | undefined;
  readonly interrupt?: AbortSignal | undefined;
  readonly onProgress?: ((progress: LookaheadProgress) => void) | undefined;
  /** Runs `gannet backtest` with the same configuration over the same recording. Left out, it is not compared. */
  readonly backtest?: (() => Promise<BacktestDecisions>) | undefined;
  /** The most bytes of all copies of the recording in memory; by default a quarter of the machine's memory. */
  readonly mostSharedBytes?: number | undefined;
  /** Starts the processes; by default this process does. */
  readonly box?: WorkerBox | undefined;
}

/** Returns whether any strategy of a setup decides by data of its future. Rejects with INTERRUPTED. */
export async function findLeaks(
  setup: ThreadSetup, { times, seed }: { readonly times: number; readonly seed: number }, options: CheckOptions = {},
): Promise<LookaheadResult> {
  const { interrupt, onProgress, backtest } = options;
  const pool = createThreadPool(...await poolOf(setup, options), interrupt);
  const { strategies, firstAt, lastAt } = setup;
  return lookahead(strategies.map(({ name }) => name), pool, {
    startAt: firstAt, endAt: lastAt, times, seed, onProgress, backtest,
  });
}

/**
 * Returns, for every strategy alone, whether a longer history before the start changes its decisions. Rejects with
 * INTERRUPTED.
 */
export async function checkWarmUps(
  setup: ThreadSetup, { seed }: { readonly seed: number }, options: CheckOptions = {},
): Promise<ReadonlyMap<string, WarmUpVerdict>> {
  const pool = createThreadPool(...await poolOf(setup, options), options.interrupt);
  const { strategies, firstAt, lastAt } = setup;
  const verdicts = new Map<string, WarmUpVerdict>();
  let generation = 0;
  try {
    for (const { name, warmupMs = 0 } of strategies) {
      const threads = [await pool.acquire(), await pool.acquire()];
      const run = inTurn(threads);
      verdicts.set(name, await judgeWarmUp({
        strategy: name, warmupMs, startAt: firstAt, endAt: lastAt, seed,
        run: (history) => run({ strategy: name, generation: ++generation, history }),
      }));
      for (const thread of threads) await pool.release(thread);
    }
  } finally {
    await pool.close();
  }
  return verdicts;
}

/** At most four processes run at a time; each reads the recording once into memory, unless it is too large for that. */
async function poolOf(
  setup: ThreadSetup, { recording = openRecording(setup.recordingDir), mostSharedBytes: most, box }: CheckOptions,
): Promise<[WorkerBox, PoolData]> {
  const data = {
    setup, part: recording.part,
    mostBytes: Math.floor((most ?? mostSharedBytes()) / PROCESSES),
  };
  return [box ?? ownWorkers({
    readable: [setup.recordingDir, ...await strategyGrants(setup.strategies.map(({ use }) => use), setup.places)],
    writable: [],
  }), data];
}

/** Returns a function that gives passes to the threads in turn; each thread runs its passes one after the other. */
function inTurn(threads: readonly PassThread[]): PassThread['run'] {
  const lanes = threads.map((thread) => ({ thread, last: Promise.resolve<unknown>(undefined) }));
  let turn = 0;
  return (task) => {
    const lane = lanes[turn++ % lanes.length]!;
    const answer = lane.last.then(() => lane.thread.run(task));
    // The caller of this pass gets its failure; the next pass runs all the same.
    lane.last = answer.catch(() => undefined);
    return answer;
  };
}
