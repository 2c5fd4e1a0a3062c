import { grouped } from '../../core/counted.ts';

/** So many digits nobody counts. */
const MOST_DIGITS = 12;

/** A number with what stands behind it, exactly as written: 10 s is `{ digits: 10n, places: 0, unit: 's' }`. */
interface Quantity {
  readonly digits: bigint;
  readonly places: number;
  readonly unit: string;
}

/** A range as a file says it: numbers, or texts of a number and a unit such as "10s" and "25 USDC". */
export interface Steps {
  readonly from: number | string;
  readonly to: number | string;
  readonly step: number | string;
}

const QUANTITY = /^(-?)(\d*)(?:\.(\d+))?(?:e([+-]?\d{1,3}))?( *[A-Za-z].*)?$/i;

/**
 * Returns the values of a range in its own notation, `to` included where the steps reach it, or what is wrong with it.
 * Reckoned in whole numbers: a tenth added ten times is one. `most` is how many there may be.
 */
export function valuesOf({ from, to, step }: Steps, most: number): readonly (number | string)[] | string {
  const read = [from, to, step].map(quantityOf);
  const [first, last, distance] = read;
  if (first === undefined || last === undefined || distance === undefined) return 'expected numbers, or texts such as "10s" and "25 USDC", in from, to and step';
  if (first.unit !== last.unit || first.unit !== distance.unit) return `expected one unit in from, to and step, got "${first.unit.trim()}", "${last.unit.trim()}" and "${distance.unit.trim()}"`;
  const places = Math.max(first.places, last.places, distance.places);
  const [low, high, by] = [scaled(first, places), scaled(last, places), scaled(distance, places)];
  if (by <= 0n) return `expected a step above 0, got ${step}`;
  if (low > high) return `expected from to be at most to, got ${from} and ${to}`;
  const count = (high - low) / by + 1n;
  if (count > BigInt(most)) return `expected at most ${grouped(String(most))} values, got ${countText(count)}: take a larger step, or write a nearer "to"`;
  const isNumber = typeof from === 'number';
  return Array.from({ length: Number(count) }, (_, i) => {
    const text = decimalText(low + BigInt(i) * by, places);
    return isNumber ? Number(text) : `${text}${first.unit}`;
  });
}

function countText(count: bigint): string {
  const text = count.toString();
  return text.length <= MOST_DIGITS ? grouped(text) : `about 1e${text.length - 1}`;
}

function quantityOf(value: number | string): Quantity | undefined {
  const match = QUANTITY.exec(String(value).trim());
  if (match === null) return undefined;
  const [, sign = '', whole = '', fraction = '', exponent = '0', unit = ''] = match;
  if (whole + fraction === '') return undefined;
  const places = fraction.length - Number(exponent);
  const digits = BigInt(`${sign}${whole}${fraction}`);
  return places >= 0 ? { digits, places, unit } : { digits: digits * 10n ** BigInt(-places), places: 0, unit };
}

function scaled({ digits, places }: Quantity, to: number): bigint {
  return digits * 10n ** BigInt(to - places);
}

function decimalText(digits: bigint, places: number): string {
  const sign = digits < 0n ? '-' : '';
  const text = (digits < 0n ? -digits : digits).toString().padStart(places + 1, '0');
  const [whole, fraction] = [text.slice(0, text.length - places), text.slice(text.length - places).replace(/0+$/, '')];
  return `${sign}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}
