import type { Amount, Lamports } from '../core/amount.ts';
import { ZERO, mulDiv } from '../core/amount.ts';
import { assert } from '../core/assert.ts';
import type { Mint } from '../market/token.ts';
import { SOL_MINT } from '../market/token.ts';
import type { Fill, Intent } from './intent.ts';
import { isManualBook } from './manual/manual-book.ts';

/** Balances by mint, smallest units. SOL counts native and wrapped together. */
type Balances = ReadonlyMap<Mint, Amount>;

/** One strategy's share of the wallet: its budget, its balances, and its amounts in flight. */
export interface StrategyBook {
  readonly budget: { readonly mint: Mint; readonly amount: Amount } | undefined;
  /** Whether the strategy is of this run. */
  readonly isConfigured: boolean;
  /** Whether it is of manual swaps. The name of one that was made without a daemon is never used again. */
  readonly isManual: boolean;
  readonly balances: Map<Mint, Amount>;
  readonly reserved: Map<Mint, Amount>;
  /** The cost of the whole holding of a mint in the budget's token; absent where a part's cost is unknown. */
  readonly costs: Map<Mint, Amount>;
  /** The amount beyond a lowered budget; it is taken back as soon as it is free. */
  owed: bigint;
  feesLamports: Lamports;
  swaps: number;
  /** The number of its changes: while it stays, so do balances and fees. */
  revision: number;
}

/**
 * The wallet as a whole, and each strategy's book. An approved intent reserves its input, so that the next proposal
 * cannot spend it again.
 */
export class Portfolio {
  readonly wallet: Map<Mint, Amount>;
  readonly books = new Map<string, StrategyBook>();
  /** What all books together have reserved. */
  readonly #reserved = new Map<Mint, Amount>();

  constructor(wallet: Balances) {
    this.wallet = new Map(wallet);
  }

  /** Opens a strategy's book with its budget as the first balance. */
  openBook(strategy: string, budget: StrategyBook['budget'], { isConfigured = true, isManual = false }: {
    readonly isConfigured?: boolean | undefined; readonly isManual?: boolean | undefined;
  } = {}): void {
    assert(!this.books.has(strategy), () => `the book of ${strategy} is open already`);
    this.books.set(strategy, {
      budget, isConfigured, isManual,
      balances: new Map(budget !== undefined && budget.amount > 0n ? [[budget.mint, budget.amount]] : []),
      reserved: new Map(),
      costs: new Map(),
      owed: 0n,
      feesLamports: 0n as Lamports,
      swaps: 0,
      revision: 0,
    });
  }

  book(strategy: string): StrategyBook {
    const book = this.books.get(strategy);
    assert(book, () => `no book of ${strategy}`);
    return book;
  }

  /** Returns what a strategy may still spend of a mint; `except` is left out of its reservations. */
  available(strategy: string, mint: Mint, except: bigint = 0n): Amount {
    const book = this.book(strategy);
    return subtract(book.balances.get(mint) ?? ZERO, ((book.reserved.get(mint) ?? ZERO) - except) as Amount);
  }

