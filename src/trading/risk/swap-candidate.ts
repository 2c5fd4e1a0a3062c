import type { Amount, Bps } from '../../core/amount.ts';
import { mulDiv } from '../../core/amount.ts';
import type { Millis } from '../../core/time.ts';
import type { Mint } from '../../market/token.ts';
import { SOL_MINT } from '../../market/token.ts';
import type { Denial } from '../limits.ts';
import type { Intent } from '../intent.ts';
import type { SwapProposal } from '../proposal.ts';
import type { EngineState, StrategyRecord } from '../engine-state.ts';

/** A swap for the rules to check: a proposed one with its size resolved, or a further attempt of an approved one. */
export interface SwapCandidate {
  readonly strategy: StrategyRecord;
  readonly inputMint: Mint;
  readonly outputMint: Mint;
  readonly amountIn: Amount;
  readonly slippageBps: Bps | undefined;
  readonly key: string | undefined;
  /** Whether it leads back into the token of the strategy's budget. */
  readonly isExit: boolean;
  readonly at: Millis;
  /** Whether the engine itself continues an exit, which does not depend on the strategy's present inputs. */
  readonly continues: boolean;
  /** Whether a person ordered it, and it does not depend on the strategy's inputs at all. */
  readonly byHand: boolean;
  /** The intent of a further attempt. The state contains it already, and the rules do not count it twice. */
  readonly retryOf: Intent | undefined;
}

/** A check of every swap; returns undefined where the swap may go ahead. */
export type Rule = (state: EngineState, swap: SwapCandidate) => Denial | undefined;

/** Returns the swap of a proposal. */
export function candidateOf(
  state: EngineState, strategy: StrategyRecord, proposal: SwapProposal, at: Millis,
  { continues = false, byHand = false }: {
    readonly continues?: boolean | undefined; readonly byHand?: boolean | undefined;
  } = {},
): SwapCandidate {
  const { inputMint, outputMint, slippageBps, key } = proposal;
  const isExit = state.portfolio.book(strategy.name).budget?.mint === outputMint;
  return {
    strategy, inputMint, outputMint, amountIn: resolveSize(state, strategy.name, proposal, isExit), slippageBps, key,
    isExit, at, continues, byHand, retryOf: undefined,
  };
}

/** Returns the swap of a further attempt of an approved intent. */
export function retryCandidateOf(strategy: StrategyRecord, intent: Intent, at: Millis): SwapCandidate {
  const { inputMint, outputMint, amountIn, purpose } = intent;
  return {
    strategy, inputMint, outputMint, amountIn, slippageBps: undefined, key: undefined, isExit: purpose === 'exit', at,
    continues: false, byHand: false, retryOf: intent,
  };
}

/**
 * Returns the amount of a proposal in smallest units. Fractions are floored, so that rounding never exceeds a balance.
 * `all` and fractions of an exit are bounded by `spendable`.
 */
function resolveSize(
  state: EngineState, strategy: string, { amount, inputMint }: SwapProposal, isExit: boolean,
): Amount {
  if (typeof amount === 'bigint') return amount;
  const available = state.portfolio.available(strategy, inputMint);
  const most = isExit ? spendable(state, strategy, inputMint) : available;
  if (amount === 'all') return most;
  const millionths = Math.floor(Math.min(Math.max(amount.fraction, 0), 1) * 1_000_000) || 0;
  const share = mulDiv(available, BigInt(millionths), 1_000_000n, 'floor');
  return share < most ? share : most;
}

/**
 * Returns the most that an exit of `all` or of a fraction may spend: the strategy's balance, bounded by the wallet's
 * balance without the SOL reserve. Without the bound, such an exit would always be refused.
 */
export function spendable(state: EngineState, strategy: string, mint: Mint): Amount {
  const own = state.portfolio.available(strategy, mint);
  const kept = mint === SOL_MINT ? state.limits.solReserve : 0n;
  const wallet = state.portfolio.unreserved(mint);
  const free = wallet > kept ? wallet - kept : 0n;
  return (own < free ? own : free) as Amount;
}
