import type { LookaheadOptions } from './lookahead/bench.ts';
import type { Verdict } from './lookahead/judge.ts';
import { judge } from './lookahead/judge.ts';
import type { Leak } from './lookahead/leak.ts';
import { leakOf } from './lookahead/leak.ts';
import { compared } from './lookahead/moved.ts';
import type { PassThread } from './lookahead/pass.ts';
import type { LookaheadProgress } from './lookahead/workload.ts';
import { createWorkload } from './lookahead/workload.ts';
import { stopOf } from './run-trial.ts';

export interface StrategyVerdict {
  readonly name: string;
  /** Whether nothing was found. Without decisions that says nothing. */
  readonly clean: boolean;
  readonly firstLeak: Leak | undefined;
  /** How often it decided over the true recording: what never decides is clean and proves nothing. */
  readonly decisions: number;
  /** What it said when it threw, and was stopped: it decided nothing after that. */
  readonly stopped: string | undefined;
  /** How often it was run. */
  readonly passes: number;
  /** At how many instants the future was spoiled. */
  readonly instants: number;
  /** How many decisions were held against those of the first run, over all passes. */
  readonly compared: number;
  /** What it reached for beyond what it was shown: files, processes, the network, parts of the project that are no strategy's. */
  readonly reaches: readonly string[];
}

export interface LookaheadResult {
  readonly clean: boolean;
  readonly strategies: readonly StrategyVerdict[];
}

/** Which thread is wanted. */
export interface LendOptions {
  /** One that nothing was ever run in; any other may have been used for another strategy. */
  readonly isNew?: boolean | undefined;
}

/** Makes threads, and takes them back when a strategy is done with them. */
export interface ThreadPool {
  lend(options?: LendOptions): Promise<PassThread>;
  /** A thread in which a strategy left something changed is not lent again. */
  takeBack(thread: PassThread): Promise<void>;
  close(): Promise<void>;
}

/**
 * Judges strategies, each by itself: alone in its engine, with a wallet and limits of its own, so that nothing one of them
 * does can move another one's decisions. Those that are clean alone are then run beside one another, the neighbours muted,
 * so that what still moves a decision is no limit, but something that strategies share behind the engine's back; those
 * that are not stay away, for what they spoil is not their neighbours' fault.
 */
export async function lookahead(names: readonly string[], pool: ThreadPool, options: LookaheadOptions & {
  readonly onProgress?: ((progress: LookaheadProgress) => void) | undefined;
}): Promise<LookaheadResult> {
  let generation = 0;
  const nextGeneration = (): number => ++generation;
  const workload = createWorkload(names, options);
  const verdicts = new Map<string, Verdict>();
  const withThread = (options?: LendOptions) => async <T>(work: (thread: PassThread) => Promise<T>): Promise<T> => {
    const thread = await pool.lend(options);
    const done = await work(thread);
    await pool.takeBack(thread);
    return done;
  };
  const [withAnother, withNew] = [withThread(), withThread({ isNew: true })];
  try {
    await inTwos(names, (strategy) => withAnother((used) => withAnother(async (fresh) => {
      const load = workload.of(strategy);
      verdicts.set(strategy, await judge({ ...options, strategy, used, fresh, withAnother, withNew, nextGeneration, onPlan: load.plan, onPass: load.pass }));
      load.plan(0);
    })));
    const cleanOnes = names.filter((name) => verdicts.get(name)!.leak === undefined);
    if (cleanOnes.length > 1) {
      for (const name of cleanOnes) workload.of(name).plan(1);
      await inTwos(cleanOnes, (name) => withAnother(async (thread) => {
        const verdict = verdicts.get(name)!;
        const answer = await thread.run({ strategy: name, generation: nextGeneration(), neighbours: cleanOnes.filter((other) => other !== name) });
        workload.of(name).pass(1);
        const moved = compared(verdict.reference, answer);
        const leak = moved === undefined ? undefined : leakOf(moved.difference, { poison: 'neighbours', from: null, process: 'fresh', detail: `it decides otherwise beside ${cleanOnes.length - 1} strategies whose proposals are dropped: it shares something with them${moved.fault}` });
        verdicts.set(name, { ...verdict, leak, compared: verdict.compared + verdict.reference.decisions.length });
      }));
    }
  } finally {
    await pool.close();
  }
  const strategies = names.map((name): StrategyVerdict => {
    const { leak, reference, instants, compared: held } = verdicts.get(name)!;
    const [stopped] = reference.decisions.flatMap(stopOf);
    // What the engine says of a strategy that it stopped is no decision of that strategy.
    const decisions = reference.decisions.length - (stopped === undefined ? 0 : 1);
    return { name, clean: leak === undefined, firstLeak: leak, decisions, stopped, passes: workload.of(name).passes, instants, compared: held, reaches: reference.reaches };
  });
  return { clean: strategies.every(({ clean }) => clean), strategies };
}

/** Two at a time, each with two threads: where one of them waits for a thread to start, the other one has work. */
async function inTwos<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = [...items];
  const worker = async (): Promise<void> => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item);
  };
  await Promise.all([worker(), worker()]);
}
