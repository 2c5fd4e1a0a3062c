import { U64_MAX } from '../../../core/amount.ts';
import { printable } from '../../../core/text.ts';
import { isAddress } from '../../chain/addresses.ts';
import { RequestError } from '../request-error.ts';

/**
 * Reads the members of a JSON body; null is as good as nothing. Every method throws a RequestError (422) that names the
 * member.
 */
export interface Body {
  address(name: string): string;
  optionalAddress(name: string): string | undefined;
  optionalBoolean(name: string): boolean | undefined;
  /** Returns a whole number of 0 to `max`, 2^64 - 1 unless said otherwise. */
  optionalInteger(name: string, max?: bigint): bigint | undefined;
  object(name: string): object;
  value(name: string): unknown;
  /** Returns the members of an object within. */
  within(name: string): Body;
  readonly names: readonly string[];
}

const MOST_SHOWN = 40;

/**
 * Returns a reader of `source`, whose members are called `path` and their name. Throws a RequestError (422) where it is
 * no object.
 */
export function readBody(source: unknown, path = ''): Body {
  if (typeof source !== 'object' || source === null || Array.isArray(source))
    throw unprocessable(`${path === '' ? 'the body' : path}: expected an object`);
  const members = new Map<string, unknown>(Object.entries(source));
  const nameOf = (name: string): string => (path === '' ? name : `${path}.${name}`);
  const value = (name: string): unknown => members.get(name) ?? undefined;

  const optionalAddress = (name: string): string | undefined => {
    const found = value(name);
    if (found === undefined) return undefined;
    if (typeof found !== 'string' || !isAddress(found)) throw unexpected(nameOf(name), 'a base58 address', found);
    return found;
  };
  const optionalInteger = (name: string, max = U64_MAX): bigint | undefined => {
    const found = value(name);
    if (found === undefined) return undefined;
    const number = wholeNumber(found);
    if (number === undefined || number < 0n || number > max)
      throw unexpected(nameOf(name), `a whole number of 0 to ${max}`, found);
    return number;
  };

  return {
    optionalAddress,
    address: (name) => required(nameOf(name), optionalAddress(name)),
    optionalBoolean(name) {
      const found = value(name);
      if (found === undefined || typeof found === 'boolean') return found;
      throw unexpected(nameOf(name), 'true or false', found);
    },
    optionalInteger,
    object(name) {
      const found = required(nameOf(name), value(name));
      if (typeof found !== 'object' || found === null || Array.isArray(found))
        throw unexpected(nameOf(name), 'an object', found);
      return found;
    },
    value,
    within: (name) => readBody(value(name), nameOf(name)),
    names: [...members.keys()],
  };
}

/** Returns the refusal of a body that is JSON and does not say what it must. */
export function unprocessable(error: string): RequestError {
  return new RequestError(422, { error });
}

/** Returns the refusal of one member. */
export function unexpected(name: string, expected: string, found: unknown): RequestError {
  return unprocessable(`${name}: expected ${expected}, got ${shown(found)}`);
}

function shown(found: unknown): string {
  if (typeof found === 'string') return `"${printable(found, MOST_SHOWN)}"`;
  const isPlain = typeof found === 'number' || typeof found === 'bigint' || typeof found === 'boolean';
  return isPlain ? String(found) : `another ${Array.isArray(found) ? 'list' : typeof found}`;
}

function wholeNumber(value: unknown): bigint | undefined {
  if (typeof value === 'bigint') return value;
  return typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : undefined;
}

function required<Value>(name: string, value: Value | undefined): Value {
  if (value === undefined) throw unprocessable(`${name}: missing, it is required`);
  return value;
}
