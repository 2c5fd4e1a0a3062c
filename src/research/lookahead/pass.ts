import { ignoreElements } from 'rxjs';
import { backtestInChunks, samplingOf } from '../../backtest/backtest.ts';
import type { InputCursor } from '../../backtest/driver.ts';
import type { RecordedChecks } from '../../backtest/recorded-checks.ts';
import type { BacktestSetup, BacktestStrategy } from '../../backtest/setup.ts';
import { freshState } from '../../backtest/setup.ts';
import type { ChunkedWork } from '../../core/chunked-work.ts';
import type { Millis } from '../../core/time.ts';
import type { StrategyInstance } from '../../engine/strategy-host.ts';
import type { Decision } from '../../trading/step.ts';
import type { Perturbation } from './perturbation.ts';

/** Properties of the machine that no decision may depend on. A pass removes or changes some of them. */
export const MACHINE_FACTORS = ['disk', 'network', 'chance', 'clock', 'locale', 'environment'] as const;
export type MachineFactor = (typeof MACHINE_FACTORS)[number];

/** One backtest of one strategy, as plain data. */
export interface PassTask {
  readonly strategy: string;
  /** Strategies of one generation share the state of their modules; a new generation loads the modules again. */
  readonly generation: number;
  /** Strategies that receive the same rows before it, and whose proposals are dropped. */
  readonly neighbours?: readonly string[] | undefined;
  readonly perturbation?: Perturbation | undefined;
  /** Whether the pass covers the whole perturbed future instead of its beginning. */
  readonly isWholeFuture?: boolean | undefined;
  /** The perturbed properties of the machine. */
  readonly machineFactors?: readonly MachineFactor[] | undefined;
  /** Whether a perturbed copy on disk replaces the recording. */
  readonly onDisk?: boolean | undefined;
  /** Left out, the backtest begins as configured. */
  readonly history?: History | undefined;
}

/** The beginning of trading, and the rows before and after it. */
export interface History {
  readonly tradeFrom: Millis;
  readonly warmupMs: Millis;
  /** The maximum number of rows from there on. */
  readonly rows: number;
}

export interface PassAnswer {
  /** With a perturbation, only decisions before its instant. */
  readonly decisions: readonly Decision[];
  /** The reason why there was no backtest. */
  readonly fault?: string | undefined;
  /**
   * Accesses beyond the strategy's inputs: files, processes, the network, and project code outside the authors' SDK.
   */
  readonly accesses: readonly string[];
  /** Shared state that the strategy changed. */
  readonly globalChanges: readonly string[];
}

/** A thread in which passes run one after the other. */
export interface PassThread {
  run(task: PassTask): Promise<PassAnswer>;
  /** Whether something that all code shares has changed since the thread began. */
  readonly isContaminated: boolean;
  close(): Promise<void>;
}

/**
 * Runs a strategy over rows and returns its decisions. The strategy has its own state, including the wallet and the
 * shared limits, so that no neighbour's swap consumes its balance. Throws STRATEGY_INVALID as `backtestInChunks` does.
 */
export function* runPassInChunks({ setup, strategy, neighbours, cursor, checks, startAt }: {
  readonly setup: BacktestSetup;
  readonly strategy: BacktestStrategy;
  readonly neighbours: readonly StrategyInstance[];
  readonly cursor: InputCursor;
  readonly checks: RecordedChecks | undefined;
  /** The time of the first row. */
  readonly startAt: Millis;
}): ChunkedWork<Decision[]> {
  const decisions: Decision[] = [];
  const beside = neighbours.map((neighbour) => silenced(neighbour, strategy.warmupMs));
  yield* backtestInChunks({
    state: freshState(setup, [strategy, ...beside.map(({ name }) => ({ name, budget: undefined, limits: {} }))]),
    // Last, so that it sees what the others do at the same instant.
    strategies: [...beside, strategy],
    seed: setup.seed,
    startAt, cursor, checks,
    model: setup.model,
    // Of the strategy alone: the feeds of its neighbours must not change its inputs.
    sampling: samplingOf([strategy], setup.intervals),
    stopwatch: () => 0,
    onDecision: ({ seq, at, strategy: decider, proposal, verdict, code }) => {
      if (decider === strategy.name) decisions.push({ seq, at, strategy: decider, proposal, verdict, code });
    },
  });
  return decisions;
}

/** Returns a strategy that receives everything and proposes nothing, with a warm-up of at most `warmupMs`. */
function silenced(instance: StrategyInstance, warmupMs: Millis | undefined): StrategyInstance {
  const { strategy } = instance;
  return {
    ...instance,
    warmupMs: Math.min(instance.warmupMs ?? 0, warmupMs ?? 0),
    strategy: {
      ...strategy, run: (inputs, params, context) => strategy.run(inputs, params, context).pipe(ignoreElements()),
    },
  };
}
