import type { Amount } from '../core/amount.ts';
import type { RunConfig } from '../config/run-config.ts';
import type { Mint } from '../market/token.ts';
import { SOL_MINT } from '../market/token.ts';

/** Enough for fees for a long time. */
const FEE_MONEY = 10_000_000_000n as Amount;

/**
 * Returns what a simulated wallet holds: the configured balances, or else what the budgets add up to; and SOL for fees
 * besides the reserve where none is named.
 */
export function simulatedWallet({ backtest, strategies, wallet }: Pick<RunConfig, 'backtest' | 'strategies' | 'wallet'>): ReadonlyMap<Mint, Amount> {
  const balances = new Map<Mint, Amount>(backtest.balances);
  if (balances.size === 0) {
    for (const { budget } of strategies) {
      if (budget !== undefined) balances.set(budget.mint, ((balances.get(budget.mint) ?? 0n) + budget.amount) as Amount);
    }
  }
  if (!backtest.balances.has(SOL_MINT)) {
    balances.set(SOL_MINT, ((balances.get(SOL_MINT) ?? 0n) + FEE_MONEY + wallet.solReserve) as Amount);
  }
  return balances;
}
