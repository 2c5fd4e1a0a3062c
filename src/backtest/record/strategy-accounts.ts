import type { Bps } from '../../core/amount.ts';
import type { Millis } from '../../core/time.ts';
import type { Mint, Token } from '../../market/token.ts';
import { SOL_MINT } from '../../market/token.ts';
import type { Fill, Intent, Outcome } from '../../trading/intent.ts';
import { isTerminal } from '../../trading/intent.ts';
import type { MarketCache } from '../../trading/market-cache.ts';
import type { StrategyBook } from '../../trading/portfolio.ts';
import type { EngineState } from '../../trading/engine-state.ts';
import { priceAge } from '../../trading/valuation.ts';
import type { ExitMarks } from './exit-marks.ts';
import type { RecordedFill, StrategyRecord } from './run-record.ts';
import { REASON_CHARACTERS, roundedAmount, roundedPrice } from './run-record.ts';

/** The value of what one strategy owns at a time, in the currency; null where a token has no price. */
export interface AccountValue {
  /** Proceeds of a sale, less the fees paid and the deposits that are locked. */
  readonly equity: number | null;
  /** The part of the proceeds that comes from tokens other than the currency. */
  readonly held: number | null;
}

/** How reliable the price of a holding is. */
export interface HeldPrice {
  readonly strategy: string;
  readonly symbol: string;
  readonly ageMs: Millis;
  /** The holding divided by the largest recorded size; 0 where the holding is not larger. */
  readonly timesLargest: number;
}

/** The accounts of the strategies that have a budget, valued in the currency. */
export interface StrategyAccounts {
  /** The sum of the budgets that are in the currency, smallest units. */
  readonly budgetCash: bigint;
  readonly fills: readonly RecordedFill[];
  /** Amounts that could not be valued because no price was known. */
  readonly unpriced: { readonly fills: number; readonly feesLamports: bigint; readonly depositLamports: bigint };
  /** Returns the value of each account. */
  values(at: Millis): AccountValue[];
  /** Returns the equity of all accounts together; NaN where a token has no price. */
  totalEquity(at: Millis): number;
  /** Adds an outcome that the portfolio already contains. Returns whether the equity may have changed. */
  add(intent: Intent, outcome: Outcome, at: Millis): boolean;
  /** Moves the deposits of closed token accounts back into the equity. */
  readonly returnDeposits: (mints: Iterable<Mint>) => void;
  /** Returns what the last swap of a token was worth, smallest units of the currency; undefined before the first. */
  readonly swapSize: (mint: Mint) => bigint | undefined;
  /** Returns how reliable the price of each holding is, where it has a price. */
  readonly heldPrices: (at: Millis) => HeldPrice[];
  /** Writes values into a row of the records. */
  store(row: number, values: readonly AccountValue[]): void;
  records(): StrategyRecord[];
}

/** One strategy: its book in the portfolio, and what the book does not say. */
interface Account {
  readonly name: string;
  readonly book: StrategyBook;
  /** The fees in the book that are valued already. */
  valuedFeesLamports: bigint;
  /** Deposits of token accounts, in the currency, by token. */
  readonly deposits: Map<Mint, number>;
  /** Fees of failed swaps by the traded token, until a swap of that token is filled. */
  readonly failedFees: Map<Mint, number>;
  /** The slippage that the last swap of a token allowed. */
  readonly allowedBps: Map<Mint, Bps>;
  readonly equity: (number | null)[];
  readonly held: (number | null)[];
  sent: number;
  landed: number;
  feesPaid: number;
  deposited: number;
  returned: number;
}

/** What all accounts share: the market that values them, and what they have recorded. */
interface Ledger {
  readonly state: EngineState;
  readonly currency: Token;
  /** Smallest units of one token of the currency. */
  readonly unit: number;
  readonly marks: ExitMarks;
  readonly fills: RecordedFill[];
  readonly unpriced: { fills: number; feesLamports: bigint; depositLamports: bigint };
  /** What the last swap of a token was worth, smallest units of the currency. */
  readonly swapSizes: Map<Mint, bigint>;
}

