import { U64_MAX } from '../../core/amount.ts';
import { isAddress } from '../chain/addresses.ts';
import { badRequest } from './request-error.ts';

/** Reads the query of a request by the rules of the reference; every method throws a RequestError (400) that names the parameter. */
export interface Parameters {
  has(name: string): boolean;
  text(name: string): string;
  optionalText(name: string): string | undefined;
  address(name: string): string;
  optionalAddress(name: string): string | undefined;
  /** Returns a token amount of 1 to 2^64 - 1 smallest units. */
  amount(name: string): bigint;
  optionalInteger(name: string, range: { min: number; max: number }): number | undefined;
  optionalChoice<Choice extends string>(name: string, choices: readonly Choice[]): Choice | undefined;
  optionalBoolean(name: string): boolean | undefined;
  /** Returns the members of a comma-separated list, none of them empty. */
  optionalList(name: string): readonly string[] | undefined;
}

const MAX_SHOWN = 40;

/** Returns a reader of the parameters in `source`; parameters that nobody reads are ignored, as the service does. */
export function createParameters(source: unknown): Parameters {
  const values = new Map<string, unknown>(typeof source === 'object' && source !== null ? Object.entries(source) : []);

  const optionalText = (name: string): string | undefined => {
    const value = values.get(name);
    if (value === undefined) return undefined;
    if (typeof value !== 'string') throw badRequest(`${name}: expected one value, got several`);
    if (value === '') throw badRequest(`${name}: expected a value, got an empty one`);
    return value;
  };
  const optionalAddress = (name: string): string | undefined => {
    const value = optionalText(name);
    if (value !== undefined && !isAddress(value)) throw unexpected(name, 'a base58 address', value);
    return value;
  };

  return {
    has: (name) => values.has(name),
    optionalText,
    text: (name) => required(name, optionalText(name)),
    optionalAddress,
    address: (name) => required(name, optionalAddress(name)),
    amount(name) {
      const value = required(name, optionalText(name));
      const amount = /^\d{1,20}$/.test(value) ? BigInt(value) : 0n;
      if (amount < 1n || amount > U64_MAX) throw unexpected(name, `an integer of 1 to ${U64_MAX}`, value);
      return amount;
    },
    optionalInteger(name, { min, max }) {
      const value = optionalText(name);
      if (value === undefined) return undefined;
      const number = /^\d{1,16}$/.test(value) ? Number(value) : Number.NaN;
      if (!(number >= min && number <= max)) throw unexpected(name, `an integer of ${min} to ${max}`, value);
      return number;
    },
    optionalChoice(name, choices) {
      const value = optionalText(name);
      if (value === undefined) return undefined;
      const choice = choices.find((candidate) => candidate === value);
      if (choice === undefined) throw unexpected(name, `one of ${choices.join(', ')}`, value);
      return choice;
    },
    optionalBoolean(name) {
      const value = optionalText(name);
      if (value === undefined) return undefined;
      if (value !== 'true' && value !== 'false') throw unexpected(name, 'true or false', value);
      return value === 'true';
    },
    optionalList(name) {
      const items = optionalText(name)?.split(',').map((item) => item.trim());
      if (items?.includes('')) throw badRequest(`${name}: expected names between the commas, got an empty one`);
      return items;
    },
  };
}

function required<Value>(name: string, value: Value | undefined): Value {
  if (value === undefined) throw badRequest(`${name}: missing, it is required`);
  return value;
}

function unexpected(name: string, expected: string, found: string): Error {
  return badRequest(`${name}: expected ${expected}, got "${found.slice(0, MAX_SHOWN)}"`);
}
