import { readRecordedChecks } from '../../backtest/recorded-checks.ts';
import type { Recording } from '../../recording/reader.ts';
import { openRecording } from '../../recording/reader.ts';
import { createThreadPool } from './isolation/worker-pool.ts';
import type { LookaheadProgress, LookaheadResult } from './lookahead.ts';
import { lookahead } from './lookahead.ts';
import type { PassThread } from './pass.ts';
import type { WarmUpVerdict } from './warm-up.ts';
import { judgeWarmUp } from './warm-up.ts';
import { shareRecording } from '../trials/shared-recording.ts';
import type { ThreadSetup } from '../trials/thread-setup.ts';

type PoolData = Parameters<typeof createThreadPool>[0];

/** How a look-ahead check runs. */
interface CheckOptions {
  /** The recording of the setup, where it is open already. */
  readonly recording?: Recording | undefined;
  readonly interrupt?: AbortSignal | undefined;
  readonly onProgress?: ((progress: LookaheadProgress) => void) | undefined;
  /** The most bytes of the recording that are kept in memory; by default a quarter of the machine's memory. */
  readonly mostSharedBytes?: number | undefined;
}

/** Returns whether any strategy of a setup decides by data of its future. Rejects with INTERRUPTED. */
export async function findLeaks(
  setup: ThreadSetup, { times, seed }: { readonly times: number; readonly seed: number }, options: CheckOptions = {},
): Promise<LookaheadResult> {
  const { interrupt, onProgress } = options;
  const pool = createThreadPool(await poolData(setup, options), interrupt);
  const { strategies, firstAt, lastAt } = setup;
  return lookahead(strategies.map(({ name }) => name), pool, {
    startAt: firstAt, endAt: lastAt, times, seed, onProgress,
  });
}

/**
 * Returns, for every strategy alone, whether a longer history before the start changes its decisions. Rejects with
 * INTERRUPTED.
 */
export async function checkWarmUps(
  setup: ThreadSetup, { seed }: { readonly seed: number }, options: CheckOptions = {},
): Promise<ReadonlyMap<string, WarmUpVerdict>> {
  const pool = createThreadPool(await poolData(setup, options), options.interrupt);
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

/** The recording is read once, into memory that all threads share, unless it is too large for that. */
async function poolData(
  setup: ThreadSetup, { recording = openRecording(setup.recordingDir), interrupt, mostSharedBytes }: CheckOptions,
): Promise<PoolData> {
  const { rows } =
    await shareRecording(recording, { checks: readRecordedChecks(recording), interrupt, mostBytes: mostSharedBytes });
  const { createdAt, source } = recording.manifest;
  return {
    setup, rows: rows === undefined ? null : { layout: rows.layout, memory: rows.memory },
    lastSeq: recording.truncatedAt ?? null, made: { createdAt, source },
  };
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
