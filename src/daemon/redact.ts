import { createBlotter } from '../core/secret-text.ts';

/** Keys whose values are secrets wherever they stand. */
const SECRET_KEY = /api[-_]?key|private[-_]?key|secret|token$|password|authorization|mnemonic|^seed_?phrase$/i;
/** A base58 text of 64 bytes: a secret key (a signature looks the same, and is named where it is meant to be seen). */
const BASE58_64_BYTES = /\b[1-9A-HJ-NP-Za-km-z]{86,88}\b/g;
const KEY_ARRAY = /\[(?:\s*\d{1,3}\s*,){63}\s*\d{1,3}\s*\]/g;
/** Members that hold transaction signatures, which have the very form of a secret key. */
const SIGNATURE_KEY = /signature|^id$|transactionId/;

const HIDDEN = '[redacted]';

/** Returns a function that hides secrets: by the key they stand under, by their form, and by their very text or 16 characters of it. */
export function createRedactor(secrets: readonly string[]): (value: unknown) => unknown {
  const blot = createBlotter(secrets.filter((secret) => secret.length >= 6), HIDDEN);
  const text = (value: string, key: string): string => {
    const shown = blot(value).replace(KEY_ARRAY, HIDDEN);
    return SIGNATURE_KEY.test(key) ? shown : shown.replace(BASE58_64_BYTES, HIDDEN);
  };
  const redact = (value: unknown, key: string, seen: readonly object[]): unknown => {
    if (typeof value === 'string') return SECRET_KEY.test(key) && value !== '' ? HIDDEN : text(value, key);
    if (typeof value === 'bigint') return value.toString();
    if (typeof value !== 'object' || value === null) return value;
    if (seen.includes(value)) return '[circular]';
    const path = [...seen, value];
    if (value instanceof Uint8Array) return `[${value.length} bytes]`;
    if (Array.isArray(value)) {
      const isKey = value.length === 64 && value.every((byte) => Number.isInteger(byte) && byte >= 0 && byte <= 255);
      return isKey ? HIDDEN : value.map((item) => redact(item, key, path));
    }
    // An error's message and cause are not enumerable, and they are what leaks.
    const own = value instanceof Error ? { name: value.name, message: value.message, cause: value.cause } : {};
    const members = { ...own, ...Object.fromEntries(Object.entries(value)) };
    return Object.fromEntries(Object.entries(members).map(([name, member]) => [blot(name), redact(member, name, path)]));
  };
  return (value) => redact(value, '', []);
}
