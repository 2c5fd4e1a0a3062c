import type { BacktestSetup, BacktestStrategy } from '../../backtest/setup.ts';
import { importStrategy } from '../../config/strategy-file.ts';
import { GannetError } from '../../core/errors.ts';
import type { TokenTable } from '../../market/token.ts';
import type { Strategy } from '../../strategy/define.ts';
import { withTokens } from '../../strategy/params.ts';

/** A strategy of a configuration as plain data: its code is loaded where it runs. */
export interface ThreadStrategy extends Pick<BacktestStrategy, 'name' | 'budget' | 'limits' | 'warmupMs'> {
  /** As in the file. */
  readonly use: string;
  /** As in the file: plain JSON. */
  readonly rawParams: unknown;
  /** What its code was when the command began, by `strategyHash`: a thread that finds other code runs nothing. */
  readonly codeHash?: string | undefined;
}

/** What a thread that runs backtests is given; plain data. */
export interface ThreadSetup extends BacktestSetup {
  /** Absolute. */
  readonly recordingDir: string;
  readonly strategies: readonly ThreadStrategy[];
  /** Where `use` looks. */
  readonly places: { readonly strategiesDir: string; readonly baseDir: string };
}

/** Returns a strategy with its code. Throws STRATEGY_INVALID where its file is gone, and zod's error where its schema refuses the parameters. */
export async function loadStrategy({ use, rawParams, ...bounds }: ThreadStrategy, tokens: TokenTable, places: ThreadSetup['places']): Promise<BacktestStrategy> {
  const strategy = await strategyCode(use, places);
  return { ...bounds, strategy, params: withTokens(tokens, () => strategy.params.parse(rawParams)) };
}

/** Returns the code of a strategy. Throws STRATEGY_INVALID where its file is gone. */
export async function strategyCode(use: string, places: ThreadSetup['places']): Promise<Strategy> {
  const imported = await importStrategy(use, places);
  if (typeof imported === 'string') throw new GannetError('STRATEGY_INVALID', imported);
  return imported.strategy;
}
