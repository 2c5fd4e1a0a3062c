import { U64_MAX } from '../../../core/amount.ts';
import { printable } from '../../../core/text.ts';
import { isAddress } from '../../chain/addresses.ts';
import { badRequest } from './request-error.ts';

/**
 * Reads the query of a request by the rules of the reference; every method throws a RequestError (400) that names the
 * parameter. A parameter given twice is refused where it is read, except a list, and so is an empty one. Integers are
 * digits alone: no sign, point, exponent or space; leading zeros are ignored.
 */
export interface Parameters {
  has(name: string): boolean;
  text(name: string, length?: Length): string;
  optionalText(name: string, length?: Length): string | undefined;
  address(name: string): string;
  optionalAddress(name: string): string | undefined;
  /** Returns a token amount of 1 to 2^64 - 1 smallest units. */
  amount(name: string): bigint;
  /** Returns a number of 0 to 2^64 - 1. */
  optionalU64(name: string): bigint | undefined;
  /** Returns the whole part of a number, which may have a fraction; the range applies to the whole number. */
  optionalFloored(name: string, range: { readonly min: bigint; readonly max: bigint }): bigint | undefined;
  integer(name: string, range: Range): number;
  optionalInteger(name: string, range: Range): number | undefined;
  choice<Choice extends string>(name: string, choices: readonly Choice[]): Choice;
  optionalChoice<Choice extends string>(name: string, choices: readonly Choice[]): Choice | undefined;
  optionalBoolean(name: string): boolean | undefined;
  /** Returns the members of a comma-separated list, none of them empty; a parameter given several times is one list. */
  optionalList(name: string): readonly string[] | undefined;
  /** Returns the members of a comma-separated list of addresses, at most `most`. */
  addresses(name: string, most: number): readonly string[];
}

/** How many characters (UTF-16 units) a text may have; `min: 0` lets an empty one in. */
interface Length {
  readonly min?: number;
  readonly max?: number;
}

interface Range {
  readonly min: number;
  readonly max: number;
}

const MAX_SHOWN = 40;
const LONGEST_TEXT = 8_192;
const DIGITS = /^\d{1,20}$/;
const DECIMAL = /^(\d{1,20})(?:\.(\d{1,20}))?$/;
// Characters that no name, title or identifier contains, and that must not reach a log.
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u001f\u007f]/;

/** Returns a reader of the parameters in `source`; unread parameters are ignored, as the service does. */
export function createParameters(source: unknown): Parameters {
  const values = new Map<string, unknown>(typeof source === 'object' && source !== null ? Object.entries(source) : []);

  const optionalText = (name: string, length?: Length): string | undefined =>
    checkedText(name, values.get(name), length);
  const optionalAddress = (name: string): string | undefined => {
    const value = optionalText(name);
    if (value !== undefined && !isAddress(value)) throw unexpected(name, 'a base58 address', value);
    return value;
  };
  const optionalU64 = (name: string, min = 0n): bigint | undefined => {
    const value = optionalText(name);
    if (value === undefined) return undefined;
    const number = DIGITS.test(value) ? BigInt(value) : -1n;
    if (number < min || number > U64_MAX) throw unexpected(name, `an integer of ${min} to ${U64_MAX}`, value);
    return number;
  };
  const optionalInteger = (name: string, { min, max }: Range): number | undefined => {
    const value = optionalText(name);
    if (value === undefined) return undefined;
    const number = DIGITS.test(value) ? Number(value) : Number.NaN;
    if (!(number >= min && number <= max)) throw unexpected(name, `an integer of ${min} to ${max}`, value);
    return number;
  };
  const optionalFloored = (name: string, { min, max }: { min: bigint; max: bigint }): bigint | undefined => {
    const value = optionalText(name);
    if (value === undefined) return undefined;
    const [, digits = '', fraction = ''] = DECIMAL.exec(value) ?? [];
    const whole = digits === '' ? -1n : BigInt(digits);
    const isPastMost = whole > max || (whole === max && /[1-9]/.test(fraction));
    if (whole < min || isPastMost) throw unexpected(name, `a number of ${min} to ${max}`, value);
    return whole;
  };
  const optionalChoice = <Choice extends string>(name: string, choices: readonly Choice[]): Choice | undefined => {
    const value = optionalText(name);
    if (value === undefined) return undefined;
    const choice = choices.find((candidate) => candidate === value);
    if (choice === undefined) throw unexpected(name, `one of ${choices.join(', ')}`, value);
    return choice;
  };
  const optionalList = (name: string): readonly string[] | undefined => {
    const value = values.get(name);
    // A list may come in one parameter with commas, in several of one name, or in both.
    const texts = Array.isArray(value) ? value.map((text: unknown) => checkedText(name, text)!)
      : [optionalText(name)].filter((text) => text !== undefined);
    const items = texts.length === 0 ? undefined
      : texts.flatMap((text) => text.split(',')).map((item) => item.trim());
    if (items?.includes('')) throw badRequest(`${name}: expected names between the commas, got an empty one`);
    return items;
  };

  return {
    has: (name) => values.has(name),
    optionalText,
    text: (name, length) => required(name, optionalText(name, length)),
    optionalAddress,
    address: (name) => required(name, optionalAddress(name)),
    amount: (name) => required(name, optionalU64(name, 1n)),
    optionalU64: (name) => optionalU64(name),
    optionalInteger,
    optionalFloored,
    integer: (name, range) => required(name, optionalInteger(name, range)),
    optionalChoice,
    choice: (name, choices) => required(name, optionalChoice(name, choices)),
    optionalBoolean(name) {
      const value = optionalText(name);
      if (value === undefined) return undefined;
      if (value !== 'true' && value !== 'false') throw unexpected(name, 'true or false', value);
      return value === 'true';
    },
    optionalList,
    addresses(name, most) {
      const items = required(name, optionalList(name));
      if (items.length > most) throw badRequest(`${name}: expected at most ${most} addresses, got ${items.length}`);
      const wrong = items.find((item) => !isAddress(item));
      if (wrong !== undefined) throw unexpected(name, 'base58 addresses between the commas', wrong);
      return items;
    },
  };
}

/** Returns a parameter's text. Throws a RequestError (400) where there are several, or one that no name may have. */
function checkedText(
  name: string, value: unknown, { min = 1, max = LONGEST_TEXT }: Length = {},
): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== 'string') throw badRequest(`${name}: expected one value, got several`);
  if (value === '' && min > 0) throw badRequest(`${name}: expected a value, got an empty one`);
  if (value.length < min || value.length > max)
    throw badRequest(`${name}: expected ${min} to ${max} characters, got ${value.length}`);
  if (CONTROL.test(value)) throw unexpected(name, 'text without control characters', value);
  return value;
}

function required<Value>(name: string, value: Value | undefined): Value {
  if (value === undefined) throw badRequest(`${name}: missing, it is required`);
  return value;
}

function unexpected(name: string, expected: string, found: string): Error {
  return badRequest(`${name}: expected ${expected}, got "${printable(found, MAX_SHOWN)}"`);
}
