import type { Millis } from '../../core/time.ts';
import type { Quote } from '../../market/quote.ts';
import type { Mint } from '../../market/token.ts';
import type { EngineState } from '../engine-state.ts';
import { quotedSale } from './sale-value.ts';

/** Begins to guard the positions of strategies with exit rules, and ends where nothing is held any longer. */
export function guardPositions(state: EngineState, at: Millis): void {
  const { guarded, portfolio, strategies } = state;
  if (guarded.size > 0) for (const position of guarded.values()) {
    // The positions of strategies that are not of this run wait: a manual swap between two runs must not lose them.
    if (strategies.has(position.strategy) && !portfolio.book(position.strategy).balances.has(position.mint))
      guarded.delete(position);
  }
  for (const { name, limits } of strategies.values()) {
    if (limits.exits === undefined) continue;
    const { balances, budget } = portfolio.book(name);
    for (const mint of balances.keys()) {
      if (mint === budget?.mint || guarded.get(name, mint) !== undefined) continue;
      guarded.put({ strategy: name, mint, since: at, taken: 0 });
    }
  }
}

/** Keeps the first and the best price of the positions that a quote is about. */
export function notePrice(state: EngineState, { inputMint, outputMint }: Quote, at: Millis): void {
  const { guarded, portfolio } = state;
  for (const position of guarded.values()) {
    if (position.mint !== inputMint || !state.strategies.has(position.strategy)) continue;
    const { balances, budget } = portfolio.book(position.strategy);
    const amount = balances.get(inputMint);
    if (budget?.mint !== outputMint || amount === undefined) continue;
    const value = quotedSale(state, { mint: inputMint, into: outputMint, amount }, at);
    if (value === undefined) continue;
    const { first = { value, amount }, peak } = position;
    if (peak === undefined || value * peak.amount > peak.value * amount)
      guarded.put({ ...position, first, peak: { value, amount } });
  }
}

/** Notes that a level of the gain was taken. */
export function noteTaken({ guarded }: EngineState, strategy: string, mint: Mint): void {
  const position = guarded.get(strategy, mint);
  if (position !== undefined) guarded.put({ ...position, taken: position.taken + 1 });
}
