import type { Bps } from '../../core/amount.ts';
import type { Millis } from '../../core/time.ts';
import type { Mint, Token } from '../../market/token.ts';
import { SOL_MINT } from '../../market/token.ts';
import type { Fill, Intent, Outcome } from '../../trading/intent.ts';
import { isTerminal } from '../../trading/intent.ts';
import type { MarketCache } from '../../trading/market-cache.ts';
import type { StrategyBook } from '../../trading/portfolio.ts';
import type { EngineState } from '../../trading/state.ts';
import { priceAge } from '../../trading/valuation.ts';
import type { ExitMarks } from './exit-marks.ts';
import type { RecordedFill, StrategyRecord } from './run-record.ts';
import { roundedAmount, roundedPrice } from './run-record.ts';

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
  returnDeposits(mints: Iterable<Mint>): void;
  /** Returns what the last swap of a token was worth, smallest units of the currency; undefined before the first. */
  swapSize(mint: Mint): bigint | undefined;
  /** Returns how reliable the price of each holding is, where it has a price. */
  heldPrices(at: Millis): HeldPrice[];
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

/** Returns the accounts of the strategies in a state that have a budget. */
export function createStrategyAccounts({ state, market, currency, marks }: {
  readonly state: EngineState; readonly market: MarketCache; readonly currency: Token; readonly marks: ExitMarks;
}): StrategyAccounts {
  const { portfolio, tokens, limits } = state;
  const unit = 10 ** currency.decimals;
  const accounts = [...portfolio.books].filter(([, book]) => book.isConfigured && book.budget !== undefined)
    .map(([name, book]) => openAccount(name, book));
  const fills: RecordedFill[] = [];
  const unpriced = { fills: 0, feesLamports: 0n, depositLamports: 0n };
  const swapSizes = new Map<Mint, bigint>();
  const symbolOf = (mint: Mint): string => tokens.byMint(mint)?.symbol ?? mint;

  const inCurrency = (mint: Mint, amount: bigint, at: Millis): number | undefined => {
    const value = marks.exit(mint, amount, at);
    return value === undefined ? undefined : Number(value) / unit;
  };
  const heldBy = ({ book, allowedBps }: Account, at: Millis): number | undefined => {
    let held: number | undefined = 0;
    for (const [mint, amount] of book.balances) {
      if (mint === currency.mint || held === undefined) continue;
      const value = marks.proceeds(mint, amount, at, allowedBps.get(mint) ?? limits.maxSlippageBps);
      held = value === undefined ? undefined : held + Number(value) / unit;
    }
    return held;
  };
  const cashOf = ({ book }: Account): number => Number(book.balances.get(currency.mint) ?? 0n) / unit;
  /** A sale of the holdings returns neither the fees nor the locked deposits. */
  const spentBy = ({ feesPaid, deposited }: Account): number => feesPaid + deposited;

  const lockDeposit = (account: Account, { outputMint, rentLamports }: Fill, at: Millis): void => {
    if (rentLamports === 0n) return;
    const value = inCurrency(SOL_MINT, rentLamports, at);
    if (value === undefined) unpriced.depositLamports += rentLamports;
    account.deposits.set(outputMint, (account.deposits.get(outputMint) ?? 0) + (value ?? 0));
    account.deposited += value ?? 0;
  };
  /** Returns the current value of the fees paid since the last call; undefined where SOL has no price. */
  const payFees = (account: Account, at: Millis): number | undefined => {
    const lamports = account.book.feesLamports - account.valuedFeesLamports;
    account.valuedFeesLamports = account.book.feesLamports;
    const value = inCurrency(SOL_MINT, lamports, at);
    if (value === undefined) unpriced.feesLamports += lamports;
    else account.feesPaid += value;
    return value;
  };
  /** Records a fill with its value and `costs`, the fees of its own and of failed swaps before it. */
  const addFill = ({ name }: Account, fill: Fill, { quotedOut, costs, at }: {
    readonly quotedOut: bigint | undefined; readonly costs: number | undefined; readonly at: Millis;
  }): void => {
    const { inputMint, outputMint, amountIn, amountOut } = fill;
    const value = outputMint === currency.mint ? Number(amountOut) / unit : inCurrency(inputMint, amountIn, at);
    if (value === undefined) unpriced.fills += 1;
    else for (const mint of [inputMint, outputMint]) swapSizes.set(mint, BigInt(Math.round(value * unit)));
    fills.push({
      at, strategy: name, input: symbolOf(inputMint), output: symbolOf(outputMint),
      amountIn: String(amountIn), amountOut: String(amountOut),
      quotedOut: quotedOut === undefined ? null : String(quotedOut),
      value: value === undefined ? null : roundedAmount(value, unit),
      costs: costs === undefined ? null : roundedPrice(costs),
    });
  };

  return {
    budgetCash: accounts.reduce((sum, { book: { budget } }) => (
      sum + (budget!.mint === currency.mint ? budget!.amount : 0n)), 0n),
    fills,
    unpriced,
    values: (at) => accounts.map((account) => {
      const held = heldBy(account, at);
      if (held === undefined) return { equity: null, held: null };
      return {
        equity: roundedAmount(cashOf(account) + held - spentBy(account), unit), held: roundedAmount(held, unit),
      };
    }),
    totalEquity: (at) => accounts.reduce((sum, account) => {
      const held = heldBy(account, at);
      return held === undefined ? NaN : sum + cashOf(account) + held - spentBy(account);
    }, 0),
    add(intent, outcome, at) {
      const account = accounts.find(({ name }) => name === intent.strategy);
      if (account === undefined) return false;
      if (outcome.state === 'signed') account.sent += 1;
      if (!isTerminal(outcome.state)) return false;
      const { inputMint, outputMint, maxSlippageBps } = intent;
      for (const mint of [inputMint, outputMint]) account.allowedBps.set(mint, maxSlippageBps);
      const fees = payFees(account, at);
      const traded = inputMint === currency.mint ? outputMint : inputMint;
      const failedFees = account.failedFees.get(traded);
      const { fill, quotedOut } = outcome;
      if (fill === undefined) {
        if (fees !== undefined && fees !== 0) account.failedFees.set(traded, (failedFees ?? 0) + fees);
        return fees !== 0;
      }
      account.failedFees.delete(traded);
      account.landed += 1;
      lockDeposit(account, fill, at);
      addFill(account, fill, { quotedOut, costs: fees === undefined ? failedFees : fees + (failedFees ?? 0), at });
      return true;
    },
    returnDeposits(mints) {
      for (const mint of mints) {
        for (const account of accounts) {
          const value = account.deposits.get(mint) ?? 0;
          account.deposits.delete(mint);
          account.deposited -= value;
          account.returned += value;
        }
      }
    },
    swapSize: (mint) => swapSizes.get(mint),
    heldPrices: (at) => accounts.flatMap(({ name, book: { balances } }) => [...balances].flatMap(([mint, amount]) => {
      const ageMs = mint === currency.mint ? Infinity : priceAge(market, mint, currency.mint, at);
      if (ageMs === Infinity) return [];
      return [{ strategy: name, symbol: symbolOf(mint), ageMs, timesLargest: marks.timesLargest(mint, amount, at) }];
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
