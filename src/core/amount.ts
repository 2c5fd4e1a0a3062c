import { GannetError } from './errors.ts';

declare const brand: unique symbol;

/** A primitive whose type carries its meaning; only the function that checks the value returns it. */
export type Brand<T, Name extends string> = T & { readonly [brand]: Name };

/** A token's smallest units; 0 to 2^64 - 1. */
export type Amount = Brand<bigint, 'Amount'>;
/** 10^-9 SOL. */
export type Lamports = Brand<bigint, 'Lamports'>;
/** 10^-6 US dollars. */
export type MicroUsd = Brand<bigint, 'MicroUsd'>;
/** Hundredths of a percent. */
export type Bps = Brand<number, 'Bps'>;

/** The largest u64. */
export const U64_MAX = 2n ** 64n - 1n;
/** An amount of zero. */
export const ZERO = 0n as Amount;

/** Returns `value` as an amount. Throws AMOUNT_INVALID outside u64. */
export function amount(value: bigint): Amount {
  if (value < 0n || value > U64_MAX) throw invalid(`expected 0 to ${U64_MAX}, got ${value}`, value);
  return value as Amount;
}

/** Returns `value` as lamports. Throws AMOUNT_INVALID outside u64. */
export function lamports(value: bigint): Lamports {
  return amount(value) as bigint as Lamports;
}

/** Returns `value` as basis points. Throws AMOUNT_INVALID unless it is a whole number of 0 to 10000. */
export function bps(value: number): Bps {
  if (!Number.isInteger(value) || value < 0 || value > 10_000) {
    throw invalid(`expected whole basis points of 0 to 10000, got ${value}`, value);
  }
  return value as Bps;
}

/** Returns the amount in a string of digits, as the wire carries it. Throws AMOUNT_INVALID. */
export function parseRaw(text: string): Amount {
  if (!/^\d{1,20}$/.test(text))
    throw invalid(`expected an integer of 0 to ${U64_MAX}, got "${text.slice(0, 40)}"`, text);
  return amount(BigInt(text));
}

/**
 * Returns the smallest units that a decimal string means at `decimals` places, exactly.
 * Throws AMOUNT_INVALID on a sign, an exponent, separators, or more places than the token has: nothing is rounded.
 */
export function parseDecimal(text: string, decimals: number): Amount {
  const match = /^(\d+)(?:\.(\d+))?$/.exec(text);
  if (!match) throw invalid(`expected a decimal number such as "1.5", got "${text.slice(0, 40)}"`, text);
  const [, whole = '0', fraction = ''] = match;
  if (fraction.length > decimals) {
    throw invalid(
      `expected at most ${decimals} decimal places, got ${fraction.length} in "${text.slice(0, 40)}"`, text,
    );
  }
  // The digits are counted first, so that a very long text is never converted.
  const units = /^0*\d{1,20}$/.test(whole) ? BigInt(whole + fraction.padEnd(decimals, '0')) : undefined;
  if (units === undefined || units > U64_MAX) throw invalid(
    `the amount is too large: expected at most ${formatDecimal(U64_MAX, decimals)}, got "${text.slice(0, 40)}"`, text,
  );
  return amount(units);
}

/** Returns the decimal string of an amount: exact, without trailing zeros; the inverse of `parseDecimal`. */
export function formatDecimal(value: bigint, decimals: number): string {
  const sign = value < 0n ? '-' : '';
  const digits = (value < 0n ? -value : value).toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '');
  return sign + (fraction === '' ? whole : `${whole}.${fraction}`);
}

/**
 * Returns a * num / den, rounded as named: floor what we receive, ceil what we owe.
 * Throws RangeError on a zero denominator or a negative operand.
 */
export function mulDiv<T extends bigint>(a: T, num: bigint, den: bigint, rounding: 'floor' | 'ceil'): T {
  if (den <= 0n || a < 0n || num < 0n)
    throw new RangeError(`mulDiv expects a, num >= 0 and den > 0, got ${a}, ${num}, ${den}`);
  const product = a * num;
  return (rounding === 'floor' ? product / den : (product + den - 1n) / den) as T;
}

/**
 * Returns the least output that a slippage tolerance allows, floored as the service does: out * (10000 - bps) / 10000.
 */
export function afterSlippage(out: Amount, slippage: Bps): Amount {
  return mulDiv(out, BigInt(10_000 - slippage), 10_000n, 'floor');
}

function invalid(message: string, found: bigint | number | string): GannetError {
  return new GannetError('AMOUNT_INVALID', message, { details: { found: String(found).slice(0, 64) } });
}
