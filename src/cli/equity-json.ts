import type { Token } from '../market/token.ts';

/** Returns what equity began with and came to, for scripts; null where nothing could be valued. */
export function equityJson(values: readonly number[], currency: Token): unknown {
  const text = (value: number | undefined): string | null => (value === undefined ? null : currencyText(value, currency));
  return { start: text(values[0]), end: text(values.at(-1)), currency: currency.symbol };
}

/** Returns a value as amounts are written: all digits that the token has, none beyond the last that is not 0. */
export function currencyText(value: number, { decimals }: Token): string {
  const text = value.toFixed(decimals);
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}
