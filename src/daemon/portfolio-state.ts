import type { EngineState } from '../trading/state.ts';

/** The money, as `/api/portfolio` shows it; smallest units by mint, SOL in lamports, native and wrapped together. */
export interface PortfolioState {
  readonly wallet: Amounts;
  readonly sol_reserve: string;
  readonly strategies: readonly {
    readonly name: string;
    readonly budget: { readonly mint: string; readonly amount: string } | null;
    readonly balances: Amounts;
    /** Claimed by swaps under way; in the balances too. */
    readonly reserved: Amounts;
    readonly fees_lamports: string;
    readonly swaps: number;
  }[];
}

type Amounts = Readonly<Record<string, string>>;

/** Returns who has what. */
export function portfolioState({ portfolio, limits }: EngineState): PortfolioState {
  return {
    wallet: amounts(portfolio.wallet),
    sol_reserve: limits.solReserve.toString(),
    strategies: [...portfolio.books].map(([name, { budget, balances, reserved, feesLamports, swaps }]) => ({
      name,
      budget: budget === undefined ? null : { mint: budget.mint, amount: budget.amount.toString() },
      balances: amounts(balances),
      reserved: amounts(reserved),
      fees_lamports: feesLamports.toString(),
      swaps,
    })),
  };
}

/** Returns amounts as decimal strings. */
export function amounts(balances: ReadonlyMap<string, bigint>): Amounts {
  return Object.fromEntries([...balances].map(([mint, amount]) => [mint, amount.toString()]));
}
