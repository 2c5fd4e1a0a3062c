import type { Amount } from '../core/amount.ts';
import type { Millis } from '../core/time.ts';
import type { StrategyInstance } from '../engine/strategy-host.ts';
import { mintsOf } from '../market/feeds/registry.ts';
import type { Mint, Token } from '../market/token.ts';
import { tokenTable } from '../market/token.ts';
import type { RiskLimits, StrategyLimits, ValueLimit } from '../trading/limits.ts';
import type { SimulationModel } from '../trading/simulation-model.ts';
import type { RecordedIntervals } from './sampling.ts';
import type { EngineState } from '../trading/engine-state.ts';
import { createState, freshSnapshot } from '../trading/engine-state.ts';
import { Engine } from '../engine/engine.ts';

/** The setup that all backtests over one recording share. Plain data, since it is sent to threads. */
export interface BacktestSetup {
  readonly tokens: readonly Token[];
  readonly limits: RiskLimits;
  /** The initial balances of the simulated wallet, smallest units. */
  readonly balances: ReadonlyMap<Mint, Amount>;
  readonly model: SimulationModel;
  readonly seed: number;
  /** The token in which results are counted. */
  readonly currency: Token;
  /** When the first and the last row of the recording were received, warm-up included. */
  readonly firstAt: Millis;
  readonly lastAt: Millis;
  /**
   * How often each feed was recorded. A feed that strategies request less often is sampled; left out, strategies see
   * each row.
   */
  readonly intervals?: RecordedIntervals | undefined;
  /** Whether the market of the recording is synthetic. */
  readonly isMadeUp?: boolean | undefined;
}

/** A strategy with its budget and its limits. */
export interface BacktestStrategy extends StrategyInstance {
  readonly budget: ValueLimit | undefined;
  readonly limits: StrategyLimits;
}

/** Returns the state at the beginning of a backtest, before any trade. */
export function freshState(
  { tokens, limits, balances }: BacktestSetup,
  strategies: readonly Pick<BacktestStrategy, 'name' | 'budget' | 'limits'>[],
): EngineState {
  return createState({ tokens: tokenTable(tokens), limits, snapshot: freshSnapshot(balances), strategies });
}

/** Returns the watched tokens other than the currency: the benchmarks buy them. */
export function watchedTokens(strategies: readonly StrategyInstance[], { tokens, currency }: {
  readonly tokens: readonly Token[]; readonly currency: Token;
}): Token[] {
  const mints = new Set(Engine.feedsOf(strategies).flatMap(mintsOf));
  return tokens.filter(({ mint }) => mint !== currency.mint && mints.has(mint));
}
