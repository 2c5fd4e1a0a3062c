import type { Amount, Lamports } from '../core/amount.ts';
import { ZERO } from '../core/amount.ts';
import { assert } from '../core/assert.ts';
import type { Mint } from '../market/token.ts';
import { SOL_MINT } from '../market/token.ts';
import type { ExitResult } from './costs.ts';
import { bookCosts, takeCost } from './costs.ts';
import type { Fill, Intent } from './intent.ts';

/** Balances by mint, smallest units. SOL counts native and wrapped together. */
export type Balances = ReadonlyMap<Mint, Amount>;

/** One strategy's share of the wallet: what it was given, what it made of it, and what is in flight. */
export interface StrategyBook {
  readonly budget: { readonly mint: Mint; readonly amount: Amount } | undefined;
  /** False for a strategy that is not of this run. */
  readonly isConfigured: boolean;
  /** Whether it is of one swap that an operator asked for by hand: its name never comes again. */
  readonly isByHand: boolean;
  readonly balances: Map<Mint, Amount>;
  readonly reserved: Map<Mint, Amount>;
  /** What the whole holding of a mint has cost in the budget's token; absent where it is not known of a part of it. */
  readonly costs: Map<Mint, Amount>;
  /** What it has beyond its budget since that was lowered: it goes back as soon as it is free. */
  owed: bigint;
  feesLamports: Lamports;
  swaps: number;
}

/**
 * Who has what: the wallet as a whole, and each strategy's book. Reservations are made when an intent is approved,
 * so that the next proposal already sees the money gone.
 */
export class Portfolio {
  readonly wallet: Map<Mint, Amount>;
  readonly books = new Map<string, StrategyBook>();

  constructor(wallet: Balances) {
    this.wallet = new Map(wallet);
  }

  /** Opens a strategy's book with its budget as the first balance. */
  openBook(strategy: string, budget: StrategyBook['budget'], { isConfigured = true, isByHand = false }: {
    readonly isConfigured?: boolean | undefined; readonly isByHand?: boolean | undefined;
  } = {}): void {
    assert(!this.books.has(strategy), () => `the book of ${strategy} is open already`);
    this.books.set(strategy, {
      budget, isConfigured, isByHand,
      balances: new Map(budget ? [[budget.mint, budget.amount]] : []),
      reserved: new Map(),
      costs: new Map(),
      owed: 0n,
      feesLamports: 0n as Lamports,
      swaps: 0,
    });
  }

  book(strategy: string): StrategyBook {
    const book = this.books.get(strategy);
    assert(book, () => `no book of ${strategy}`);
    return book;
  }

  /** Returns what a strategy may still spend of a mint, `except` of what is claimed not counted as such. */
  available(strategy: string, mint: Mint, except: bigint = 0n): Amount {
    const book = this.book(strategy);
    return subtract(book.balances.get(mint) ?? ZERO, ((book.reserved.get(mint) ?? ZERO) - except) as Amount);
  }

  /** Returns what the wallet has of a mint beyond what approved intents have claimed, `except` of it not counted. */
  unreserved(mint: Mint, except: bigint = 0n): Amount {
    let reserved = -except;
    for (const book of this.books.values()) reserved += book.reserved.get(mint) ?? 0n;
    return subtract(this.wallet.get(mint) ?? ZERO, reserved as Amount);
  }

  /** Returns what all strategies together hold of a mint; of those that are not of this run, no more than is left. */
  held(mint: Mint): Amount {
    return (this.#sum(mint, true) + this.leftBehind(mint)) as Amount;
  }

  /**
   * Returns what strategies that are not of this run still have of a mint. They are told of nothing that leaves the
   * wallet, so it is no more than the wallet has beyond what the others hold.
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

  /** Gives a strategy money in its budget's token, or takes it; the wallet has it before and after. */
  fund(strategy: string, change: bigint): void {
    const { budget, balances } = this.book(strategy);
    assert(budget, () => `${strategy} has no budget`);
    add(balances, budget.mint, change);
  }

  /** Takes back what a swap by hand that is over did not spend: it was given that for this one swap alone. */
  returnUnspent(strategy: string): void {
    const { budget, isByHand, balances, reserved } = this.book(strategy);
    if (isByHand && budget !== undefined && reserved.size === 0) balances.delete(budget.mint);
  }

  reserve(intent: Intent): void {
    add(this.book(intent.strategy).reserved, intent.inputMint, intent.amountIn);
  }

  release(intent: Intent): void {
    add(this.book(intent.strategy).reserved, intent.inputMint, -intent.amountIn);
  }

  /**
   * Books a landed swap: what went, what came, and what it cost. Returns how an exit ended; `feeValue` is the fee in
   * the budget's token.
   */
  applyFill(strategy: string, fill: Fill, feeValue: Amount = ZERO): ExitResult | undefined {
    const book = this.book(strategy);
    if (book.isByHand) this.#takeFromEarlier(book, fill);
    const result = bookCosts(book, fill, feeValue);
    for (const balances of [book.balances, this.wallet]) {
      add(balances, fill.inputMint, -fill.amountIn);
      add(balances, fill.outputMint, fill.amountOut);
    }
    book.swaps += 1;
    this.applyFee(strategy, fill.feeLamports);
    add(this.wallet, SOL_MINT, -fill.rentLamports);
    return result;
  }

  /** What is sold by hand is first what was bought by hand: else nothing would ever leave those books. */
  #takeFromEarlier(seller: StrategyBook, { inputMint, amountIn }: Fill): void {
    let left: bigint = amountIn;
    for (const book of this.books.values()) {
      if (!book.isByHand || book === seller || book.budget?.mint === inputMint) continue;
      const held = book.balances.get(inputMint) ?? ZERO;
      const taken = (held < left ? held : left) as Amount;
      if (taken === 0n) continue;
      takeCost(book, inputMint, taken);
      add(book.balances, inputMint, -taken);
      left -= taken;
    }
  }

  /** Books what others moved into the wallet or out of it; no strategy's book changes by it. */
  adjustWallet(mint: Mint, change: bigint): void {
    add(this.wallet, mint, change);
  }

  /** Books a network fee: it leaves the wallet's SOL, and the strategy is told what it cost. */
  applyFee(strategy: string, feeLamports: Lamports): void {
    const book = this.book(strategy);
    book.feesLamports = (book.feesLamports + feeLamports) as Lamports;
    add(this.wallet, SOL_MINT, -feeLamports);
  }
}

function subtract(a: Amount, b: Amount): Amount {
  return (a > b ? a - b : 0n) as Amount;
}

/** The chain decides what is left; a ledger that would go below zero stops at zero and reconciliation shows the gap. */
function add(balances: Map<Mint, Amount>, mint: Mint, change: bigint): void {
  const next = (balances.get(mint) ?? 0n) + change;
  if (next > 0n) balances.set(mint, next as Amount);
  else balances.delete(mint);
}