/** Returns the accounts of the strategies in a state that have a budget. */
export function createStrategyAccounts({ state, market, currency, marks }: {
  readonly state: EngineState; readonly market: MarketCache; readonly currency: Token; readonly marks: ExitMarks;
}): StrategyAccounts {
  const unit = 10 ** currency.decimals;
  const accounts = [...state.portfolio.books].filter(([, book]) => book.isConfigured && book.budget !== undefined)
    .map(([name, book]) => openAccount(name, book));
  const unpriced = { fills: 0, feesLamports: 0n, depositLamports: 0n };
  const ledger: Ledger = { state, currency, unit, marks, fills: [], unpriced, swapSizes: new Map() };
  return {
    budgetCash: accounts.reduce((sum, { book: { budget } }) => (
      sum + (budget!.mint === currency.mint ? budget!.amount : 0n)), 0n),
    fills: ledger.fills,
    unpriced,
    values: (at) => accounts.map((account) => {
      const value = valueOf(account, ledger, at);
      if (value === undefined) return { equity: null, held: null };
      const { cash, held, spent } = value;
      return { equity: roundedAmount(cash + held - spent, unit), held: roundedAmount(held, unit) };
    }),
    totalEquity: (at) => accounts.reduce((sum, account) => {
      const value = valueOf(account, ledger, at);
      return value === undefined ? NaN : sum + value.cash + value.held - value.spent;
    }, 0),
    add(intent, outcome, at) {
      const account = accounts.find(({ name }) => name === intent.strategy);
      return account !== undefined && addOutcome(account, ledger, { intent, outcome, at });
    },
    returnDeposits(mints) {
      for (const mint of mints) for (const account of accounts) returnDeposit(account, mint);
    },
    swapSize: (mint) => ledger.swapSizes.get(mint),
    heldPrices: (at) => accounts.flatMap(({ name, book: { balances } }) => [...balances].flatMap(([mint, amount]) => {
      const ageMs = mint === currency.mint ? Infinity : priceAge(market, mint, currency.mint, at);
      if (ageMs === Infinity) return [];
      const timesLargest = marks.timesLargest(mint, amount, at);
      return [{ strategy: name, symbol: symbolOf(mint, ledger), ageMs, timesLargest }];
    })),
    store(row, values) {
      for (const [i, account] of accounts.entries()) {
        account.equity[row] = values[i]!.equity;
        account.held[row] = values[i]!.held;
      }
    },
    records: () => accounts.map(({ name, equity, held, sent, landed, feesPaid, deposited, returned }) => (
      { name, equity, held, sent, landed, feesPaid, deposited, returned })),
  };
}

function openAccount(name: string, book: Account['book']): Account {
  return {
    name, book, valuedFeesLamports: 0n, deposits: new Map(), failedFees: new Map(), allowedBps: new Map(),
    equity: [], held: [], sent: 0, landed: 0, feesPaid: 0, deposited: 0, returned: 0,
  };
}

/**
 * Returns the parts of an account's equity: its money, the proceeds of its holdings, and the fees and locked deposits,
 * which a sale of the holdings does not return.
 */
function valueOf({ book, allowedBps, feesPaid, deposited }: Account, ledger: Ledger, at: Millis): {
  readonly cash: number; readonly held: number; readonly spent: number;
} | undefined {
  const { state, currency, unit, marks } = ledger;
  let held = 0;
  for (const [mint, amount] of book.balances) {
    if (mint === currency.mint) continue;
    const value = marks.proceeds(mint, amount, at, allowedBps.get(mint) ?? state.limits.maxSlippageBps);
    if (value === undefined) return undefined;
    held += Number(value) / unit;
  }
  const cash = Number(book.balances.get(currency.mint) ?? 0n) / unit;
  return { cash, held, spent: feesPaid + deposited };
}

