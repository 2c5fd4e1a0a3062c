import { printable } from './text.ts';

// Documents: plain data of many forms, kept as one JSON text. What is read back equals what was written, bigints too.

/** The longest text of a document's member; a longer one is cut. */
const TEXT_MAX = 4_000;
/** The longest JSON text of a document, in characters. */
export const DOCUMENT_CHARS_MAX = 1_048_576;

/**
 * Returns a value from outside as a document: texts are made safe to print and bounded, undefined members are left out,
 * and -0 becomes 0. Its JSON text gives an equal value back.
 */
export function documentOf<T>(value: T): T {
  return cleaned(value) as T;
}

function cleaned(value: unknown): unknown {
  if (typeof value === 'string') return printable(value, TEXT_MAX).toWellFormed();
  // Adding 0 turns -0 into 0.
  if (typeof value === 'number') return value + 0;
  if (Array.isArray(value)) return value.map((item: unknown) => cleaned(item) ?? null);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(members.map(([name, member]) => [name, cleaned(member)]));
}

/** Returns the JSON text of a document; a bigint becomes `{"bigint":"…"}`. Throws TypeError on other data. */
export function documentText(value: object): string {
  return JSON.stringify(value, (_key, member: unknown) => {
    if (typeof member === 'bigint') return { bigint: member.toString() };
    if (typeof member === 'number' && !Number.isFinite(member))
      throw new TypeError(`JSON cannot hold the number ${member}`);
    return member;
  });
}

const BIGINT = /^-?\d{1,40}$/;

/** Returns the document in a text that `documentText` wrote. Throws SyntaxError on other texts. */
export function readDocument(text: string): unknown {
  return text.includes('{"bigint":') ? JSON.parse(text, reviveBigint) : JSON.parse(text);
}

function reviveBigint(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const { bigint } = value as { readonly bigint?: unknown };
  return typeof bigint === 'string' && BIGINT.test(bigint) ? BigInt(bigint) : value;
}
