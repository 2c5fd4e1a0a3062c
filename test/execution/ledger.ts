import type { Amount } from '../../src/core/amount.ts';
import type { Mint } from '../../src/market/token.ts';
import type { Intent, Outcome } from '../../src/trading/intent.ts';
import { Portfolio } from '../../src/trading/portfolio.ts';

/** Returns the wallet that the portfolio keeps when it books outcomes: it must be what the chain holds, to the unit. */
export function bookedWallet(
  before: ReadonlyMap<Mint, Amount>, intents: readonly Intent[], outcomes: readonly Outcome[],
): Map<Mint, Amount> {
  const portfolio = new Portfolio(before);
  for (const strategy of new Set(intents.map((intent) => intent.strategy))) portfolio.openBook(strategy, undefined);
  for (const { intentId, fill, feeLamports } of outcomes) {
    const { strategy } = intents.find(({ id }) => id === intentId)!;
    if (fill !== undefined) portfolio.applyFill(strategy, fill);
    else if (feeLamports !== undefined) portfolio.applyFee(strategy, feeLamports);
  }
  return portfolio.wallet;
}
