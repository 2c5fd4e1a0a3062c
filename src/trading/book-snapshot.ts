import type { Amount, Lamports } from '../core/amount.ts';
import { formatDecimal } from '../core/amount.ts';
import { GannetError } from '../core/errors.ts';
import type { Mint, TokenTable } from '../market/token.ts';
import type { ValueLimit } from './limits.ts';
import type { Portfolio, StrategyBook } from './portfolio.ts';
import type { EquityRecord, ProtectionMemory } from './protections/memory.ts';
import { ALL } from './protections/memory.ts';

/** A book as plain data; amounts are texts. */
export interface BookSnapshot {
  readonly balances: Readonly<Record<string, string>>;
  /** Absent in snapshots of older versions: the costs of their holdings are unknown. */
  readonly costs?: Readonly<Record<string, string>> | undefined;
  readonly feesLamports: string;
  readonly swaps: number;
  /** The budget so far. Absent without one, and in snapshots of older versions, where the configured budget applies. */
  readonly budget?: { readonly mint: string; readonly amount: string } | undefined;
  /** Whether the book is of a manual swap; absent otherwise. */
  readonly isByHand?: true | undefined;
}

/** Returns the books of a portfolio by strategy. Books of manual swaps of which nothing is left are not in it. */
export function snapshotBooks(portfolio: Portfolio): Record<string, BookSnapshot> {
  const books: Record<string, BookSnapshot> = {};
  for (const [name, book] of portfolio.books) {
    if (isOver(portfolio, book)) continue;
    books[name] = {
      balances: writeBalances(book.balances), costs: writeBalances(book.costs),
      feesLamports: book.feesLamports.toString(), swaps: book.swaps,
      ...(book.budget === undefined ? {}
        : { budget: { mint: book.budget.mint, amount: (book.budget.amount + book.owed).toString() } }),
      ...(book.isManual ? { isByHand: true } : {}),
    };
  }
  return books;
}

/**
 * Returns whether a book can be forgotten. The name of a manual swap is never used again; a strategy that is configured
 * again must not receive its budget a second time.
 */
function isOver(portfolio: Portfolio, { isManual, isConfigured, balances, reserved }: StrategyBook): boolean {
  return isManual && !isConfigured && reserved.size === 0
    && [...balances.keys()].every((mint) => portfolio.leftBehind(mint) === 0n);
}

/** Returns the saved book of a strategy; undefined without one, and for an empty book. */
export function savedBook(books: Readonly<Record<string, BookSnapshot>>, name: string): BookSnapshot | undefined {
  const saved = Object.hasOwn(books, name) ? books[name] : undefined;
  const isBlank = saved?.budget === undefined && saved?.swaps === 0 && saved.feesLamports === '0'
    && Object.keys(saved.balances).length === 0;
  return isBlank ? undefined : saved;
}

/** Returns the budget of a saved book; undefined where the book has none. */
export function budgetOf(saved: BookSnapshot | undefined): StrategyBook['budget'] {
  return saved?.budget === undefined ? undefined
    : { mint: saved.budget.mint as Mint, amount: BigInt(saved.budget.amount) as Amount };
}

/** Fills an open book from its saved one, except for the budget. */
export function restoreBook(book: StrategyBook, saved: BookSnapshot): void {
  book.balances.clear();
  for (const [mint, amount] of readBalances(saved.balances)) book.balances.set(mint, amount);
  for (const [mint, amount] of readBalances(saved.costs ?? {})) book.costs.set(mint, amount);
  book.feesLamports = BigInt(saved.feesLamports) as Lamports;
  book.swaps = saved.swaps;
  book.revision += 1;
}

/** Returns balances as texts by mint. */
export function writeBalances(balances: ReadonlyMap<Mint, Amount>): Record<string, string> {
  return Object.fromEntries([...balances].map(([mint, amount]) => [mint, amount.toString()]));
}

/** Returns the balances that `writeBalances` wrote. */
export function readBalances(record: Readonly<Record<string, string>>): Map<Mint, Amount> {
  return new Map(Object.entries(record).map(([mint, amount]) => [mint as Mint, BigInt(amount) as Amount]));
}

/** The books, and the recorded equity of strategies. */
interface Ledger {
  readonly portfolio: Portfolio;
  readonly protections: ProtectionMemory;
}

/**
 * Adjusts a restored book to the configured budget. An increase is added; a decrease is taken back as far as it is
 * free, and the rest is owed. A budget in another token needs a book without holdings, because the book would count its
 * holdings as positions and sell them. Throws CONFIG_INVALID there.
 */
export function changeBudget(ledger: Ledger, tokens: TokenTable, name: string, saved: BookSnapshot): void {
  const { portfolio, protections } = ledger;
  const book = portfolio.book(name);
  const before = budgetOf(saved);
  // An older version did not save the budget: the book is taken as it is.
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

/** Takes back what a strategy owes of a lowered budget, as far as it is free. */
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

/**
 * Adjusts the recorded equity of a strategy to what one of its swaps paid to another receiver: that left the wallet on
 * purpose, and is no loss.
 */
export function payOut({ portfolio, protections }: Ledger, name: string, { mint, amount }: ValueLimit): void {
  if (portfolio.book(name).budget?.mint === mint) shiftEquity(protections, name, mint, -amount);
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
    + `${show(before)}, or give the strategy another "name" to start it with a new budget`);
}

/**
 * Adjusts the recorded equity to a change of a strategy's budget, which is neither a profit nor a loss. The drawdown in
 * per cent and today's loss stay as they were.
 */
function shiftEquity(memory: ProtectionMemory, strategy: string, mint: Mint, change: bigint): void {
  const own = memory.equity.get(strategy);
  if (own !== undefined && currencyOf(own) === mint) shift(own, change);
  const total = memory.equity.get(ALL);
  if (total === undefined) return;
  if (currencyOf(total) === mint) shift(total, change);
  // No price is known yet. The changed basis makes the next valuation scale the heights in proportion.
  else total.basis = currencyOf(total);
}

function shift(record: EquityRecord, change: bigint): void {
  const value = record.value + change;
  for (const heights of [record, ...record.resetHeights.values()]) {
    heights.peak = record.value > 0n ? (heights.peak * value) / record.value : heights.peak + change;
    heights.dayStart += change;
  }
  record.value = value;
  record.changes += 1;
  record.settled = -1;
}

/** Returns the token of a basis, which begins with its mint. */
function currencyOf({ basis }: EquityRecord): string {
  return basis.split(' ', 1)[0]!;
}
