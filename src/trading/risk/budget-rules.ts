import type { Lamports } from '../../core/amount.ts';
import { showAmount } from '../../market/market-text.ts';
import type { Mint } from '../../market/token.ts';
import { SOL_MINT } from '../../market/token.ts';
import type { EngineState } from '../engine-state.ts';
import { isManualBook } from '../manual/manual-book.ts';
import type { Rule, SwapCandidate } from './swap-candidate.ts';

/** The deposit of a token account in lamports: that of Token-2022, which is the larger one. */
const ACCOUNT_DEPOSIT = 2_074_080n;

/**
 * Returns the deposits that the wallet may have to pay for token accounts, in lamports: one for each output token of
 * the swap and of open intents that the wallet does not hold. Existing empty accounts are unknown here, so the result
 * may be too high, never too low.
 */
function depositsAhead(state: EngineState, { outputMint }: Pick<SwapCandidate, 'outputMint'>): Lamports {
  const opened = new Set<Mint>();
  const note = (mint: Mint): void => { if (mint !== SOL_MINT && !state.portfolio.wallet.has(mint)) opened.add(mint); };
  note(outputMint);
  for (const { intent } of state.intents.values()) note(intent.outputMint);
  return (BigInt(opened.size) * ACCOUNT_DEPOSIT) as Lamports;
}

/** Refuses what exceeds the strategy's own balance. */
const budget: Rule = (state, swap) => {
  const { strategy, inputMint, amountIn, isExit } = swap;
  const available = state.portfolio.available(strategy.name, inputMint, ownClaim(swap, inputMint));
  if (amountIn <= available) return undefined;
  const [asked, left] = [amountIn, available].map((amount) => showAmount(state.tokens, inputMint, amount));
  return {
    code: 'BUDGET_EXCEEDED',
    reason: isManualBook(strategy.name) && !isExit
      ? `${asked} of ${left} that no strategy has of the wallet; --strategy NAME spends from the budget of one`
      : `${asked} of ${left} left`,
  };
};

/**
 * Refuses what exceeds the wallet's balance, or would use its SOL reserve. After an entry, at most the network fee is
 * missing from the reserve.
 */
const balance: Rule = (state, swap) => {
  const { inputMint, amountIn, isExit } = swap;
  const { portfolio, limits } = state;
  const unreserved = portfolio.unreserved(inputMint, ownClaim(swap, inputMint));
  if (amountIn > unreserved) {
    return {
      code: 'BALANCE_INSUFFICIENT',
      reason: `${showAmount(state.tokens, inputMint, amountIn)} of ${showAmount(state.tokens, inputMint, unreserved)} `
        + 'in the wallet',
    };
  }
  // The reserve pays for exits, so an exit that does not spend SOL itself may use it.
  if (isExit && inputMint !== SOL_MINT) return undefined;
  const unspent = portfolio.unreserved(SOL_MINT, ownClaim(swap, SOL_MINT)) - (inputMint === SOL_MINT ? amountIn : 0n);
  // The reserve also pays for accounts that exits open. An exit that had to keep a deposit back could never sell all.
  const deposits = isExit ? 0n : depositsAhead(state, swap);
  const solLeft = unspent > deposits ? unspent - deposits : 0n;
  if (unspent - deposits >= limits.solReserve) return undefined;
  const depositText = deposits === 0n ? ''
    : ` with ${showAmount(state.tokens, SOL_MINT, deposits)} in deposits of new token accounts`;
  return { code: 'SOL_RESERVE', reason: `${showAmount(state.tokens, SOL_MINT, solLeft)} would be left${depositText}, `
    + `${showAmount(state.tokens, SOL_MINT, limits.solReserve)} stay untouched` };
};

/** Returns the amount of a token that the intent of a further attempt has reserved already. */
function ownClaim({ retryOf }: SwapCandidate, mint: Mint): bigint {
  return retryOf?.inputMint === mint ? retryOf.amountIn : 0n;
}

/** The rules on budgets and balances, in the order of their application. */
export const BUDGET_RULES: readonly Rule[] = [budget, balance];
