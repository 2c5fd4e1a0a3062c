import type { Amount, Bps } from '../../core/amount.ts';
import type { Millis } from '../../core/time.ts';
import type { Mint } from '../../market/token.ts';
import type { Intent } from '../intent.ts';
import type { SwapProposal } from '../proposal.ts';
import type { EngineState, StrategyRecord } from '../state.ts';
import type { Denial } from './denial.ts';
import { resolveSize } from './resolve-size.ts';

/**
 * A swap as the rules see it: one that is proposed, its size resolved, or one more attempt of one that was approved.
 */
export interface SwapWish {
  readonly strategy: StrategyRecord;
  readonly inputMint: Mint;
  readonly outputMint: Mint;
  readonly amountIn: Amount;
  readonly slippageBps: Bps | undefined;
  readonly key: string | undefined;
  /** Whether it leads back into the token that the strategy's budget is in. */
  readonly isExit: boolean;
  readonly at: Millis;
  /**
   * Whether the engine itself goes on with an exit that was decided before: what the strategy sees now does not matter.
   */
  readonly continues: boolean;
  /** The intent that this is a further attempt of: in the state already, and not to be held against itself. */
  readonly retryOf: Intent | undefined;
}

/** One question put to every swap; undefined where it may go ahead. */
export type Rule = (state: EngineState, wish: SwapWish) => Denial | undefined;

/** Returns a proposal as the rules see it. */
export function wishOf(
  state: EngineState, strategy: StrategyRecord, proposal: SwapProposal, at: Millis, continues = false,
): SwapWish {
  const { inputMint, outputMint, slippageBps, key } = proposal;
  const isExit = state.portfolio.book(strategy.name).budget?.mint === outputMint;
  return {
    strategy, inputMint, outputMint, amountIn: resolveSize(state, strategy.name, proposal, isExit), slippageBps, key,
    isExit, at, continues, retryOf: undefined,
  };
}

/** Returns a further attempt of an approved intent as the rules see it. */
export function retryWishOf(strategy: StrategyRecord, intent: Intent, at: Millis): SwapWish {
  const { inputMint, outputMint, amountIn, purpose } = intent;
  return {
    strategy, inputMint, outputMint, amountIn, slippageBps: undefined, key: undefined, isExit: purpose === 'exit', at,
    continues: false, retryOf: intent,
  };
}
