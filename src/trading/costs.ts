import type { Amount } from '../core/amount.ts';
import { mulDiv } from '../core/amount.ts';
import type { Mint } from '../market/token.ts';
import type { Fill } from './intent.ts';

/** What positions have cost, of one strategy, in smallest units of its budget's token. */
export interface CostBasis {
  readonly budget: { readonly mint: Mint } | undefined;
  readonly balances: ReadonlyMap<Mint, Amount>;
  /** Of the whole holding of each mint, fees included; absent where it is not known of a part of it. */
  readonly costs: Map<Mint, Amount>;
}

/** What an exit brought against what it had cost, in smallest units of the budget's token. */
export interface ExitResult {
  readonly cost: Amount;
  /** Proceeds less cost and fee; negative is a loss. */
  readonly profit: bigint;
}

/**
 * Books what a fill does to costs, before it changes balances, and returns the result of an exit; undefined for what is
 * none, or where nobody knows what was paid. Costs are averages: a part of a holding has cost its share of the whole,
 * rounded up. A swap from position to position carries the cost over.
 */
export function bookCosts(basis: CostBasis, fill: Fill, fee: Amount): ExitResult | undefined {
  const budget = basis.budget?.mint;
  if (budget === undefined) return undefined;
  const spent = fill.inputMint === budget ? fill.amountIn : takeCost(basis, fill.inputMint, fill.amountIn);
  if (fill.outputMint === budget)
    return spent === undefined ? undefined : { cost: spent, profit: fill.amountOut - spent - fee };
  const before = basis.balances.has(fill.outputMint) ? basis.costs.get(fill.outputMint) : 0n;
  if (spent === undefined || before === undefined) basis.costs.delete(fill.outputMint);
  else basis.costs.set(fill.outputMint, (before + spent + fee) as Amount);
  return undefined;
}

/**
 * Returns what a part of a holding has cost and takes it off, before balances change; undefined where it is not known.
 */
export function takeCost({ balances, costs }: CostBasis, mint: Mint, sold: Amount): Amount | undefined {
  const cost = costs.get(mint);
  if (cost === undefined) return undefined;
  const held = balances.get(mint) ?? (0n as Amount);
  const taken = sold >= held ? cost : mulDiv(cost, sold, held, 'ceil');
  if (sold >= held) costs.delete(mint);
  else costs.set(mint, (cost - taken) as Amount);
  return taken;
}
