import type { Mint } from '../../market/token.ts';
import { SOL_MINT } from '../../market/token.ts';
import { showAmount } from './amount-text.ts';
import { depositsAhead } from './deposits.ts';
import type { Rule, SwapWish } from './swap-wish.ts';

/** What the strategy has of its own. */
export const budget: Rule = (state, wish) => {
  const { strategy, inputMint, amountIn } = wish;
  const available = state.portfolio.available(strategy.name, inputMint, ownClaim(wish, inputMint));
  if (amountIn <= available) return undefined;
  return {
    code: 'BUDGET_EXCEEDED',
    reason: `${showAmount(state, inputMint, amountIn)} of ${showAmount(state, inputMint, available)} left`,
  };
};

/**
 * What the wallet has, and what of its SOL must stay: after an entry the reserve is whole but for the network's fee.
 */
export const balance: Rule = (state, wish) => {
  const { inputMint, amountIn, isExit } = wish;
  const { portfolio, limits } = state;
  const unreserved = portfolio.unreserved(inputMint, ownClaim(wish, inputMint));
  if (amountIn > unreserved) {
    return {
      code: 'BALANCE_INSUFFICIENT',
      reason: `${showAmount(state, inputMint, amountIn)} of ${showAmount(state, inputMint, unreserved)} in the wallet`,
    };
  }
  // The reserve is there to pay for exits: one that does not spend SOL itself may touch it.
  if (isExit && inputMint !== SOL_MINT) return undefined;
  const unspent = portfolio.unreserved(SOL_MINT, ownClaim(wish, SOL_MINT)) - (inputMint === SOL_MINT ? amountIn : 0n);
  // The reserve pays for the accounts that exits open, too: an exit that had to keep a deposit back would never sell
  // all.
  const deposits = isExit ? 0n : depositsAhead(state, wish);
  const solLeft = unspent > deposits ? unspent - deposits : 0n;
  if (unspent - deposits >= limits.solReserve) return undefined;
  const laidDown = deposits === 0n ? ''
    : ` with ${showAmount(state, SOL_MINT, deposits)} in deposits of new token accounts`;
  return { code: 'SOL_RESERVE', reason: `${showAmount(state, SOL_MINT, solLeft)} would be left${laidDown}, `
    + `${showAmount(state, SOL_MINT, limits.solReserve)} stay untouched` };
};

/** Returns what a further attempt has claimed of a token already. */
function ownClaim({ retryOf }: SwapWish, mint: Mint): bigint {
  return retryOf?.inputMint === mint ? retryOf.amountIn : 0n;
}
