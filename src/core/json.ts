import { GannetError, messageOf } from './errors.ts';

/** A parsed JSON value: integers beyond 2^53 are bigint, never rounded. */
export type Json = null | boolean | number | bigint | string | readonly Json[] | { readonly [key: string]: Json };

/** A number of 16 digits or more. The characters before it exclude addresses, which would cause needless slow reads. */
const LONG_NUMBER = /(?:^|[\s:,[])-?\d{16}/;

/**
 * Returns the value of a JSON text, with every integer that a double cannot hold exactly as a bigint.
 * Throws JSON_INVALID on anything that is not one JSON document.
 */
export function parseJson(text: string): Json {
  try {
    // The reviver needs each number's source text; it is slow, so it runs only where a long number is possible.
    return LONG_NUMBER.test(text) ? (JSON.parse(text, reviveLongIntegers) as Json) : (JSON.parse(text) as Json);
  } catch (cause) {
    throw new GannetError(
      'JSON_INVALID', `expected JSON, got ${JSON.stringify(text.slice(0, 60))}: ${messageOf(cause)}`, { cause },
    );
  }
}

function reviveLongIntegers(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  const source = context?.source;
  return source !== undefined && /^-?\d+$/.test(source) ? BigInt(source) : value;
}

/**
 * Returns compact JSON with bigints as decimal strings. Throws TypeError on a value that JSON cannot hold (NaN,
 * functions, cycles).
 */
export function stringifyJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, toJsonValue, indent);
}

function toJsonValue(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'number' && !Number.isFinite(value)) throw new TypeError(`JSON cannot hold the number ${value}`);
  return value;
}

/**
 * Returns the canonical JSON that hashes are made of: keys sorted by code unit, no white space, bigints as strings,
 * undefined members left out. Throws TypeError on a number that is not finite.
 */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'bigint') return `"${value}"`;
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new TypeError(`JSON cannot hold the number ${value}`);
    return JSON.stringify(value);
  }
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item ?? null)).join(',')}]`;
  if (typeof value === 'object') return canonicalObject(value as Readonly<Record<string, unknown>>);
  throw new TypeError(`JSON cannot hold a ${typeof value}`);
}

function canonicalObject(value: Readonly<Record<string, unknown>>): string {
  let text = '';
  for (const key of sorted(Object.keys(value))) {
    const member = value[key];
    if (member !== undefined) text += `${text === '' ? '{' : ','}${quotedKey(key)}:${canonicalJson(member)}`;
  }
  return text === '' ? '{}' : `${text}}`;
}

const QUOTED_KEYS_MAX = 1_000;
const quotedKeys = new Map<string, string>();

/** Every decision has the same few keys, so their JSON is cached; the bound keeps invented keys from filling memory. */
function quotedKey(key: string): string {
  let quoted = quotedKeys.get(key);
  if (quoted === undefined) {
    quoted = JSON.stringify(key);
    if (quotedKeys.size < QUOTED_KEYS_MAX) quotedKeys.set(key, quoted);
  }
  return quoted;
}

/** Insertion sort in place: keys are few and mostly in order, and decisions are hashed by the thousand. */
function sorted(keys: string[]): string[] {
  for (let i = 1; i < keys.length; i++) {
    const key = keys[i]!;
    let j = i;
    for (; j > 0 && keys[j - 1]! > key; j--) keys[j] = keys[j - 1]!;
    keys[j] = key;
  }
  return keys;
}
