import { groupThousands } from '../core/text.ts';

/** What the numbers of a chart or a column are. */
export interface NumberUnit {
  /** `share`: 0.05 is 5 %. `price` has four significant digits at least, `amount` two decimals from 1 on. */
  readonly kind: 'amount' | 'price' | 'share' | 'ratio' | 'count';
  /** Behind the number, such as "USDC". */
  readonly symbol?: string | undefined;
}

const LARGEST_WHOLE = 1e9;
const LARGEST_NAMED = 1e15;
const NAMES = [[1e12, 'T'], [1e9, 'B']] as const;
const MINUS = '−';

/** Returns a number for people, without its unit, at a length that fits a column. */
export function numberText(value: number, kind: NumberUnit['kind'] = 'amount'): string {
  if (!Number.isFinite(value)) return '–';
  const scaled = kind === 'share' ? value * 100 : value;
  const size = Math.abs(scaled);
  if (size >= LARGEST_NAMED) return signed(scaled, size.toExponential(2).replace('e+', 'e'));
  if (size >= LARGEST_WHOLE) {
    const [unit, name] = NAMES.find(([least]) => size >= least)!;
    return signed(scaled, `${(size / unit).toFixed(2)} ${name}`);
  }
  const fixed = size.toFixed(decimalsOf(size, kind));
  const text = groupThousands(size < 1 ? fixed.replace(/(?<=\.\d{2,})0+$/, '') : fixed);
  // A number that is rounded to nothing has no sign.
  return /[1-9]/.test(text) ? signed(scaled, text) : text;
}

/** Returns a number for people with its unit: "1,204.50 USDC", "−1.20 %". */
export function unitText(value: number, { kind, symbol }: NumberUnit): string {
  const unit = kind === 'share' ? '%' : symbol ?? '';
  return `${numberText(value, kind)}${unit === '' ? '' : ` ${unit}`}`;
}

/** Returns the same with a plus before gains. */
export function changeText(value: number, unit: NumberUnit): string {
  const text = unitText(value, unit);
  return value > 0 && /[1-9]/.test(text) ? `+${text}` : text;
}

/** Returns the exact decimal of a text, in groups of thousands; the text itself where it is no decimal. */
export function exactText(text: string): string {
  return /^-?\d+(?:\.\d+)?$/.test(text) ? groupThousands(text).replace('-', MINUS) : text;
}

function signed(value: number, text: string): string {
  return value < 0 ? `${MINUS}${text}` : text;
}

function decimalsOf(size: number, kind: NumberUnit['kind']): number {
  if (kind === 'count') return 0;
  if (size === 0 || size >= 1_000) return 2;
  if (size >= 1) return kind === 'price' ? Math.max(2, 4 - Math.floor(Math.log10(size)) - 1) : 2;
  if (kind === 'share' || kind === 'ratio') return 2;
  return Math.min(12, 3 - Math.floor(Math.log10(size)));
}
