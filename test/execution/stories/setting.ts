import type { Amount, Bps } from '../../../src/core/amount.ts';
import type { StateSetup } from '../../../src/daemon/run/recover.ts';
import type { Mint } from '../../../src/market/token.ts';
import { FISH, SOL, TOKENS, USDC } from '../../market/tokens.ts';

/** A strategy for each: its budget is in it. */
export const MINTS = [USDC.mint, SOL.mint, FISH.mint] as const;
export const BUDGETS: readonly bigint[] = [50_000_000n, 400_000_000n, 9_000_000n];
export const PRICES: ReadonlyMap<Mint, bigint> = new Map([[USDC.mint, 1_000n], [SOL.mint, 150n], [FISH.mint, 10n]]);
export const WALLET: ReadonlyMap<Mint, bigint> =
  new Map([[USDC.mint, 80_000_000n], [SOL.mint, 700_000_000n], [FISH.mint, 9_000_000n]]);

/** Returns the configuration of a process whose strategies have these names, one of them perhaps retired. */
export function setupOf(names: readonly string[], retired: number | undefined): StateSetup {
  return {
    tokens: TOKENS,
    limits: {
      maxSlippageBps: 50 as Bps, maxPriceImpactBps: 100 as Bps, maxFeeBps: 30 as Bps, maxPosition: new Map(),
      maxOpenIntents: 5, maxSwaps: {}, solReserve: 40_000_000n as Amount,
    },
    strategies: names.flatMap((name, index) => (index === retired ? []
      : [{ name, budget: { mint: MINTS[index]!, amount: BUDGETS[index] as Amount }, limits: {} }])),
  };
}
