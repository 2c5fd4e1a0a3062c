import type { Amount } from '../../core/amount.ts';
import type { Millis } from '../../core/time.ts';
import type { Mint, TokenAmount } from '../../market/token.ts';
import type { EngineState } from '../engine-state.ts';
import { saleValue } from './sale-value.ts';

/** A strategy's holding of one token, in smallest units. Costs and values are in the budget's token. */
export interface Holding {
  /** Everything that it holds, with what a swap under way has claimed. */
  readonly amount: Amount;
  readonly available: Amount;
  /** The average cost of the whole holding, network fees included; undefined where a part's cost is unknown. */
  readonly cost: Amount | undefined;
  /** The output of its sale, at its size where such sales are quoted; undefined without a fresh price. */
  readonly value: Amount | undefined;
}

/** Returns a strategy's holding of a token at an instant. */
export function holdingOf(state: EngineState, strategy: string, mint: Mint, at: Millis): Holding {
  const { balances, costs, budget } = state.portfolio.book(strategy);
  const amount = balances.get(mint) ?? (0n as Amount);
  const isCash = budget?.mint === mint;
  return {
    amount,
    available: state.portfolio.available(strategy, mint),
    cost: isCash || amount === 0n ? amount : costs.get(mint),
    value: budget === undefined ? undefined
      : amount === 0n ? amount : saleValue(state, { mint, into: budget.mint, amount }, at),
  };
}

/**
 * Returns what a strategy's holdings together would be sold for, in smallest units of the budget's token; undefined
 * without a budget, and where a holding has no fresh price. Network fees are paid by the wallet and not in it.
 */
export function equityOf(state: EngineState, strategy: string, at: Millis): Amount | undefined {
  const { balances, budget } = state.portfolio.book(strategy);
  if (budget === undefined) return undefined;
  let total = 0n;
  for (const [mint, amount] of balances) {
    const value = saleValue(state, { mint, into: budget.mint, amount }, at);
    if (value === undefined) return undefined;
    total += value;
  }
  return total as Amount;
}

/** Returns the configured budget of a strategy; undefined where it has none. */
export function budgetAmount({ portfolio, tokens }: EngineState, strategy: string): TokenAmount | undefined {
  const { budget } = portfolio.book(strategy);
  const token = budget === undefined ? undefined : tokens.byMint(budget.mint);
  return budget === undefined || token === undefined ? undefined : { token, amount: budget.amount };
}
