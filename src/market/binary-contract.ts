import type { Bps, MicroUsd } from '../core/amount.ts';
import { GannetError } from '../core/errors.ts';
import { ONE_USD } from './order-book.ts';

/** The unit that providers round fees up to where they name no other: a cent. */
const CENT = 10_000n as MicroUsd;
/** Basis points, millionths of a contract, and one price in millionths of a dollar; the other is the result's unit. */
const SCALE = 10_000n * 1_000_000n * 1_000_000n;

/**
 * Returns the quadratic fee of an order, rate * contracts * p * (1 - p) for a price p in dollars, rounded up to `unit`
 * once for the order: one contract at a price of 0.01 can pay its whole price. It is computed in integers, because
 * doubles give 64 cents instead of 63 for 100 contracts at 0.10 and 7 %. Throws AMOUNT_INVALID.
 */
export function quadraticFee({ contractsMicro, priceMicroUsd, rate, unit = CENT }: {
  /** Millionths of a contract. */
  readonly contractsMicro: bigint;
  readonly priceMicroUsd: number;
  /** The provider's rate, 700 for 0.07. */
  readonly rate: Bps;
  readonly unit?: MicroUsd | undefined;
}): MicroUsd {
  refusePrice(priceMicroUsd);
  if (contractsMicro < 0n || unit <= 0n)
    throw new GannetError('AMOUNT_INVALID', 'expected contracts of at least 0 and a unit above 0');
  const price = BigInt(priceMicroUsd);
  const exact = BigInt(rate) * contractsMicro * price * (BigInt(ONE_USD) - price);
  const step = SCALE * unit;
  return (exact + step - 1n) / step * unit as MicroUsd;
}

/**
 * Returns the probability above which buying pays: price and fee of one contract, as a fraction. Above 1 it never does.
 */
export function breakEvenProbability(priceMicroUsd: number, feePerContract = 0): number {
  refusePrice(priceMicroUsd);
  if (!(feePerContract >= 0))
    throw new GannetError('AMOUNT_INVALID', `expected a fee of at least 0, got ${feePerContract}`);
  return (priceMicroUsd + feePerContract) / ONE_USD;
}

/**
 * Returns the fraction of the capital that maximises its expected logarithm when buying a contract that pays one dollar
 * with a probability (Kelly 1956): (p - c) / (1 - c), where c is price and fee, in millionths of a dollar, over a
 * dollar; 0 without an edge. The fee per contract falls with the size where orders are rounded up, so compute it at the
 * size that is meant. The estimate of the probability errs: stake a quarter or less of the result, and no more than the
 * book holds. Throws AMOUNT_INVALID.
 */
export function kellyFraction({ probability, priceMicroUsd, feePerContract = 0 }: {
  readonly probability: number;
  readonly priceMicroUsd: number;
  readonly feePerContract?: number | undefined;
}): number {
  if (!(probability >= 0 && probability <= 1))
    throw new GannetError('AMOUNT_INVALID', `expected a probability from 0 to 1, got ${probability}`);
  const cost = breakEvenProbability(priceMicroUsd, feePerContract);
  return cost >= 1 || probability <= cost ? 0 : (probability - cost) / (1 - cost);
}

function refusePrice(priceMicroUsd: number): void {
  if (!(Number.isSafeInteger(priceMicroUsd) && priceMicroUsd >= 0 && priceMicroUsd <= ONE_USD)) {
    throw new GannetError(
      'AMOUNT_INVALID', `expected a price of 0 to ${ONE_USD} millionths of a dollar, got ${priceMicroUsd}`,
    );
  }
}
