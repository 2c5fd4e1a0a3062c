import { z } from 'zod';
import type { MicroUsd } from '../../core/amount.ts';
import { parseDecimal } from '../../core/amount.ts';
import type { Brand } from '../../core/brand.ts';
import { optionalText, wireU64 } from './fields.ts';
import { malformed } from './read.ts';

/** Millionths of a contract. */
export type MicroContracts = Brand<bigint, 'MicroContracts'>;

const CONTRACT_DECIMALS = 6;
const MICRO_CONTRACTS = 1_000_000n;
const U128_MAX = 2n ** 128n - 1n;
const WHOLE = { error: 'expected whole micro dollars' };

/** Micro dollars of any sign, as digits or as a whole number: up to 128 bits, exact. */
const signedMicroUsd = z
  .union([z.string().regex(/^-?\d{1,39}$/, WHOLE), z.int(WHOLE), z.bigint()], WHOLE)
  .transform((value) => BigInt(value) as MicroUsd)
  .refine((value) => value <= U128_MAX && value >= -U128_MAX, { error: 'expected micro dollars of at most 128 bits' });

const microUsd =
  signedMicroUsd.refine((value) => value >= 0n, { error: 'expected micro dollars that are not negative' });

/** Micro dollars that can be lost as well as won; undefined where they are not known. */
export const wireProfit = optionalText(signedMicroUsd);

/** Micro dollars, never negative; undefined where they are not known. */
export const wireMicroUsd = optionalText(microUsd);

/**
 * A price in micro dollars. 0 stands where there is none (a market that is closed, a side that nobody takes), so it is
 * undefined.
 */
export const wirePrice = optionalText(microUsd).transform((value) => (value === 0n ? undefined : value));

/** A price of something that pays one dollar: more is a price in another unit. */
export const wireContractPrice = wirePrice.refine((value) => value === undefined || value <= 1_000_000n, {
  error: 'expected a price of at most 1000000 micro dollars',
});

/** No longer than 64 bits of millionths. */
const decimal = z.string().regex(/^\d{1,13}(\.\d{1,6})?$/, { error: 'expected contracts with at most 6 decimals' })
  .transform((text) => parseDecimal(text, CONTRACT_DECIMALS) as bigint);

/** The forms in which one number of contracts comes; undefined where it does not. */
export const wireContracts =
  { whole: optionalText(wireU64), micro: optionalText(wireU64), decimal: optionalText(decimal) };

interface Quantity {
  /** Whole contracts: all there are in the older form, without the fraction in the newer one. */
  readonly whole: bigint;
  /** Exact. */
  readonly micro: MicroContracts;
}

/**
 * Returns a number of contracts, undefined where it is not given. Throws SERVICE_MALFORMED where its exact forms
 * differ.
 */
export function quantityOf(what: string, wire: {
  readonly whole: bigint | undefined; readonly micro: bigint | undefined; readonly decimal: bigint | undefined;
}): Quantity | undefined {
  if (wire.micro !== undefined && wire.decimal !== undefined && wire.micro !== wire.decimal) {
    throw malformed(
      `${what}: expected the decimal number of contracts to say the same as the ${wire.micro} millionths`,
      `${wire.decimal} millionths`,
    );
  }
  const exact = wire.micro ?? wire.decimal;
  if (exact !== undefined) return { whole: wire.whole ?? exact / MICRO_CONTRACTS, micro: exact as MicroContracts };
  return wire.whole === undefined ? undefined
    : { whole: wire.whole, micro: (wire.whole * MICRO_CONTRACTS) as MicroContracts };
}
