import type { Amount } from '../../core/amount.ts';
import { mulDiv } from '../../core/amount.ts';
import type { SwapProposal } from '../proposal.ts';
import type { EngineState } from '../state.ts';
import { spendable } from './spendable.ts';

/**
 * Returns the amount that a proposal means. Fractions are floored: what a strategy has is never exceeded by rounding.
 * What it asks for as a share, an exit takes of what it may spend.
 */
export function resolveSize(
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
