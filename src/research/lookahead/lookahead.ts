import type { Millis } from '../../core/time.ts';
import type { Decision } from '../../trading/step.ts';
import { stopMessages } from '../trials/run-trial.ts';
import { firstDifference } from './difference.ts';
import type { LookaheadOptions, Verdict } from './judge.ts';
import { judge } from './judge.ts';
import type { Leak } from './leak.ts';
import { comparePasses, leakOf } from './leak.ts';
import type { InputCount, PassAnswer, PassThread } from './pass.ts';
import { MACHINE_VARIANTS } from './pass.ts';
import { PERTURBATIONS } from './perturbation.ts';

export interface StrategyVerdict {
  readonly name: string;
  /** Whether it decided, and no leak was found. Without a decision the check shows nothing. */
  readonly clean: boolean;
  readonly firstLeak: Leak | undefined;
  /** Number of decisions over the recorded future. */
  readonly decisions: number;
  /** The events of its inputs where it made no decision. */
  readonly inputs: readonly InputCount[] | undefined;
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

/** What `gannet backtest` decides with the same configuration over the same recording. */
export interface BacktestDecisions {
  readonly decisionHash: string;
  /** Reads the decisions. */
  readonly decisions: () => readonly Decision[];
  /** Decisions from here on are not compared, because the recording has grown since; undefined for a complete one. */
  readonly until: Millis | undefined;
}

export interface LookaheadResult {
  readonly clean: boolean;
  /** The hash that `gannet backtest` and this check have in common; undefined where they were not compared. */
  readonly decisionHash: string | undefined;
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
type RunBacktest = (() => Promise<BacktestDecisions>) | undefined;

/**
 * Judges each strategy alone in its engine, with its own wallet and limits, so that no other strategy can change its
 * decisions. The strategies that are clean alone then run together, with the proposals of the others dropped. A
 * decision that still changes shows state that strategies share outside the engine. Strategies with a leak are left out
 * of that, because what they change is not their neighbours' fault. Where all are clean, the decisions of all together
 * are compared with those of `gannet backtest`: a strategy may have noticed that it is checked.
 */
export async function lookahead(
  names: readonly string[], pool: ThreadPool,
  options: LookaheadOptions & { readonly onProgress?: ReportProgress; readonly backtest?: RunBacktest },
): Promise<LookaheadResult> {
  let generation = 0;
  const nextGeneration = (): number => ++generation;
  const workload = createWorkload(names, options);
  const verdicts = new Map<string, Verdict>();
  let decisionHash: string | undefined;
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
    const [name] = names;
    const isClean = [...verdicts.values()].every(({ leak }) => leak === undefined);
    if (name !== undefined && isClean && options.backtest !== undefined) {
      const task = { strategy: name, generation: nextGeneration(), together: names };
      const [expected, answer] =
        await Promise.all([options.backtest(), withAnother((thread) => thread.run(task))]);
      for (const [strategy, leak] of backtestLeaks(names, expected, answer)) {
        verdicts.set(strategy, { ...verdicts.get(strategy)!, leak });
      }
      decisionHash = expected.decisionHash;
    }
  } finally {
    await pool.close();
  }
  const strategies = names.map((name) => strategyVerdict(name, verdicts.get(name)!, workload.of(name).passes));
  const isSame = strategies.every(({ firstLeak }) => firstLeak === undefined);
  return {
    clean: strategies.every(({ clean }) => clean), decisionHash: isSame ? decisionHash : undefined, strategies,
  };
}

const NOTICED = 'it decides differently in `gannet backtest` than in this check, over the same recording and with the '
  + 'same configuration: it depends on how it is run';

/** Returns the strategies that decide differently in a backtest than in a pass of all strategies together. */
function backtestLeaks(
  names: readonly string[], { decisionHash, decisions, until }: BacktestDecisions, answer: PassAnswer,
): ReadonlyMap<string, Leak> {
  const about = { cause: 'backtest', from: null, process: 'fresh' } as const;
  if (answer.decisionHash === decisionHash) return new Map();
  const [expected, found] = [decisions(), answer.decisions];
  const differences = names
    .map((name) => ({ name, difference: firstDifference(by(name, expected), by(name, found), { until }) }))
    .filter(({ difference }) => difference !== undefined)
    .toSorted((a, b) => a.difference!.at - b.difference!.at);
  const [first] = differences;
  // Without a difference in any decision their numbers differ; every strategy then has a part in it.
  if (first === undefined && until === undefined) {
    const detail = `${NOTICED}${answer.fault === undefined ? '' : ` (${answer.fault})`}`;
    return new Map(names.map((name) => [name, leakOf(undefined, { ...about, detail })]));
  }
  return new Map(differences.map(({ name, difference }) => {
    const follows = name === first!.name ? '' : `, or on ${first!.name}, which differs before it`;
    return [name, leakOf(difference, { ...about, detail: `${NOTICED}${follows}` })];
  }));
}

function by(name: string, decisions: readonly Decision[]): readonly Decision[] {
  return decisions.filter(({ strategy }) => strategy === name);
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
  const { accesses, inputs } = reference;
  const [stopped] = reference.decisions.flatMap(stopMessages);
  // The engine's message about a stopped strategy is no decision of that strategy.
  const decisions = reference.decisions.length - (stopped === undefined ? 0 : 1);
  const clean = leak === undefined && decisions > 0;
  return { name, clean, firstLeak: leak, decisions, inputs, stopped, passes, instants, compared, accesses };
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
  const left = 4 + MACHINE_VARIANTS.length + PERTURBATIONS.length * times;
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
