import { SOL_MINT } from '../../market/token.ts';
import { intentKey } from '../recent-keys.ts';
import { showAmount } from './amount-text.ts';
import type { Denial } from './denial.ts';
import type { Rule } from './swap-wish.ts';

/** Two different tokens that the configuration knows, and an amount. */
export const sensible: Rule = (state, { inputMint, outputMint, amountIn, isExit }) => {
  if (inputMint === outputMint) return invalid('input and output are the same token');
  for (const mint of [inputMint, outputMint]) {
    if (state.tokens.byMint(mint) === undefined) return invalid(`${mint} is not among the configured tokens`);
  }
  if (amountIn > 0n) return undefined;
  if (isExit && inputMint === SOL_MINT && state.portfolio.unreserved(SOL_MINT) > 0n) {
    return { code: 'SOL_RESERVE', reason: 'nothing is left to sell beyond the '
      + `${showAmount(state, SOL_MINT, state.limits.solReserve)} that stay untouched` };
  }
  return invalid('the amount is zero');
};

export const keyUnused: Rule = (state, { strategy, key }) => {
  if (key === undefined || !state.keys.has(intentKey(strategy.name, key))) return undefined;
  return { code: 'KEY_REPEATED', reason: `"${key}" was acted on before` };
};

export const slippage: Rule = (state, { slippageBps }) => {
  const { maxSlippageBps } = state.limits;
  if (slippageBps === undefined || slippageBps <= maxSlippageBps) return undefined;
  return { code: 'SLIPPAGE_EXCEEDS_MAX', reason: `${slippageBps} bps asked for, allowed are ${maxSlippageBps}` };
};

function invalid(reason: string): Denial {
  return { code: 'PROPOSAL_INVALID', reason };
}
