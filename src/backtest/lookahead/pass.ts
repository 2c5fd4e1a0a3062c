import type { Steps } from '../../core/steps.ts';
import type { Millis } from '../../core/time.ts';
import type { StrategyInstance } from '../../engine/host.ts';
import type { Decision } from '../../trading/step.ts';
import { backtestSteps, samplingOf } from '../backtest.ts';
import type { InputCursor } from '../driver.ts';
import type { RecordedLooks } from '../recorded-looks.ts';
import type { BacktestSetup, BacktestStrategy } from '../setup.ts';
import { freshState } from '../setup.ts';
import { muted } from './muted.ts';
import type { Poison } from './poison.ts';

/** What is withheld from a pass, or given otherwise, of all that no strategy has any business with. */
export const WORLDS = ['disk', 'network', 'chance', 'clock', 'locale', 'environment'] as const;
export type World = (typeof WORLDS)[number];

/** One backtest of one strategy, as plain data. */
export interface PassTask {
  readonly strategy: string;
  /** Strategies of one generation share the state of their modules; a new one loads them anew. */
  readonly generation: number;
  /** Strategies that are shown the same rows before it, and whose proposals are dropped. */
  readonly neighbours?: readonly string[] | undefined;
  readonly poison?: Poison | undefined;
  /** Whether all of the spoiled future is gone through, and not its beginning alone. */
  readonly whole?: boolean | undefined;
  /** What is not as it was. */
  readonly worlds?: readonly World[] | undefined;
  /** Whether a spoiled copy on the disk stands in the recording's place. */
  readonly onDisk?: boolean | undefined;
  /** Left out, the backtest begins as the configuration has it. */
  readonly history?: History | undefined;
}

/** Where trading begins, and how much of what was before and after is shown. */
export interface History {
  readonly tradeFrom: Millis;
  readonly warmupMs: Millis;
  /** How many rows from there on, at the most. */
  readonly rows: number;
}

export interface PassAnswer {
  /** Those before the poison's instant, where there is one. */
  readonly decisions: readonly Decision[];
  /** Why there was no backtest. */
  readonly fault?: string | undefined;
  /** What the strategy reached for beyond what it was shown: files, processes, the network, parts of the project that are no strategy's. */
  readonly reaches: readonly string[];
  /** What it left changed of what everybody uses. */
  readonly traces: readonly string[];
}

/** A thread in which passes run one after the other. */
export interface PassThread {
  run(task: PassTask): Promise<PassAnswer>;
  /** Whether something that all code shares is not what it was when the thread began. */
  readonly isSpoiled: boolean;
  close(): Promise<void>;
}

/**
 * Runs a strategy over rows and returns what was decided for it. It has a state of its own, its wallet and the shared limits
 * included: no neighbour's swap uses up what it would have had. Throws STRATEGY_INVALID as `backtestSteps` does.
 */
export function* passSteps({ setup, strategy, neighbours, cursor, looks, startAt }: {
  readonly setup: BacktestSetup;
  readonly strategy: BacktestStrategy;
  readonly neighbours: readonly StrategyInstance[];
  readonly cursor: InputCursor;
  readonly looks: RecordedLooks | undefined;
  /** Where the rows begin. */
  readonly startAt: Millis;
}): Steps<Decision[]> {
  const decisions: Decision[] = [];
  const beside = neighbours.map((neighbour) => muted(neighbour, strategy.warmupMs));
  yield* backtestSteps({
    state: freshState(setup, [strategy, ...beside.map(({ name }) => ({ name, budget: undefined, limits: {} }))]),
    // Last: it sees what the others do at the same instant.
    strategies: [...beside, strategy],
    seed: setup.seed,
    startAt, cursor, looks,
    model: setup.model,
    // Of the strategy alone: what its neighbours poll must not change what it is shown.
    sampling: samplingOf([strategy], setup.intervals),
    stopwatch: () => 0,
    onDecision: ({ seq, at, strategy: decider, proposal, verdict, code }) => {
      if (decider === strategy.name) decisions.push({ seq, at, strategy: decider, proposal, verdict, code });
    },
  });
  return decisions;
}
