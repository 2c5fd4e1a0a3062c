import { groupThousands } from '../../core/text.ts';

/** The kind of a displayed number, which decides its unit and digits. Amounts and prices are in the page's currency. */
export type ValueKind = 'amount' | 'price' | 'share' | 'ratio' | 'count' | 'bps';

const UNITS: Readonly<Record<ValueKind, string>> =
  { amount: '', price: '', share: ' %', ratio: '', count: '', bps: ' bps' };

/** Returns a number with its unit, rounded for reading. */
export function valueText(value: number, kind: ValueKind): string {
  const scaled = value * scaleOf(kind);
  const text = fixedText(scaled, decimalsOf(scaled, kind));
  const isShort = kind === 'price' || (kind === 'amount' && Math.abs(scaled) < 1);
  return `${groupThousands(isShort ? withoutZeros(text) : text)}${UNITS[kind]}`;
}

/** Returns an amount with two decimals; below one with at most four significant digits; 0 as "0". */
export function amountText(value: number): string {
  return valueText(value, 'amount');
}

/** Returns a number with so many decimals; a value that rounds to 0 has no sign. */
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

/** Prices have six significant digits, or more if needed for two decimals. */
function decimalsOf(value: number, kind: ValueKind): number {
  if (kind === 'count') return 0;
  if (kind !== 'amount' && kind !== 'price') return 2;
  if (value === 0) return 0;
  const digits = Math.floor(Math.log10(Math.abs(value)));
  if (kind === 'amount') return digits >= 0 ? 2 : Math.min(100, 3 - digits);
  return Math.max(2, Math.min(100, 5 - digits));
}
