import type { Millis } from '../core/time.ts';
import { formatDecimal } from '../core/amount.ts';
import type { Mint, TokenTable } from '../market/token.ts';
import { SOL_MINT } from '../market/token.ts';
import type { Booked } from './ledger.ts';

/** An amount for people and exactly. A token that is not configured has its mint as symbol and no text. */
export interface Money {
  readonly text: string;
  /** Smallest units. */
  readonly units: string;
  readonly symbol: string;
}

/** The results of a period in one currency. */
export interface Figures {
  readonly currency: string;
  /** Proceeds less cost of what was sold, by FIFO, without fees. */
  readonly realised: Money;
  /** The network's costs in the currency, as far as SOL had a price when they were paid. */
  readonly fees: Money;
  /** Realised profit less these fees. */
  readonly net: Money;
  readonly fees_sol: Money;
  /** The tips among them, where they are known. */
  readonly tips_sol: Money;
  /** The part of them without a price. */
  readonly fees_without_value_sol: Money;
  readonly rent_paid_sol: Money;
  readonly rent_returned_sol: Money;
  readonly swaps: number;
  /** Swaps that cost a fee and moved nothing. */
  readonly failed: number;
  /** Sales: closed trades. */
  readonly trades: number;
  readonly won: number;
  readonly lost: number;
  /** Sales of what was not bought here: their profit is unknown, and in no figure. */
  readonly without_cost: number;
}

/** Sums up results. */
export class FigureSums {
  readonly #currency: Mint;
  #realised = 0n;
  #fees = 0n;
  #feeLamports = 0n;
  #tipLamports = 0n;
  #withoutValue = 0n;
  #rentPaid = 0n;
  #rentReturned = 0n;
  #swaps = 0;
  #failed = 0;
  #won = 0;
  #lost = 0;
  #trades = 0;
  #withoutCost = 0;

  constructor(currency: Mint) {
    this.#currency = currency;
  }

  add({ swap: { fill, feeLamports, values }, sale, currency }: Booked): void {
    this.#feeLamports += feeLamports;
    this.#tipLamports += fill?.tipLamports ?? 0n;
    const feeValue = feeValueOf({ currency, feeLamports, values });
    this.#fees += feeValue ?? 0n;
    if (feeValue === undefined) this.#withoutValue += feeLamports;
    if (fill === undefined) {
      this.#failed += 1;
      return;
    }
    this.#swaps += 1;
    if (fill.rentLamports > 0n) this.#rentPaid += fill.rentLamports;
    else this.#rentReturned -= fill.rentLamports;
    if (sale === undefined) return;
    this.#trades += 1;
    if (sale.profit === undefined) {
      this.#withoutCost += 1;
      return;
    }
    this.#realised += sale.profit;
    if (sale.profit > 0n) this.#won += 1;
    else if (sale.profit < 0n) this.#lost += 1;
  }

  /** Adds the sums of another one, and returns itself. */
  plus(other: FigureSums): this {
    this.#realised += other.#realised;
    this.#fees += other.#fees;
    this.#feeLamports += other.#feeLamports;
    this.#tipLamports += other.#tipLamports;
    this.#withoutValue += other.#withoutValue;
    this.#rentPaid += other.#rentPaid;
    this.#rentReturned += other.#rentReturned;
    this.#swaps += other.#swaps;
    this.#failed += other.#failed;
    this.#trades += other.#trades;
    this.#won += other.#won;
    this.#lost += other.#lost;
    this.#withoutCost += other.#withoutCost;
    return this;
  }

  figures(tokens: TokenTable): Figures {
    const own = (units: bigint): Money => moneyOf(tokens, this.#currency, units);
    const sol = (units: bigint): Money => moneyOf(tokens, SOL_MINT, units);
    return {
      currency: own(0n).symbol, realised: own(this.#realised), fees: own(this.#fees),
      net: own(this.#realised - this.#fees), fees_sol: sol(this.#feeLamports), tips_sol: sol(this.#tipLamports),
      fees_without_value_sol: sol(this.#withoutValue), rent_paid_sol: sol(this.#rentPaid),
      rent_returned_sol: sol(this.#rentReturned), swaps: this.#swaps, failed: this.#failed, trades: this.#trades,
      won: this.#won, lost: this.#lost, without_cost: this.#withoutCost,
    };
  }
}

/** Returns the network's costs of a swap in the currency of its book; undefined without a price. */
export function feeValueOf(
  { currency, feeLamports, values }: Pick<Booked, 'currency'> & Pick<Booked['swap'], 'feeLamports' | 'values'>,
): bigint | undefined {
  if (feeLamports === 0n) return 0n;
  if (currency === SOL_MINT) return feeLamports;
  return values?.currency === currency ? values.feeValue : undefined;
}

const SOL_DECIMALS = 9;

/** Returns an amount for people and exactly. */
export function moneyOf(tokens: TokenTable, mint: Mint, units: bigint): Money {
  const token = tokens.byMint(mint) ?? (mint === SOL_MINT ? { symbol: 'SOL', decimals: SOL_DECIMALS } : undefined);
  return {
    text: token === undefined ? `${units} smallest units` : formatDecimal(units, token.decimals),
    units: units.toString(), symbol: token?.symbol ?? mint,
  };
}

/** A UTC day. */
export const DAY_MS: Millis = 86_400_000;

/** The periods of a statement: calendar days of UTC, the present one included. */
export const PERIODS = ['today', 'week', 'month', 'all'] as const;
/** The name of a period. */
export type PeriodName = (typeof PERIODS)[number];

const DAYS: Readonly<Record<PeriodName, number>> = { today: 1, week: 7, month: 30, all: Infinity };

/** Returns when a period begins that ends now; -Infinity for all. */
export function startOf(period: PeriodName, now: Millis): Millis {
  return (Math.floor(now / DAY_MS) + 1 - DAYS[period]) * DAY_MS;
}

/** Returns the UTC day of an instant: "2026-11-23". */
export function dayOf(at: Millis): string {
  return new Date(at).toISOString().slice(0, 10);
}