/** Adds an outcome that the book already contains. Returns whether the equity may have changed. */
function addOutcome(account: Account, ledger: Ledger, { intent, outcome, at }: {
  readonly intent: Intent; readonly outcome: Outcome; readonly at: Millis;
}): boolean {
  if (outcome.state === 'signed') account.sent += 1;
  if (!isTerminal(outcome.state)) return false;
  const { inputMint, outputMint, maxSlippageBps } = intent;
  for (const mint of [inputMint, outputMint]) account.allowedBps.set(mint, maxSlippageBps);
  const fees = payFees(account, ledger, at);
  const traded = inputMint === ledger.currency.mint ? outputMint : inputMint;
  const failedFees = account.failedFees.get(traded);
  const { fill, quotedOut } = outcome;
  if (fill === undefined) {
    if (fees !== undefined && fees !== 0) account.failedFees.set(traded, (failedFees ?? 0) + fees);
    return fees !== 0;
  }
  account.failedFees.delete(traded);
  account.landed += 1;
  lockDeposit(account, ledger, fill, at);
  const costs = fees === undefined ? failedFees : fees + (failedFees ?? 0);
  ledger.fills.push(recordedFill(fill, ledger, {
    strategy: account.name, quotedOut, costs, at, reason: intent.reason,
  }));
  return true;
}

/** Returns the current value of the fees paid since the last call; undefined where SOL has no price. */
function payFees(account: Account, ledger: Ledger, at: Millis): number | undefined {
  const lamports = account.book.feesLamports - account.valuedFeesLamports;
  account.valuedFeesLamports = account.book.feesLamports;
  const value = inCurrency(SOL_MINT, lamports, ledger, at);
  if (value === undefined) ledger.unpriced.feesLamports += lamports;
  else account.feesPaid += value;
  return value;
}

function lockDeposit(account: Account, ledger: Ledger, { outputMint, rentLamports }: Fill, at: Millis): void {
  if (rentLamports === 0n) return;
  const value = inCurrency(SOL_MINT, rentLamports, ledger, at);
  if (value === undefined) ledger.unpriced.depositLamports += rentLamports;
  account.deposits.set(outputMint, (account.deposits.get(outputMint) ?? 0) + (value ?? 0));
  account.deposited += value ?? 0;
}

function returnDeposit(account: Account, mint: Mint): void {
  const value = account.deposits.get(mint) ?? 0;
  account.deposits.delete(mint);
  account.deposited -= value;
  account.returned += value;
}

/** Returns a fill with its value; `costs` are its own fees and those of failed swaps before it. */
function recordedFill({ inputMint, outputMint, amountIn, amountOut }: Fill, ledger: Ledger, { costs, ...swap }: {
  readonly strategy: string; readonly quotedOut: bigint | undefined; readonly costs: number | undefined;
  readonly at: Millis; readonly reason: string;
}): RecordedFill {
  const { currency, unit, unpriced, swapSizes } = ledger;
  const value = outputMint === currency.mint ? Number(amountOut) / unit
    : inCurrency(inputMint, amountIn, ledger, swap.at);
  if (value === undefined) unpriced.fills += 1;
  else for (const mint of [inputMint, outputMint]) swapSizes.set(mint, BigInt(Math.round(value * unit)));
  return {
    at: swap.at, strategy: swap.strategy, input: symbolOf(inputMint, ledger), output: symbolOf(outputMint, ledger),
    amountIn: String(amountIn), amountOut: String(amountOut),
    quotedOut: swap.quotedOut === undefined ? null : String(swap.quotedOut),
    value: value === undefined ? null : roundedAmount(value, unit),
    costs: costs === undefined ? null : roundedPrice(costs),
    reason: swap.reason.slice(0, REASON_CHARACTERS),
  };
}

function inCurrency(mint: Mint, amount: bigint, { marks, unit }: Ledger, at: Millis): number | undefined {
  const value = marks.exit(mint, amount, at);
  return value === undefined ? undefined : Number(value) / unit;
}

function symbolOf(mint: Mint, { state }: Ledger): string {
  return state.tokens.byMint(mint)?.symbol ?? mint;
}
