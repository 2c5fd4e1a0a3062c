import { formatDecimal } from '../../core/amount.ts';
import { groupThousands, pluralize, printable } from '../../core/text.ts';
import type { Millis } from '../../core/time.ts';

const USD_DECIMALS = 6;

/**
 * Returns a US dollar figure of statistics: prices keep six digits, large sums lose their cents. Empty
 * when undefined.
 */
export function usd(value: number | undefined): string {
  if (value === undefined) return '';
  const size = Math.abs(value);
  if (size >= 1_000) return `${value < 0 ? '-' : ''}$${groupThousands(Math.round(size).toString())}`;
  return `${value < 0 ? '-' : ''}$${size === 0 ? '0' : plain(size)}`;
}

/** Returns millionths of a dollar as dollars: "$1.25". Empty when undefined. */
export function microUsd(value: bigint | undefined): string {
  if (value === undefined) return '';
  const [whole = '', places = ''] = formatDecimal(value < 0n ? -value : value, USD_DECIMALS).split('.');
  return `${value < 0n ? '-' : ''}$${groupThousands(whole)}.${places.padEnd(2, '0')}`;
}

/** Returns a percentage with two decimals: "12.50 %". Empty when undefined. */
export function percent(value: number | undefined): string {
  return value === undefined ? '' : `${value.toFixed(2)} %`;
}

/** Returns a whole number with thousands separators: "3,912,440". Empty when undefined. */
export function count(value: number | bigint | undefined): string {
  return value === undefined ? ''
    : groupThousands(typeof value === 'bigint' ? value.toString() : Math.round(value).toString());
}

/** Returns an instant to the minute, in UTC: "2026-11-21 19:31". Empty when undefined. */
export function instant(at: Millis | undefined): string {
  return clockTime(at).slice(0, 16);
}

/** Returns an instant to the second, in UTC: "2026-11-21 19:31:07". Empty when undefined. */
export function clockTime(at: Millis | undefined): string {
  return isInstant(at) ? new Date(at).toISOString().slice(0, 19).replace('T', ' ') : '';
}

function isInstant(at: Millis | undefined): at is Millis {
  return at !== undefined && Number.isFinite(at) && Math.abs(at) <= 8.64e15;
}

/** Returns both ends of an address that is shown in full elsewhere: "So11…1112". */
export function shortened(address: string): string {
  return address.length <= 12 ? printable(address)
    : `${printable(address.slice(0, 4))}…${printable(address.slice(-4))}`;
}

/** Six significant digits without an exponent. */
function plain(size: number): string {
  const places = Math.min(20, Math.max(2, 5 - Math.floor(Math.log10(size))));
  return size.toFixed(places);
}

/** Returns a size as text: "840 bytes", "2.7 kB", "40.4 MB", in powers of a thousand. */
export function bytesText(bytes: number): string {
  if (bytes < 1_000) return pluralize(bytes, 'byte');
  const step = Math.min(3, Math.floor(Math.log10(bytes) / 3));
  return `${(bytes / 1_000 ** step).toFixed(1)} ${['', 'kB', 'MB', 'GB'][step]!}`;
}
