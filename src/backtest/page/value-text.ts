/** What a number on a page is: decides its unit and its digits. An amount is of the currency that the page names. */
export type ValueKind = 'amount' | 'share' | 'ratio' | 'count' | 'bps';

/** Returns a number with its unit, as finely as somebody reads it. */
export function valueText(value: number, kind: ValueKind): string {
  switch (kind) {
    case 'amount': return amountText(value);
    case 'share': return `${fixedText(value * 100, 2)} %`;
    case 'ratio': return fixedText(value, 2);
    case 'count': return String(Math.round(value));
    case 'bps': return `${fixedText(value, 2)} bps`;
  }
}

/** Returns an amount with six significant digits, or more where it takes them for two decimals; without zeros at its end. */
export function amountText(value: number): string {
  const cents = Math.round(value * 100) / 100;
  return String(Math.abs(value) >= 10_000 ? cents : Number(value.toPrecision(6)));
}

/** Returns a number with so many decimals; what rounds to nothing has no sign. */
export function fixedText(value: number, decimals: number): string {
  const text = value.toFixed(decimals);
  return Number(text) === 0 ? text.replace('-', '') : text;
}
