import type { Millis } from '../../core/time.ts';
import { showAmount, symbolOf } from '../../market/market-text.ts';
import type { Mint } from '../../market/token.ts';
import type { Denial, DenialCode, ValueLimit } from '../limits.ts';
import type { Intent } from '../intent.ts';
import type { Portfolio, StrategyBook } from '../portfolio.ts';
import type { EngineState } from '../engine-state.ts';
import { currentValue } from '../valuation.ts';
import type { Rule, SwapCandidate } from './swap-candidate.ts';

// Exits reduce what these limits bound, so none of these rules refuses an exit.

/** Refuses an entry above `max_trade`. */
const tradeSize: Rule = (state, { inputMint, amountIn, isExit, at }) => {
  const { maxTrade } = state.limits;
  if (maxTrade === undefined || isExit) return undefined;
  const value = currentValue(state, { mint: inputMint, amount: amountIn }, maxTrade.mint, at);
  return value === undefined ? unvalued(state, inputMint, maxTrade.mint)
    : unless(state, 'TRADE_EXCEEDS_MAX', value, maxTrade);
};

/** Refuses an entry whose output token would exceed `max_position`, open intents included. */
const positionSize: Rule = (state, swap) => {
  const limit = state.limits.maxPosition.get(swap.outputMint);
  if (limit === undefined || swap.isExit) return undefined;
  const position = positionIn(state, swap.outputMint, limit.mint, swap.at, swap.retryOf);
  return withSwap(
    state, 'POSITION_EXCEEDS_MAX', limit, swap, position, [{ mint: swap.inputMint, amount: swap.amountIn }],
  );
};

/** Refuses an entry beyond the strategy's `max_exposure`. */
const strategyExposure: Rule = (state, swap) => {
  const limit = swap.strategy.limits.maxExposure;
  if (limit === undefined || swap.isExit) return undefined;
  const exposure = exposureOf(state, swap.strategy.name, limit.mint, swap.at, swap.retryOf);
  return withSwap(state, 'STRATEGY_EXPOSURE_EXCEEDS_MAX', limit, swap, exposure, addedBy(state, {
    ...swap, strategy: swap.strategy.name,
  }));
};

/** Refuses an entry beyond the `max_exposure` of all strategies together. */
const totalExposure: Rule = (state, swap) => {
  const limit = state.limits.maxExposure;
  if (limit === undefined || swap.isExit) return undefined;
  const exposure = exposureOf(state, undefined, limit.mint, swap.at, swap.retryOf);
  return withSwap(
    state, 'EXPOSURE_EXCEEDS_MAX', limit, swap, exposure, addedBy(state, { ...swap, strategy: swap.strategy.name }),
  );
};

/** Refuses an entry into a token that is not configured beyond the budget of each such token, or of all together. */
const discoveredCost: Rule = (state, swap) => {
  const { discovered } = state.limits;
  if (discovered === undefined || swap.isExit || state.tokens.byMint(swap.outputMint) !== undefined) return undefined;
  const budgets = [
    ['DISCOVERED_TOKEN_EXCEEDS_MAX', discovered.perToken, (mint: Mint) => mint === swap.outputMint],
    ['DISCOVERED_TOTAL_EXCEEDS_MAX', discovered.total, (mint: Mint) => state.tokens.byMint(mint) === undefined],
  ] as const;
  for (const [code, limit, isCounted] of budgets) {
    const cost = sum(state, costOf(state, isCounted, swap.retryOf), limit.mint, swap.at);
    const denial = withSwap(state, code, limit, swap, cost, [{ mint: swap.inputMint, amount: swap.amountIn }]);
    if (denial !== undefined) return denial;
  }
  return undefined;
};

/** Returns what was spent on holdings of tokens and is being spent on them; a holding of unknown cost is itself. */
function costOf(state: EngineState, isCounted: (mint: Mint) => boolean, except?: Intent): Part[] {
  const parts: Part[] = [];
  for (const { balances, costs, budget } of state.portfolio.books.values()) {
    for (const [mint, amount] of balances) {
      if (!isCounted(mint)) continue;
      const cost = costs.get(mint);
      parts.push(cost === undefined || budget === undefined ? { mint, amount } : { mint: budget.mint, amount: cost });
    }
  }
  for (const { intent: { id, inputMint, outputMint, amountIn } } of state.intents.values())
    if (isCounted(outputMint) && id !== except?.id) parts.push({ mint: inputMint, amount: amountIn });
  return parts;
}

function withSwap(
  state: EngineState, code: DenialCode, limit: ValueLimit, { at }: SwapCandidate,
  before: bigint | Unpriced, added: readonly { readonly mint: Mint; readonly amount: bigint }[],
): Denial | undefined {
  if (typeof before !== 'bigint') return unvalued(state, before.unpriced, limit.mint);
  const more = sum(state, added, limit.mint, at);
  return typeof more === 'bigint' ? unless(state, code, before + more, limit)
    : unvalued(state, more.unpriced, limit.mint);
}

function unless(state: EngineState, code: DenialCode, value: bigint, limit: ValueLimit): Denial | undefined {
  if (value <= limit.amount) return undefined;
  return {
    code, reason: `${showAmount(state.tokens, limit.mint, value)}, allowed `
      + `are ${showAmount(state.tokens, limit.mint, limit.amount)}`,
  };
}

/** Returns the refusal of an amount that has no price for the comparison with a limit. */
export function unvalued(state: EngineState, mint: Mint, currency: Mint): Denial {
  return {
    code: 'VALUE_UNKNOWN',
    reason: `there is no price of ${symbolOf(state.tokens, mint)} in ${symbolOf(state.tokens, currency)} for the `
      + 'comparison with the limit: '
      + 'none has arrived yet, none is watched, or it is too old',
  };
}

/** A token without a fresh price. */
interface Unpriced {
  readonly unpriced: Mint;
}

interface Part {
  readonly mint: Mint;
  readonly amount: bigint;
}

/** Returns the value of positions and open intents together: of one strategy, or of all. */
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
 * Returns whether a balance is a position: every token except the budget's, or the limit's where there is no budget.
 */
function isAtRisk({ budget }: StrategyBook, mint: Mint, currency: Mint): boolean {
  return mint !== (budget?.mint ?? currency);
}

/** Returns what strategies that are not of this run still hold. */
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

/** Returns the value of all holdings of a token and of all open intents into it. */
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
 * Returns the amounts that a swap adds to its strategy's exposure: what it spends of the budget's token. An exit adds
 * nothing, and a swap from position to position exchanges what is counted already.
 */
function addedBy(
  state: EngineState,
  swap: { readonly strategy: string; readonly inputMint: Mint; readonly outputMint: Mint; readonly amountIn: bigint },
): Part[] {
  const budget = state.portfolio.book(swap.strategy).budget?.mint;
  return swap.inputMint === budget ? [{ mint: swap.inputMint, amount: swap.amountIn }] : [];
}

/** Returns the total value of parts, or the first part without a price. */
function sum(state: EngineState, parts: readonly Part[], currency: Mint, at: Millis): bigint | Unpriced {
  let total = 0n;
  for (const part of parts) {
    if (part.amount === 0n) continue;
    const value = currentValue(state, part, currency, at);
    if (value === undefined) return { unpriced: part.mint };
    total += value;
  }
  return total;
}

/** The rules on sizes and positions, in the order of their application. */
export const EXPOSURE_RULES: readonly Rule[] = [
  tradeSize, positionSize, strategyExposure, totalExposure, discoveredCost,
];
