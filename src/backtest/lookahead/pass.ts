import type { Amount } from '../../core/amount.ts';
import type { Millis } from '../../core/time.ts';
import type { StrategyInstance } from '../../engine/host.ts';
import type { Mint, Token } from '../../market/token.ts';
import { tokenTable } from '../../market/token.ts';
import type { RiskLimits, StrategyLimits, ValueLimit } from '../../trading/limits.ts';
import type { SimulationModel } from '../../trading/simulation-model.ts';
import { createState, freshSnapshot } from '../../trading/state.ts';
import type { Decision } from '../../trading/step.ts';
import { runBacktest } from '../backtest.ts';
import type { InputCursor } from '../driver.ts';
import type { RecordedLooks } from '../recorded-looks.ts';
import { muted } from './muted.ts';
import type { Poison } from './poison.ts';

/** What is withheld from a pass, or given otherwise, of all that no strategy has any business with. */
export const WORLDS = ['disk', 'chance', 'clock', 'environment'] as const;
export type World = (typeof WORLDS)[number];

/** One backtest of one strategy, as plain data. */
export interface PassTask {
  readonly strategy: string;
  /** Strategies of one generation share the state of their modules; a new one loads them anew. */
  readonly generation: number;
  /** Strategies that are shown the same rows before it, and whose proposals are dropped. */
  readonly neighbours?: readonly string[] | undefined;
  readonly poison?: Poison | undefined;
  /** What is not as it was. */
  readonly worlds?: readonly World[] | undefined;
  /** Whether the rows come from a copy on the disk that stands in the recording's place. */
  readonly onDisk?: boolean | undefined;
  /** Left out, the backtest begins as the configuration has it. */
  readonly history?: History | undefined;
}

/** Where trading begins, and how much of what was before is shown. */
export interface History {
  readonly tradeFrom: Millis;
  readonly warmupMs: Millis;
}

export interface PassAnswer {
  readonly decisions: readonly Decision[];
  /** Why there was no backtest. */
  readonly fault?: string | undefined;
  /** Whether the strategy reached for files, processes, or parts of the project that are no strategy's. */
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

/** What all passes have in common; plain data. */
export interface PassSetup {
  readonly tokens: readonly Token[];
  readonly limits: RiskLimits;
  readonly balances: ReadonlyMap<Mint, Amount>;
  readonly model: SimulationModel;
  readonly seed: number;
  readonly currency: Token;
}

export interface PassStrategy {
  readonly instance: StrategyInstance;
  readonly budget: ValueLimit | undefined;
  readonly limits: StrategyLimits;
}

/**
 * Runs a strategy over rows and returns what was decided for it. It has a state of its own, its wallet and the shared limits
 * included: no neighbour's swap uses up what it would have had.
 */
export function runPass({ setup, strategy: { instance, budget, limits }, neighbours, cursor, looks, startAt }: {
  readonly setup: PassSetup;
  readonly strategy: PassStrategy;
  readonly neighbours: readonly StrategyInstance[];
  readonly cursor: InputCursor;
  readonly looks: RecordedLooks | undefined;
  /** Where the rows begin. */
  readonly startAt: Millis;
}): Decision[] {
  const decisions: Decision[] = [];
  const beside = neighbours.map((neighbour) => muted(neighbour, instance.warmupMs));
  runBacktest({
    state: createState({
      tokens: tokenTable(setup.tokens),
      limits: setup.limits,
      strategies: [{ name: instance.name, budget, limits }, ...beside.map(({ name }) => ({ name, budget: undefined, limits: {} }))],
      snapshot: freshSnapshot(setup.balances),
    }),
    // Last: it sees what the others do at the same instant.
    strategies: [...beside, instance],
    seed: setup.seed,
    startAt, cursor, looks,
    model: setup.model,
    currency: setup.currency,
    stopwatch: () => 0,
    onDecision: ({ seq, at, strategy, proposal, verdict, code }) => {
      if (strategy === instance.name) decisions.push({ seq, at, strategy, proposal, verdict, code });
    },
  });
  return decisions;
}
