import { mulDiv } from '../../core/amount.ts';
import { DOLLAR, type PredictionBook } from '../market/prediction-market.ts';
import type { Category } from './event-plan.ts';
import { ONE } from './positions.ts';
import { MICRO_USD_PER_PRICE } from './venue.ts';

/** What was had from a book. Contracts and dollars in millionths. */
export interface Fill {
  readonly contracts: bigint;
  /** Paid for a purchase, rounded up; received for a sale, rounded down; without fees. */
  readonly totalUsd: bigint;
  readonly averagePriceUsd: bigint;
  readonly highestPriceUsd: bigint;
  readonly feesUsd: bigint;
}

/** What is asked of a book. */
export interface FillRequest {
  readonly isYes: boolean;
  readonly isBuy: boolean;
  readonly contracts: bigint;
  /** The most a purchase may pay, the least a sale may bring, for one contract. */
  readonly limitPriceUsd: bigint;
  /** Contracts are traded in multiples of this. */
  readonly contractStep: bigint;
  readonly category: Category;
}

const RATE_SCALE = 100n;
/** The venue's rates, in hundredths, of contracts * price * (1 - price). */
const FEE_RATES: Partial<Record<Category, bigint>> = { sports: 3n, esports: 3n };
const USUAL_FEE_RATE = 7n;
/** Every level that is taken rounds cost and fee up by less than a millionth of a dollar each. */
const ROUNDING_RESERVE = 100n;

/** Returns what a book gives, level after level, undefined when it gives nothing within the limit. */
export function fillFrom(book: PredictionBook, request: FillRequest): Fill | undefined {
  const { isYes, isBuy, contractStep, category } = request;
  const bids = (isBuy === isYes ? book.no : book.yes).toSorted((a, b) => b.price - a.price);
  let left = request.contracts;
  let spent = 0n;
  let fees = 0n;
  let highestPriceUsd = 0n;
  for (const level of bids) {
    const price = BigInt(Math.round((isBuy ? DOLLAR - level.price : level.price) * MICRO_USD_PER_PRICE));
    if (price <= 0n || (isBuy ? price > request.limitPriceUsd : price < request.limitPriceUsd)) break;
    const offered = wholeSteps(BigInt(Math.round(level.size * Number(ONE))), contractStep);
    const taken = offered < left ? offered : left;
    left -= taken;
    spent += mulDiv(taken, price, ONE, isBuy ? 'ceil' : 'floor');
    fees += feeOf(taken, { price, category });
    if (taken > 0n && price > highestPriceUsd) highestPriceUsd = price;
    if (left === 0n) break;
  }
  const contracts = request.contracts - left;
  if (contracts === 0n) return undefined;
  return {
    contracts, totalUsd: spent, averagePriceUsd: mulDiv(spent, ONE, contracts, 'floor'), highestPriceUsd, feesUsd: fees,
  };
}

/** Returns the venue's fee of a trade: rate * contracts * price * (1 - price), rounded up. */
export function feeOf(contracts: bigint, { price, category }: { price: bigint; category: Category }): bigint {
  return mulDiv(
    contracts * price, (ONE - price) * (FEE_RATES[category] ?? USUAL_FEE_RATE), ONE * ONE * RATE_SCALE, 'ceil',
  );
}

/** Returns the most contracts that a deposit can pay at a price, the highest fee a contract can cost included. */
export function affordable(
  depositUsd: bigint, { price, category, contractStep }: { price: bigint; category: Category; contractStep: bigint },
): bigint {
  const mostFee = feeOf(ONE, { price: ONE / 2n, category });
  return wholeSteps(mulDiv(depositUsd - ROUNDING_RESERVE, ONE, price + mostFee, 'floor'), contractStep);
}

/** Returns the largest multiple of the step that is not above `contracts`. */
export function wholeSteps(contracts: bigint, step: bigint): bigint {
  return (contracts / step) * step;
}
