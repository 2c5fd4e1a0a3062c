import type { Amount } from '../../core/amount.ts';
import { mulDiv } from '../../core/amount.ts';
import type { Millis } from '../../core/time.ts';
import type { Quote } from '../../market/quote.ts';
import type { Mint } from '../../market/token.ts';
import type { EngineState } from '../engine-state.ts';
import { VALUE_MAX_AGE_MS, currentValue, readingAge } from '../valuation.ts';

/** Quotes of several sizes count together where they are at most this far apart: older ones are of another market. */
const RUNGS_APART_MS = 60_000;

/** A holding that is to be sold, and the token that it is sold into. */
interface Sale {
  readonly mint: Mint;
  readonly into: Mint;
  readonly amount: bigint;
}

/**
 * Returns the output of selling a whole amount at once, by the fresh quotes of such sales, floored; undefined without
 * one. Between the sizes of two quotes the inverse of the average price is linear in the size, which is exact for a
 * pool of a constant product. Below the smallest size its price holds. Beyond the largest size the output follows the
 * line of the last two quotes, or the pool that the price impact of the only one implies.
 */
export function quotedSale(state: EngineState, sale: Sale, at: Millis): Amount | undefined {
  const { amount } = sale;
  if (amount <= 0n) return undefined;
  const rungs = rungsOf(state, sale, at);
  const [smallest] = rungs;
  if (smallest === undefined) return undefined;
  const largest = rungs.at(-1)!;
  if (rungs.length === 1 || amount <= smallest.inAmount) {
    const impact = -(smallest.priceImpact ?? 0);
    return amount > smallest.inAmount && impact > 0 && impact < 1 ? beyond(smallest, impact, amount)
      : mulDiv(amount as Amount, smallest.outAmount, smallest.inAmount, 'floor');
  }
  const next = amount >= largest.inAmount ? rungs.length - 1 : rungs.findIndex(({ inAmount }) => inAmount >= amount);
  return between(rungs[next - 1]!, rungs[next]!, amount);
}

/**
 * Returns the value of a holding at its sale: by quotes of such sales at its size, else by any other fresh price of the
 * token. Undefined without one.
 */
export function saleValue(state: EngineState, sale: Sale, at: Millis): Amount | undefined {
  if (sale.mint === sale.into) return sale.amount as Amount;
  return quotedSale(state, sale, at) ?? currentValue(state, sale, sale.into, at);
}

/** Returns the fresh quotes of a sale, one for each size, smallest first. */
function rungsOf({ market, limits }: EngineState, { mint, into }: Sale, at: Millis): Quote[] {
  const maxAgeMs = limits.maxValueAgeMs ?? VALUE_MAX_AGE_MS;
  const fresh: Quote[] = [];
  let least = Infinity;
  for (const slot of market.quoteSlots(mint, into)) {
    const quote = market.latest(slot);
    if (quote?.kind !== 'quote' || quote.inAmount <= 0n || quote.outAmount <= 0n) continue;
    const age = readingAge(quote, at);
    if (!(age <= maxAgeMs)) continue;
    fresh.push(quote);
    if (age < least) least = age;
  }
  return fresh.length < 2 ? fresh : fresh.filter((quote) => readingAge(quote, at) <= least + RUNGS_APART_MS)
    .sort((a, b) => (a.inAmount < b.inAmount ? -1 : a.inAmount > b.inAmount ? 1 : 0));
}

/** Returns the output on the line of the inverse average price through two quotes; above the larger one too. */
function between(small: Quote, large: Quote, amount: bigint): Amount {
  const { inAmount: x1, outAmount: o1 } = small;
  const { inAmount: x2, outAmount: o2 } = large;
  const inverse = x1 * o2 * (x2 - amount) + x2 * o1 * (amount - x1);
  // Quotes of different instants may contradict each other; then the price of the larger size holds.
  if (x2 === x1 || inverse <= 0n || (amount > x2 && x2 * o1 < x1 * o2))
    return mulDiv(amount as Amount, o2, x2, 'floor');
  return (amount * o1 * o2 * (x2 - x1) / inverse) as Amount;
}

/** Returns the output of a larger sale in the pool whose impact the quote states: size / (reserve + size). */
function beyond({ inAmount, outAmount }: Quote, impact: number, amount: bigint): Amount {
  const reserve = BigInt(Math.floor(Number(inAmount) * ((1 - impact) / impact)));
  return (outAmount * amount * (reserve + inAmount) / (inAmount * (reserve + amount))) as Amount;
}
