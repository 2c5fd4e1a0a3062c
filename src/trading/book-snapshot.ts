import type { Amount, Lamports } from '../core/amount.ts';
import type { Mint } from '../market/token.ts';
import type { Portfolio, StrategyBook } from './portfolio.ts';

/** A book as plain data; amounts are texts. */
export interface BookSnapshot {
  readonly balances: Readonly<Record<string, string>>;
  /** Absent in snapshots of older versions: what was held then has no known cost. */
  readonly costs?: Readonly<Record<string, string>> | undefined;
  readonly feesLamports: string;
  readonly swaps: number;
  /**
   * What it was given so far. Absent without a budget, and in snapshots of older versions: the configured one is its
   * own then.
   */
  readonly budget?: { readonly mint: string; readonly amount: string } | undefined;
  /** Absent where it is not. */
  readonly isByHand?: true | undefined;
}

/** Returns the books of a portfolio by strategy, but for those of swaps by hand of which nothing is left. */
export function snapshotBooks(portfolio: Portfolio): Record<string, BookSnapshot> {
  const books: Record<string, BookSnapshot> = {};
  for (const [name, book] of portfolio.books) {
    if (isOver(portfolio, book)) continue;
    books[name] = {
      balances: writeBalances(book.balances), costs: writeBalances(book.costs),
      feesLamports: book.feesLamports.toString(), swaps: book.swaps,
      ...(book.budget === undefined ? {}
        : { budget: { mint: book.budget.mint, amount: (book.budget.amount + book.owed).toString() } }),
      ...(book.isByHand ? { isByHand: true } : {}),
    };
  }
  return books;
}

/** The name of such a book never comes again, while a strategy that comes back must not be given its budget anew. */
function isOver(portfolio: Portfolio, { isByHand, isConfigured, balances, reserved }: StrategyBook): boolean {
  return isByHand && !isConfigured && reserved.size === 0
    && [...balances.keys()].every((mint) => portfolio.leftBehind(mint) === 0n);
}

/** Returns what is saved of a strategy's book; undefined too for one that never had anything. */
export function savedBook(books: Readonly<Record<string, BookSnapshot>>, name: string): BookSnapshot | undefined {
  const saved = Object.hasOwn(books, name) ? books[name] : undefined;
  const isBlank = saved?.budget === undefined && saved?.swaps === 0 && saved.feesLamports === '0'
    && Object.keys(saved.balances).length === 0;
  return isBlank ? undefined : saved;
}

/** Returns the budget that a book had when it was saved; undefined where it does not say. */
export function budgetOf(saved: BookSnapshot | undefined): StrategyBook['budget'] {
  return saved?.budget === undefined ? undefined
    : { mint: saved.budget.mint as Mint, amount: BigInt(saved.budget.amount) as Amount };
}

/** Fills an open book with what was saved of it, its budget apart. */
export function restoreBook(book: StrategyBook, saved: BookSnapshot): void {
  book.balances.clear();
  for (const [mint, amount] of readBalances(saved.balances)) book.balances.set(mint, amount);
  for (const [mint, amount] of readBalances(saved.costs ?? {})) book.costs.set(mint, amount);
  book.feesLamports = BigInt(saved.feesLamports) as Lamports;
  book.swaps = saved.swaps;
}

/** Returns balances as texts by mint. */
export function writeBalances(balances: ReadonlyMap<Mint, Amount>): Record<string, string> {
  return Object.fromEntries([...balances].map(([mint, amount]) => [mint, amount.toString()]));
}

/** Returns the balances that `writeBalances` wrote. */
export function readBalances(record: Readonly<Record<string, string>>): Map<Mint, Amount> {
  return new Map(Object.entries(record).map(([mint, amount]) => [mint as Mint, BigInt(amount) as Amount]));
}
