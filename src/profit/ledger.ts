import type { Millis } from '../core/time.ts';
import type { Mint } from '../market/token.ts';
import { USDC_MINT } from '../market/token.ts';
import type { LedgerStart, SettledSwap } from '../store/fill-records.ts';
import type { Fill } from '../trading/intent.ts';
import type { Cost, Piece } from './lots.ts';
import { LotQueue, shareOf, sumKnown, totalCost } from './lots.ts';

/** The book of all manual swaps together: what one of them bought, another one sells. */
const MANUAL = 'manual swaps';

/** The names of manual swaps of versions that did not note what they are. */
const MANUAL_NAME = /^swap-\d{6}-[0-9a-f]{6}$/;

/** A sale for the book's currency: a trade that is closed. */
export interface Sale {
  readonly book: string;
  readonly swap: SettledSwap;
  readonly currency: Mint;
  readonly mint: Mint;
  readonly quantity: bigint;
  readonly proceeds: bigint;
  /** The cost of what was sold, by FIFO; undefined where a part was not bought here. */
  readonly cost: bigint | undefined;
  /** Proceeds less cost, without fees; undefined where the cost is. */
  readonly profit: bigint | undefined;
  /** When the oldest part was bought; undefined where none was bought here. */
  readonly enteredAt: Millis | undefined;
}

/** One piece of a disposal, for a tax return: values in 10^-6 US dollars. */
interface Disposal {
  readonly book: string;
  readonly swap: SettledSwap;
  readonly mint: Mint;
  readonly piece: Piece;
  readonly proceeds: bigint | undefined;
}

/** What was acquired by a swap, for a tax return. */
interface Acquisition {
  readonly book: string;
  readonly swap: SettledSwap;
  readonly mint: Mint;
  readonly quantity: bigint;
  readonly usd: bigint | undefined;
}

/** What one swap meant for the books. */
export interface Booked {
  readonly swap: SettledSwap;
  readonly book: string;
  readonly currency: Mint;
  readonly sale: Sale | undefined;
  readonly disposals: readonly Disposal[];
  readonly acquisition: Acquisition | undefined;
}

/** One strategy's holdings as lots. */
interface Book {
  readonly currency: Mint;
  readonly queues: Map<Mint, LotQueue>;
}

/** A budget: what a strategy had before its first swap. */
interface OpeningBudget {
  readonly mint: Mint;
  readonly amount: bigint;
}

/**
 * The swaps of a journal as lots and results, in exact integers: profit in the currency of each book, which is the
 * token of its budget, and values in US dollars for a tax return. Swaps are added in the order of the journal.
 */
export class ProfitLedger {
  readonly #budgets: Readonly<Record<string, OpeningBudget>>;
  readonly #starts: readonly LedgerStart[];
  readonly #books = new Map<string, Book>();
  #started = 0;

  /** `budgets` are those of the strategies' books, `starts` where the books began again. */
  constructor(budgets: Readonly<Record<string, OpeningBudget>>, starts: readonly LedgerStart[]) {
    this.#budgets = budgets;
    this.#starts = starts;
  }

  /** Books a swap, and returns what it meant. */
  add(swap: SettledSwap): Booked {
    while (this.#started < this.#starts.length && this.#starts[this.#started]!.afterNumber < swap.number) {
      this.#books.clear();
      this.#started += 1;
    }
    const name = bookOf(swap);
    const book = this.#bookOf(name, swap);
    return swap.fill === undefined
      ? { swap, book: name, currency: book.currency, sale: undefined, disposals: [], acquisition: undefined }
      : applyFill(book, { name, swap, fill: swap.fill });
  }

  /** Whether the books began again after the last swap that was added: then nothing of them is left. */
  get #isOver(): boolean {
    return this.#started < this.#starts.length;
  }

  /** The unsold lots of positions, by book; what is in the currency itself is none. */
  get open(): readonly { readonly book: string; readonly currency: Mint; readonly piece: LotQueue['open'][number] }[] {
    if (this.#isOver) return [];
    return [...this.#books].flatMap(([book, { currency, queues }]) =>
      [...queues].filter(([mint]) => mint !== currency)
        .flatMap(([, queue]) => queue.open.map((piece) => ({ book, currency, piece }))));
  }

  #bookOf(name: string, swap: SettledSwap): Book {
    const known = this.#books.get(name);
    if (known !== undefined) return known;
    const budget = Object.hasOwn(this.#budgets, name) ? this.#budgets[name] : undefined;
    const made: Book = { currency: currencyOf(name, swap, budget), queues: new Map() };
    this.#books.set(name, made);
    if (budget !== undefined) queueOf(made, budget.mint).add({
      mint: budget.mint, at: swap.at, intentId: undefined, quantity: budget.amount,
      cost: { currency: budget.amount, usd: atPar(budget.mint, budget.amount) },
    });
    return made;
  }
}

