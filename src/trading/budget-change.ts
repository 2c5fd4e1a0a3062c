import { formatDecimal } from '../core/amount.ts';
import { GannetError } from '../core/errors.ts';
import type { Mint, TokenTable } from '../market/token.ts';
import type { BookSnapshot } from './book-snapshot.ts';
import { budgetOf } from './book-snapshot.ts';
import type { Portfolio, StrategyBook } from './portfolio.ts';
import type { ProtectionMemory } from './protections/memory.ts';
import { shiftEquity } from './protections/shift-equity.ts';

/** The books, and what is remembered of their worth. */
interface Ledger {
  readonly portfolio: Portfolio;
  readonly protections: ProtectionMemory;
}

/**
 * Brings a restored book in line with the budget that is configured now: gives what it grew by, takes back what it
 * shrank by as far as that is free, and notes the rest as owed. A book without holdings takes a budget in another
 * token; one that holds something would count it as a position and sell it. Throws CONFIG_INVALID there.
 */
export function changeBudget(ledger: Ledger, tokens: TokenTable, name: string, saved: BookSnapshot): void {
  const { portfolio, protections } = ledger;
  const book = portfolio.book(name);
  const before = budgetOf(saved);
  // An older version did not say: what the book has is what the budget made of it.
  if (before === undefined) return;
  const now = book.budget;
  if (now?.mint !== before.mint) {
    if (book.balances.size > 0 || book.reserved.size > 0) throw stillHolding(tokens, name, book, before.mint);
    if (now !== undefined) portfolio.fund(name, now.amount);
  } else if (now.amount > before.amount) {
    portfolio.fund(name, now.amount - before.amount);
    shiftEquity(protections, name, now.mint, now.amount - before.amount);
  } else {
    book.owed = before.amount - now.amount;
    takeBackOwed(ledger, name);
  }
}

/** Takes what a strategy owes of a budget that was lowered, as far as it is free. */
export function takeBackOwed({ portfolio, protections }: Ledger, name: string): void {
  const book = portfolio.book(name);
  if (book.owed === 0n || book.budget === undefined) return;
  const free = portfolio.available(name, book.budget.mint);
  const taken = book.owed < free ? book.owed : free;
  if (taken === 0n) return;
  portfolio.fund(name, -taken);
  book.owed -= taken;
  shiftEquity(protections, name, book.budget.mint, -taken);
}

function stillHolding(tokens: TokenTable, name: string, { budget, balances }: StrategyBook, before: Mint): GannetError {
  const show = (mint: Mint): string => tokens.byMint(mint)?.symbol ?? mint;
  const holds = [...balances].map(([mint, amount]) => {
    const token = tokens.byMint(mint);
    return token === undefined ? `${amount} raw of ${mint}`
      : `${formatDecimal(amount, token.decimals)} ${token.symbol}`;
  });
  return new GannetError('CONFIG_INVALID',
    `strategies: ${name} had its budget in ${show(before)} and `
    + `${holds.length === 0 ? 'has a swap under way' : `still holds ${holds.join(', ')}`}; the configuration `
    + `${budget === undefined ? 'gives it none' : `gives it one in ${show(budget.mint)}`}: put the budget back into `
    + `${show(before)}, or give the strategy another "name" and it begins anew`);
}
