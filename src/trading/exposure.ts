import type { Amount } from '../core/amount.ts';
import type { Millis } from '../core/time.ts';
import type { Mint } from '../market/token.ts';
import type { Intent } from './intent.ts';
import type { Portfolio, StrategyBook } from './portfolio.ts';
import type { EngineState } from './state.ts';
import { VALUE_MAX_AGE_MS, valueIn } from './valuation.ts';

/** A token of which no price is known that is fresh enough. */
export interface Unpriced {
  readonly unpriced: Mint;
}

interface Part {
  readonly mint: Mint;
  readonly amount: bigint;
}

/** Returns what something would sell for now, undefined where no price is fresh enough to say. */
export function currentValue(
  state: EngineState, { mint, amount }: Part, currency: Mint, at: Millis,
): Amount | undefined {
  return valueIn(state.market, state.tokens, { mint, amount, currency }, {
    at, maxAgeMs: state.limits.maxValueAgeMs ?? VALUE_MAX_AGE_MS,
  });
}

/** Returns what strategies' positions and what is on its way are worth together: of one strategy, or of all. */
export function exposureOf(
  state: EngineState, strategy: string | undefined, currency: Mint, at: Millis, except?: Intent,
): bigint | Unpriced {
  const parts: Part[] = [];
  for (const [name, book] of state.portfolio.books) {
    if (!book.isConfigured || (strategy !== undefined && name !== strategy)) continue;
    for (const [mint, amount] of book.balances) if (isAtRisk(book, mint, currency)) parts.push({ mint, amount });
  }
  if (strategy === undefined) parts.push(...leftBehind(state.portfolio, currency));
  for (const { intent } of state.intents.values()) {
    if ((strategy === undefined || intent.strategy === strategy) && intent.id !== except?.id)
      parts.push(...addedBy(state, intent));
  }
  return sum(state, parts, currency, at);
}

/**
 * Money that waits in the budget's token is at no risk; of a strategy without one, all that is not the limit's token.
 */
function isAtRisk({ budget }: StrategyBook, mint: Mint, currency: Mint): boolean {
  return mint !== (budget?.mint ?? currency);
}

/** What strategies that are not of this run hold, as far as it is still there. */
function leftBehind(portfolio: Portfolio, currency: Mint): Part[] {
  const written = new Map<Mint, bigint>();
  for (const book of portfolio.books.values()) {
    if (book.isConfigured) continue;
    for (const [mint, amount] of book.balances)
      if (isAtRisk(book, mint, currency)) written.set(mint, (written.get(mint) ?? 0n) + amount);
  }
  return [...written].map(([mint, amount]) => {
    const left = portfolio.leftBehind(mint);
    return { mint, amount: amount < left ? amount : left };
  });
}

/** Returns what everything held of a token, and everything on its way into it, is worth. */
export function positionIn(
  state: EngineState, mint: Mint, currency: Mint, at: Millis, except?: Intent,
): bigint | Unpriced {
  const parts: Part[] = [{ mint, amount: state.portfolio.held(mint) }];
  for (const { intent } of state.intents.values()) {
    if (intent.outputMint === mint && intent.id !== except?.id)
      parts.push({ mint: intent.inputMint, amount: intent.amountIn });
  }
  return sum(state, parts, currency, at);
}

/**
 * Returns by what a swap adds to the exposure of its strategy: what it takes out of the budget's token. One that leads
 * back adds nothing, and one from position to position exchanges what is counted already.
 */
export function addedBy(
  state: EngineState,
  swap: { readonly strategy: string; readonly inputMint: Mint; readonly outputMint: Mint; readonly amountIn: bigint },
): Part[] {
  const budget = state.portfolio.book(swap.strategy).budget?.mint;
  return swap.inputMint === budget ? [{ mint: swap.inputMint, amount: swap.amountIn }] : [];
}

/** Returns the value of parts together, or the first that has none. */
export function sum(state: EngineState, parts: readonly Part[], currency: Mint, at: Millis): bigint | Unpriced {
  let total = 0n;
  for (const part of parts) {
    if (part.amount === 0n) continue;
    const value = currentValue(state, part, currency, at);
    if (value === undefined) return { unpriced: part.mint };
    total += value;
  }
  return total;
}