function bookOf({ strategy, values }: SettledSwap): string {
  return (values?.isManual ?? MANUAL_NAME.test(strategy)) ? MANUAL : strategy;
}

/** Manual swaps are counted in USDC; a book without a budget in what its first swap paid with. */
function currencyOf(name: string, { inputMint, outputMint, purpose, values }: SettledSwap,
  budget: OpeningBudget | undefined): Mint {
  if (name === MANUAL) return USDC_MINT;
  return budget?.mint ?? values?.currency ?? (purpose === 'exit' ? outputMint : inputMint);
}

/** USDC counts as one dollar. */
function atPar(mint: Mint, amount: bigint): bigint | undefined {
  return mint === USDC_MINT ? amount : undefined;
}

function queueOf({ queues }: Book, mint: Mint): LotQueue {
  const known = queues.get(mint);
  if (known !== undefined) return known;
  const made = new LotQueue();
  queues.set(mint, made);
  return made;
}

function applyFill(book: Book, { name, swap, fill }: {
  readonly name: string; readonly swap: SettledSwap; readonly fill: Fill;
}): Booked {
  const { currency } = book;
  const { inputMint, outputMint, amountIn, amountOut, receiver } = fill;
  const usd = usdOf(swap);
  const pieces = queueOf(book, inputMint).take(amountIn).map((piece) => known(piece, currency, inputMint));
  const cost = totalCost(pieces.map((piece) => piece.cost));
  const isOwn = receiver === undefined;
  if (isOwn) queueOf(book, outputMint).add({
    mint: outputMint, at: swap.at, intentId: swap.intentId, quantity: amountOut,
    // A swap from one position to another carries the cost over.
    cost: { currency: outputMint === currency ? amountOut : inputMint === currency ? amountIn : cost.currency, usd },
  });
  const isSale = isOwn && outputMint === currency;
  return {
    swap, book: name, currency,
    sale: !isSale ? undefined : {
      book: name, swap, currency, mint: inputMint, quantity: amountIn, proceeds: amountOut, cost: cost.currency,
      profit: cost.currency === undefined ? undefined : amountOut - cost.currency,
      enteredAt: pieces.find(({ lot }) => lot !== undefined)?.lot?.at,
    },
    disposals: disposalsOf(pieces, usd).map(({ piece, proceeds }) =>
      ({ book: name, swap, mint: inputMint, piece, proceeds })),
    acquisition: isOwn ? { book: name, swap, mint: outputMint, quantity: amountOut, usd } : undefined,
  };
}

/** What no lot covers costs itself where it is the currency, and par in dollars where it is USDC. */
function known(piece: Piece, currency: Mint, mint: Mint): Piece {
  if (piece.lot !== undefined) return piece;
  const cost: Cost = {
    currency: mint === currency ? piece.quantity : undefined, usd: atPar(mint, piece.quantity),
  };
  return { ...piece, cost };
}

function disposalsOf(
  pieces: readonly Piece[], usd: bigint | undefined,
): { readonly piece: Piece; readonly proceeds: bigint | undefined }[] {
  const all = sumKnown(pieces.map(({ quantity }) => quantity))!;
  let before = 0n;
  return pieces.map((piece) => {
    const after = before + piece.quantity;
    const proceeds = usd === undefined ? undefined : shareOf(usd, after, all) - shareOf(usd, before, all);
    before = after;
    return { piece, proceeds };
  });
}

/**
 * Returns what a swap was worth in 10^-6 US dollars: by the side that is USDC, else by what was received, else by what
 * was paid. Both sides have this one value, so that no gain is counted twice.
 */
function usdOf({ fill, values }: SettledSwap): bigint | undefined {
  if (fill === undefined) return undefined;
  return atPar(fill.inputMint, fill.amountIn) ?? atPar(fill.outputMint, fill.amountOut)
    ?? values?.output?.microUsd ?? values?.input?.microUsd;
}

/** Returns what the value of a swap in US dollars was known from. */
export function usdSourceOf({ fill, values }: SettledSwap): string | undefined {
  if (fill === undefined) return undefined;
  if (fill.inputMint === USDC_MINT || fill.outputMint === USDC_MINT) return 'usdc';
  return values?.output?.source ?? values?.input?.source;
}
