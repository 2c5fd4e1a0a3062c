import type { Amount } from '../core/amount.ts';
import type { Millis } from '../core/time.ts';
import type { StrategyInstance } from '../engine/host.ts';
import type { Mint, Token } from '../market/token.ts';
import { tokenTable } from '../market/token.ts';
import type { RiskLimits, StrategyLimits, ValueLimit } from '../trading/limits.ts';
import type { SimulationModel } from '../trading/simulation-model.ts';
import type { RecordedIntervals } from './sampling.ts';
import type { EngineState } from '../trading/state.ts';
import { createState, freshSnapshot } from '../trading/state.ts';
import { Engine } from '../engine/engine.ts';

/**
 * What all backtests over one recording have in common, whatever strategies they run. Plain data: it goes into threads.
 */
export interface BacktestSetup {
  readonly tokens: readonly Token[];
  readonly limits: RiskLimits;
  /** What the simulated wallet starts with, smallest units. */
  readonly balances: ReadonlyMap<Mint, Amount>;
  readonly model: SimulationModel;
  readonly seed: number;
  /** What results are counted in. */
  readonly currency: Token;
  /** When the first row and the last one of the recording were received, warm-up included. */
  readonly firstAt: Millis;
  readonly lastAt: Millis;
  /**
   * How often the recording has each feed: what strategies ask for less often is sampled. Left out, they are shown
   * every row.
   */
  readonly intervals?: RecordedIntervals | undefined;
  /** Whether the recording's market was made up. */
  readonly isMadeUp?: boolean | undefined;
}

/** A strategy with what bounds it. */
export interface BacktestStrategy extends StrategyInstance {
  readonly budget: ValueLimit | undefined;
  readonly limits: StrategyLimits;
}

/** Returns the state in which a backtest begins: nothing was traded yet. */
export function freshState(
  { tokens, limits, balances }: BacktestSetup,
  strategies: readonly Pick<BacktestStrategy, 'name' | 'budget' | 'limits'>[],
): EngineState {
  return createState({ tokens: tokenTable(tokens), limits, snapshot: freshSnapshot(balances), strategies });
}

/** Returns what strategies watch that could be bought with the currency: benchmarks buy it. */
export function watchedTokens(strategies: readonly StrategyInstance[], { tokens, currency }: {
  readonly tokens: readonly Token[]; readonly currency: Token;
}): Token[] {
  const mints = new Set(Engine.feedsOf(strategies).flatMap((spec) => {
    switch (spec.kind) {
      case 'quote': return [spec.inputMint, spec.outputMint];
      case 'token-stats': return [spec.mint];
      case 'order-book': return [];
    }
  }));
  return tokens.filter(({ mint }) => mint !== currency.mint && mints.has(mint));
}
