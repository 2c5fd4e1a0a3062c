import { grouped } from '../../core/counted.ts';

/**
 * What a number on a page is: decides its unit and its digits. Amounts and prices are of the currency that the page
 * names.
 */
export type ValueKind = 'amount' | 'price' | 'share' | 'ratio' | 'count' | 'bps';

const UNITS: Readonly<Record<ValueKind, string>> =
  { amount: '', price: '', share: ' %', ratio: '', count: '', bps: ' bps' };

/** Returns a number with its unit, as finely as somebody reads it. */
export function valueText(value: number, kind: ValueKind): string {
  const scaled = value * scaleOf(kind);
  const text = fixedText(scaled, decimalsOf(scaled, kind));
  return `${grouped(kind === 'price' || (kind === 'amount' && Math.abs(scaled) < 1) ? withoutZeros(text) : text)}${UNITS[kind]}`;
}

/** Returns a number as fine as it is shown, and no finer: its text is the same. */
export function shownValue(value: number, kind: ValueKind): number {
  const scaled = value * scaleOf(kind);
  return Number(scaled.toFixed(decimalsOf(scaled, kind))) / scaleOf(kind);
}

/** Returns an amount with two decimals, below one with four significant digits at most; nothing at all is "0". */
export function amountText(value: number): string {
  return valueText(value, 'amount');
}

/** Returns a number with so many decimals; what rounds to nothing has no sign. */
export function fixedText(value: number, decimals: number): string {
  const text = value.toFixed(decimals);
  return Number(text) === 0 ? text.replace('-', '') : text;
}

function withoutZeros(text: string): string {
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}

function scaleOf(kind: ValueKind): number {
  return kind === 'share' ? 100 : 1;
}

/** Prices have six significant digits, or more where it takes them for two decimals. */
function decimalsOf(value: number, kind: ValueKind): number {
  if (kind === 'count') return 0;
  if (kind !== 'amount' && kind !== 'price') return 2;
  if (value === 0) return 0;
  const digits = Math.floor(Math.log10(Math.abs(value)));
  if (kind === 'amount') return digits >= 0 ? 2 : Math.min(100, 3 - digits);
  return Math.max(2, Math.min(100, 5 - digits));
}
