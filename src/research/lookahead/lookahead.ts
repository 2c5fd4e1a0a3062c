import { stopMessages } from '../trials/run-trial.ts';
import type { LookaheadOptions, Verdict } from './judge.ts';
import { judge } from './judge.ts';
import type { Leak } from './leak.ts';
import { comparePasses, leakOf } from './leak.ts';
import type { PassAnswer, PassThread } from './pass.ts';
import { PERTURBATIONS } from './perturbation.ts';

export interface StrategyVerdict {
  readonly name: string;
  /** Whether no leak was found. For a strategy without decisions this proves nothing. */
  readonly clean: boolean;
  readonly firstLeak: Leak | undefined;
  /** Number of decisions over the recorded future. */
  readonly decisions: number;
  /** The message of a strategy that threw and was stopped: it decided nothing after that. */
  readonly stopped: string | undefined;
  /** Number of runs. */
  readonly passes: number;
  /** Number of instants at which the future was perturbed. */
  readonly instants: number;
  /** Number of decisions compared with those of the first run, over all passes. */
  readonly compared: number;
  /**
   * Accesses beyond the strategy's inputs: files, processes, the network, and project code outside the authors' SDK.
   */
  readonly accesses: readonly string[];
}

export interface LookaheadResult {
  readonly clean: boolean;
  readonly strategies: readonly StrategyVerdict[];
}

/** Which thread is wanted. */
interface AcquireOptions {
  /** A thread that has run nothing; any other thread may have run another strategy. */
  readonly isNew?: boolean | undefined;
}

/** Starts threads, and takes back those that a strategy no longer needs. */
export interface ThreadPool {
  acquire(options?: AcquireOptions): Promise<PassThread>;
  /** A thread in which a strategy changed shared state is not used again. */
  release(thread: PassThread): Promise<void>;
  close(): Promise<void>;
}

/** Progress of the check, in lengths of the recording. */
export interface LookaheadProgress {
  readonly done: number;
  /** An estimate: a strategy whose leak is found early needs less. */
  readonly all: number;
}

type ReportProgress = ((progress: LookaheadProgress) => void) | undefined;

/**
 * Judges each strategy alone in its engine, with its own wallet and limits, so that no other strategy can change its
 * decisions. The strategies that are clean alone then run together, with the proposals of the others dropped. A
 * decision that still changes shows state that strategies share outside the engine. Strategies with a leak are left out
 * of that, because what they change is not their neighbours' fault.
 */
export async function lookahead(
  names: readonly string[], pool: ThreadPool, options: LookaheadOptions & { readonly onProgress?: ReportProgress },
): Promise<LookaheadResult> {
  let generation = 0;
  const nextGeneration = (): number => ++generation;
  const workload = createWorkload(names, options);
  const verdicts = new Map<string, Verdict>();
  const withThread = (wanted?: AcquireOptions) => async <T>(work: (thread: PassThread) => Promise<T>): Promise<T> => {
    const thread = await pool.acquire(wanted);
    const done = await work(thread);
    await pool.release(thread);
    return done;
  };
  const [withAnother, withNew] = [withThread(), withThread({ isNew: true })];
  try {
    await inTwos(names, (strategy) => withAnother((used) => withAnother(async (fresh) => {
      const { plan: onPlan, pass: onPass } = workload.of(strategy);
      const pair = { ...options, strategy, used, fresh, withAnother, withNew, nextGeneration, onPlan, onPass };
      verdicts.set(strategy, await judge(pair));
      onPlan(0);
    })));
    const clean = names.filter((name) => verdicts.get(name)!.leak === undefined);
    if (clean.length > 1) {
      for (const name of clean) workload.of(name).plan(1);
      await inTwos(clean, (strategy) => withAnother(async (thread) => {
        const neighbours = clean.filter((other) => other !== strategy);
        const answer = await thread.run({ strategy, generation: nextGeneration(), neighbours });
        verdicts.set(strategy, besideNeighbours(verdicts.get(strategy)!, neighbours.length, answer));
        workload.of(strategy).pass(1);
      }));
    }
  } finally {
    await pool.close();
  }
  const strategies = names.map((name) => strategyVerdict(name, verdicts.get(name)!, workload.of(name).passes));
  return { clean: strategies.every(({ clean }) => clean), strategies };
}

/** Returns a verdict with the result of a pass beside so many other strategies. */
function besideNeighbours(verdict: Verdict, neighbours: number, answer: PassAnswer): Verdict {
  const found = comparePasses(verdict.reference, answer);
  const detail = `it decides differently beside ${neighbours} strategies whose proposals are dropped: `
    + `it shares something with them${found?.fault ?? ''}`;
  return {
    ...verdict, compared: verdict.compared + verdict.reference.decisions.length,
    leak: found && leakOf(found.difference, { cause: 'neighbours', from: null, process: 'fresh', detail }),
  };
}

function strategyVerdict(
  name: string, { leak, reference, instants, compared }: Verdict, passes: number,
): StrategyVerdict {
  const { accesses } = reference;
  const [stopped] = reference.decisions.flatMap(stopMessages);
  // The engine's message about a stopped strategy is no decision of that strategy.
  const decisions = reference.decisions.length - (stopped === undefined ? 0 : 1);
  return { name, clean: leak === undefined, firstLeak: leak, decisions, stopped, passes, instants, compared, accesses };
}

/** Two at a time, each with two threads: when one waits for a thread to start, the other one has work. */
async function inTwos<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = [...items];
  const worker = async (): Promise<void> => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item);
  };
  await Promise.all([worker(), worker()]);
}

/** The work on one strategy. */
interface StrategyLoad {
  readonly passes: number;
  /** Sets the remaining work. */
  readonly plan: (left: number) => void;
  /** Counts a finished pass. */
  readonly pass: (length: number) => void;
}

interface Workload {
  of(strategy: string): StrategyLoad;
}

/** Returns the work on strategies that nothing is known of yet: instants lie in the middle on average. */
function createWorkload(
  names: readonly string[],
  { times, onProgress }: Pick<LookaheadOptions, 'times'> & { readonly onProgress?: ReportProgress },
): Workload {
  const left = 5 + PERTURBATIONS.length * times;
  const loads = new Map(names.map((name) => [name, { passes: 0, done: 0, left }]));
  const report = (): void => {
    const all = [...loads.values()];
    const done = all.reduce((sum, load) => sum + load.done, 0);
    onProgress?.({ done, all: done + all.reduce((sum, load) => sum + Math.max(0, load.left), 0) });
  };
  return {
    of: (strategy) => {
      const load = loads.get(strategy)!;
      return {
        get passes() { return load.passes; },
        plan: (remaining) => {
          load.left = remaining;
          report();
        },
        pass: (length) => {
          load.passes += 1;
          load.done += length;
          load.left -= length;
          report();
        },
      };
    },
  };
}
