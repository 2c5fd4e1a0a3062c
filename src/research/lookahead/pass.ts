import { ignoreElements } from 'rxjs';
import { goesOn } from '../box/phases.ts';
import { backtestInChunks, samplingOf } from '../../backtest/backtest.ts';
import type { InputCursor } from '../../backtest/driver.ts';
import type { RecordedChecks } from '../../backtest/recorded-checks.ts';
import { createSampler } from '../../backtest/sampling.ts';
import type { BacktestSetup, BacktestStrategy } from '../../backtest/setup.ts';
import { freshState } from '../../backtest/setup.ts';
import type { ChunkedWork } from '../../core/chunked-work.ts';
import type { Millis } from '../../core/time.ts';
import { Engine } from '../../engine/engine.ts';
import type { StrategyInstance } from '../../engine/strategy-host.ts';
import type { FeedKey } from '../../market/event-base.ts';
import { feedKey } from '../../market/feed.ts';
import type { EngineState } from '../../trading/engine-state.ts';
import type { Decision } from '../../trading/step.ts';
import type { Perturbation } from './perturbation.ts';

/** Properties of the machine that no decision may depend on. A pass removes or changes some of them. */
export const MACHINE_FACTORS = ['disk', 'network', 'chance', 'clock', 'locale', 'environment'] as const;
export type MachineFactor = (typeof MACHINE_FACTORS)[number];
/** The other machines. One is not enough: a strategy that tests the parity of a figure may see the same one there. */
export const MACHINE_VARIANTS = [0, 1, 2] as const;
export type MachineVariant = (typeof MACHINE_VARIANTS)[number];

/** One backtest of one strategy, as plain data. */
export interface PassTask {
  readonly strategy: string;
  /** Strategies of one generation share the state of their modules; a new generation loads the modules again. */
  readonly generation: number;
  /** Strategies that receive the same rows before it, and whose proposals are dropped. */
  readonly neighbours?: readonly string[] | undefined;
  /** All strategies of the configuration, which then run as in `gannet backtest`, with one wallet. */
  readonly together?: readonly string[] | undefined;
  readonly perturbation?: Perturbation | undefined;
  /** Whether the pass covers the whole perturbed future instead of its beginning. */
  readonly isWholeFuture?: boolean | undefined;
  /** The perturbed properties of the machine. */
  readonly machineFactors?: readonly MachineFactor[] | undefined;
  /** Which other machine these properties are of; the first one where left out. */
  readonly machineVariant?: MachineVariant | undefined;
  /** Whether a perturbed copy on disk replaces the recording. */
  readonly onDisk?: boolean | undefined;
  /** Whether the answer counts the events of the strategy's inputs where it decides nothing. */
  readonly countsInputs?: boolean | undefined;
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

/** The number of events of one input. */
export interface InputCount {
  readonly feed: FeedKey;
  /** While the strategy warmed up. */
  readonly inWarmUp: number;
  /** From the start of trading on. */
  readonly events: number;
}

export interface PassAnswer {
  /** With a perturbation, only decisions before its instant. */
  readonly decisions: readonly Decision[];
  /** Of all strategies together. */
  readonly decisionHash?: string | undefined;
  /** The events of the strategy's inputs; undefined where it decided. */
  readonly inputs?: readonly InputCount[] | undefined;
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

/** The rows of a pass, and the setup of its backtest. */
interface PassRows {
  readonly setup: BacktestSetup;
  readonly cursor: InputCursor;
  readonly checks: RecordedChecks | undefined;
  /** The time of the first row. */
  readonly startAt: Millis;
}

/**
 * Runs a strategy over rows and returns its decisions. The strategy has its own state, including the wallet and the
 * shared limits, so that no neighbour's swap consumes its balance. Throws STRATEGY_ASYNC as `backtestInChunks` does.
 */
export function* runPassInChunks({ strategy, neighbours, ...rows }: PassRows & {
  readonly strategy: BacktestStrategy;
  readonly neighbours: readonly StrategyInstance[];
}): ChunkedWork<Pick<PassAnswer, 'decisions'>> {
  const beside = neighbours.map((neighbour) => silenced(neighbour, strategy.warmupMs));
  const { decisions } = yield* decideInChunks(rows, {
    state: freshState(
      rows.setup, [strategy, ...beside.map(({ name }) => ({ name, budget: undefined, limits: {} }))],
    ),
    // Last, so that it sees what the others do at the same instant.
    strategies: [...beside, strategy],
    // Of the strategy alone: the feeds of its neighbours must not change its inputs.
    sampled: [strategy],
  });
  return { decisions: decisions.filter(({ strategy: decider }) => decider === strategy.name) };
}

/** Runs all strategies together, as `gannet backtest` does, and returns their decisions. */
export function runTogetherInChunks(
  { strategies, ...rows }: PassRows & { readonly strategies: readonly BacktestStrategy[] },
): ChunkedWork<Pick<PassAnswer, 'decisions' | 'decisionHash'>> {
  return decideInChunks(rows, { state: freshState(rows.setup, strategies), strategies, sampled: strategies });
}

function* decideInChunks({ setup, startAt, cursor, checks }: PassRows, { state, strategies, sampled }: {
  readonly state: EngineState;
  readonly strategies: readonly StrategyInstance[];
  readonly sampled: readonly StrategyInstance[];
}): ChunkedWork<{ readonly decisions: Decision[]; readonly decisionHash: string }> {
  const decisions: Decision[] = [];
  const { decisionHash } = yield* backtestInChunks({
    state, strategies, startAt, cursor, checks, goesOn,
    seed: setup.seed,
    model: setup.model,
    sampling: samplingOf(sampled, setup.intervals),
    stopwatch: () => 0,
    onDecision: ({ seq, at, strategy, proposal, verdict, code }) => {
      decisions.push({ seq, at, strategy, proposal, verdict, code });
    },
  });
  return { decisions, decisionHash };
}

/** Counts the events that a strategy alone receives. */
export function countInputs(strategy: BacktestStrategy, { setup, cursor, startAt }: PassRows): InputCount[] {
  const specs = Engine.feedsOf([strategy]);
  const counts = new Map(specs.map((spec) => [feedKey(spec), { inWarmUp: 0, events: 0 }]));
  const sampler = setup.intervals === undefined ? undefined : createSampler(specs, setup.intervals);
  const tradeFrom = startAt + (strategy.warmupMs ?? 0);
  sampler?.join(startAt);
  let isWarm = startAt >= tradeFrom;
  while (cursor.next()) {
    const { at, input } = cursor;
    if (!isWarm && at >= tradeFrom) {
      isWarm = true;
      sampler?.restart();
    }
    const count = 'feed' in input && input.kind !== 'feed-health' ? counts.get(input.feed) : undefined;
    if (count !== undefined && sampler?.takes(input, at) !== false) count[isWarm ? 'events' : 'inWarmUp'] += 1;
  }
  return [...counts].map(([feed, count]) => ({ feed, ...count }));
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