  /** Returns the wallet's balance of a mint without reservations; `except` is left out of them. */
  unreserved(mint: Mint, except: bigint = 0n): Amount {
    return subtract(this.wallet.get(mint) ?? ZERO, ((this.#reserved.get(mint) ?? ZERO) - except) as Amount);
  }

  /** Returns what all strategies together hold of a mint; of those that are not of this run, what is left. */
  held(mint: Mint): Amount {
    return (this.#sum(mint, true) + this.leftBehind(mint)) as Amount;
  }

  /**
   * Returns what strategies that are not of this run still hold of a mint. Their books do not follow transfers out of
   * the wallet, so it is at most the wallet's balance beyond the holdings of the other strategies.
   */
  leftBehind(mint: Mint): Amount {
    const written = this.#sum(mint, false);
    const spare = subtract(this.wallet.get(mint) ?? ZERO, this.#sum(mint, true));
    return written < spare ? written : spare;
  }

  #sum(mint: Mint, isConfigured: boolean): Amount {
    let total = 0n;
    for (const book of this.books.values())
      if (book.isConfigured === isConfigured) total += book.balances.get(mint) ?? 0n;
    return total as Amount;
  }

  /** Adds to a strategy's balance of its budget's token, or subtracts; the wallet does not change. */
  fund(strategy: string, change: bigint): void {
    const book = this.book(strategy);
    assert(book.budget, () => `${strategy} has no budget`);
    add(book.balances, book.budget.mint, change);
    book.revision += 1;
  }

  /** Returns what the wallet has of a mint beyond all books: manual swaps spend it. */
  unowned(mint: Mint): Amount {
    return subtract(this.wallet.get(mint) ?? ZERO, this.held(mint));
  }

  /** Takes back the unspent budget of manual swaps that have ended: the book keeps what open swaps spend. */
  returnUnspent(strategy: string): void {
    const book = this.book(strategy);
    const { budget, isManual, balances, reserved } = book;
    if (isManual && budget !== undefined) {
      const spending = reserved.get(budget.mint);
      if (spending === undefined) balances.delete(budget.mint);
      else balances.set(budget.mint, spending);
    }
    book.revision += 1;
  }

  reserve({ strategy, inputMint, amountIn }: Intent): void {
    add(this.book(strategy).reserved, inputMint, amountIn);
    add(this.#reserved, inputMint, amountIn);
  }

  release({ strategy, inputMint, amountIn }: Intent): void {
    const { reserved } = this.book(strategy);
    const before = reserved.get(inputMint) ?? 0n;
    add(reserved, inputMint, -amountIn);
    add(this.#reserved, inputMint, (reserved.get(inputMint) ?? 0n) - before);
  }

  /**
   * Books a landed swap and returns the result of an exit. `feeValue` is the fee in the budget's token. What another
   * receiver got is in no book.
   */
  applyFill(strategy: string, fill: Fill, feeValue: Amount = ZERO): ExitResult | undefined {
    const book = this.book(strategy);
    if (book.isManual && !isManualBook(strategy)) this.#takeFromEarlier(book, fill);
    const result = bookCosts(book, fill, feeValue);
    for (const balances of [book.balances, this.wallet]) {
      add(balances, fill.inputMint, -fill.amountIn);
      if (fill.receiver === undefined) add(balances, fill.outputMint, fill.amountOut);
    }
    book.swaps += 1;
    this.applyFee(strategy, fill.feeLamports);
    add(this.wallet, SOL_MINT, -fill.rentLamports);
    return result;
  }

  /** Takes a manual sale from the books of earlier manual swaps first, which would otherwise never shrink. */
  #takeFromEarlier(seller: StrategyBook, { inputMint, amountIn }: Fill): void {
    let left: bigint = amountIn;
    for (const book of this.books.values()) {
      if (!book.isManual || book === seller || book.budget?.mint === inputMint) continue;
      const held = book.balances.get(inputMint) ?? ZERO;
      const taken = (held < left ? held : left) as Amount;
      if (taken === 0n) continue;
      takeCost(book, inputMint, taken);
      add(book.balances, inputMint, -taken);
      book.revision += 1;
      left -= taken;
    }
  }

  /** Books an external transfer into the wallet or out of it; no strategy's book changes. */
  adjustWallet(mint: Mint, change: bigint): void {
    add(this.wallet, mint, change);
  }

  /** Books a network fee in the wallet's SOL and in the strategy's sum of fees. */
  applyFee(strategy: string, feeLamports: Lamports): void {
    const book = this.book(strategy);
    book.feesLamports = (book.feesLamports + feeLamports) as Lamports;
    book.revision += 1;
    add(this.wallet, SOL_MINT, -feeLamports);
  }
}

function subtract(a: Amount, b: Amount): Amount {
  return (a > b ? a - b : 0n) as Amount;
}

/** A balance that would go below zero stops at zero; reconciliation with the chain shows the difference. */
function add(balances: Map<Mint, Amount>, mint: Mint, change: bigint): void {
  const next = (balances.get(mint) ?? 0n) + change;
  if (next > 0n) balances.set(mint, next as Amount);
  else balances.delete(mint);
}

/** The costs of one strategy's positions, in smallest units of its budget's token. */
interface CostBasis {
  readonly budget: { readonly mint: Mint } | undefined;
  readonly balances: ReadonlyMap<Mint, Amount>;
  /** The cost of the whole holding of each mint, fees included; absent where a part's cost is unknown. */
  readonly costs: Map<Mint, Amount>;
}

/** The profit and the cost of an exit, in smallest units of the budget's token. */
export interface ExitResult {
  readonly cost: Amount;
  /** Proceeds less cost and fee; negative is a loss. */
  readonly profit: bigint;
}

/**
 * Books the effect of a fill on costs, before it changes balances. Returns the result of an exit; undefined for other
 * swaps, and where the cost is unknown. Costs are averages: a part of a holding has its share of the cost, rounded up.
 * A swap from position to position carries the cost over.
 */
function bookCosts(basis: CostBasis, fill: Fill, fee: Amount): ExitResult | undefined {
  const budget = basis.budget?.mint;
  if (budget === undefined) return undefined;
  const spent = fill.inputMint === budget ? fill.amountIn : takeCost(basis, fill.inputMint, fill.amountIn);
  // The position is not the strategy's: its cost left with it.
  if (fill.receiver !== undefined) return undefined;
  if (fill.outputMint === budget)
    return spent === undefined ? undefined : { cost: spent, profit: fill.amountOut - spent - fee };
  const before = basis.balances.has(fill.outputMint) ? basis.costs.get(fill.outputMint) : 0n;
  if (spent === undefined || before === undefined) basis.costs.delete(fill.outputMint);
  else basis.costs.set(fill.outputMint, (before + spent + fee) as Amount);
  return undefined;
}

/** Takes the cost of a part of a holding off and returns it, before balances change; undefined where it is unknown. */
function takeCost({ balances, costs }: CostBasis, mint: Mint, sold: Amount): Amount | undefined {
  const cost = costs.get(mint);
  if (cost === undefined) return undefined;
  const held = balances.get(mint) ?? (0n as Amount);
  const taken = sold >= held ? cost : mulDiv(cost, sold, held, 'ceil');
  if (sold >= held) costs.delete(mint);
  else costs.set(mint, (cost - taken) as Amount);
  return taken;
}
