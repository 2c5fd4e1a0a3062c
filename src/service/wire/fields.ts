import { z } from 'zod';
import type { Amount, Lamports } from '../../core/amount.ts';
import { U64_MAX } from '../../core/amount.ts';
import type { Millis } from '../../core/time.ts';
import type { Mint } from '../../market/token.ts';
import { ADDRESS_FORM, SIGNATURE_FORM } from '../../solana/addresses.ts';
import { MAX_V1_TRANSACTION_BYTES } from '../../solana/constants.ts';

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** An integer of 0 to 2^64 - 1, written as a number or as digits. */
export const wireU64 = z
  .union([z.string().regex(/^\d{1,20}$/), z.int().nonnegative(), z.bigint()], {
    error: 'expected an integer of 0 to 2^64 - 1',
  })
  .transform((value) => BigInt(value))
  .refine((value) => value >= 0n && value <= U64_MAX, { error: 'expected an integer of 0 to 2^64 - 1' });

/** Smallest units, zero allowed. */
export const wireAmount = wireU64.transform((value) => value as Amount);

export const wireLamports = wireU64.transform((value) => value as Lamports);

/** Smallest units above zero. */
export const wirePositiveAmount = wireAmount.refine((value) => value > 0n, { error: 'expected a positive amount' });

/** A finite number, written as a number or as its text. */
export const wireNumber = z
  .union([z.number(), z.string().regex(/^-?\d{1,30}(\.\d{1,30})?([eE][+-]?\d{1,3})?$/), z.bigint()], {
    error: 'expected a finite number',
  })
  .transform(Number)
  .refine(Number.isFinite, { error: 'expected a finite number' });

/** A whole number that a double holds exactly, written either way. */
export const wireInteger = wireNumber.refine(Number.isSafeInteger, { error: 'expected a whole number' });

/** A public key. */
export const wireAddress = z.string({ error: 'expected a base58 address' })
  .regex(ADDRESS_FORM, { error: 'expected a base58 address' });

export const wireMint = wireAddress.transform((text) => text as Mint);

/** A transaction's signature. */
export const wireSignature = z.string({ error: 'expected a base58 signature' })
  .regex(SIGNATURE_FORM, { error: 'expected a base58 signature' });

/** Text from outside, cut at 200 characters. Not safe to print as it is. */
export const wireText = z.string().transform((text) => cutText(text, 200));

/** An id that goes back as it came, so that it is never cut. */
export const wireId = z.string({ error: 'expected an id' })
  .max(200, { error: 'expected an id of at most 200 characters' });

/** Bytes as base64, at most as many as a transaction has; the length is checked before anything is decoded. */
export const wireBytes = z
  .string({ error: 'expected base64' })
  .max(Math.ceil(MAX_V1_TRANSACTION_BYTES / 3) * 4, {
    error: `expected at most ${MAX_V1_TRANSACTION_BYTES} bytes of base64`,
  })
  .regex(BASE64, { error: 'expected base64' })
  .transform((text) => new Uint8Array(Buffer.from(text, 'base64')))
  .refine((bytes) => bytes.length <= MAX_V1_TRANSACTION_BYTES, {
    error: `expected at most ${MAX_V1_TRANSACTION_BYTES} bytes of base64`,
  });

/** Returns a schema of a list of at most `most` elements; a longer list is refused before any element is read. */
export function wireList<T extends z.ZodType>(element: T, most: number) {
  return z.custom<readonly unknown[]>(
    (list) => Array.isArray(list) && list.length <= most, { error: `expected a list of at most ${most}` },
  ).pipe(z.array(element));
}

/** An instant as Unix seconds, Unix milliseconds or ISO 8601; which of them follows from its form and magnitude. */
export const wireInstant = z.union([z.string(), z.number()], { error: 'expected an instant' })
  .transform((value, context): Millis => {
    const instant = parseInstant(String(value));
    if (!Number.isNaN(instant)) return instant;
    context.issues.push({
      code: 'custom', message: 'expected Unix seconds, Unix milliseconds or ISO 8601', input: value,
    });
    return z.NEVER;
  });

/** Marks the issue of an optional member that cannot be read: the member can be left out. */
const UNREAD = { unread: true } as const;

/** Returns whether an issue is that of an optional member that cannot be read; its path is that member's. */
export function isUnread(issue: z.core.$ZodIssue): boolean {
  return issue.code === 'custom' && issue.params?.['unread'] === true;
}

/**
 * Returns a schema of a member that decides nothing where it is missing. Null and "" are read like a missing one.
 * A value that cannot be read costs the smallest optional member that it stands in: `readWire` leaves that out.
 */
export function optional<T extends z.ZodType>(schema: T) {
  return z.unknown().optional().transform((value, context): z.output<T> | undefined => {
    if (value === undefined || value === null || value === '') return undefined;
    const read = schema.safeParse(value);
    if (read.success) return read.data;
    const { issues } = read.error;
    const unread = issues.every(isUnread) ? issues : [{ path: [], message: issues[0]!.message }];
    for (const { path, message } of unread)
      context.issues.push({ code: 'custom', message, path: [...path], input: value, params: UNREAD });
    return z.NEVER;
  });
}

/**
 * Returns a schema of a member that may be missing or null, but decides something: money, or what is signed, hangs on
 * it. A value that cannot be read makes the whole answer or record unreadable.
 */
export function decisive<T extends z.ZodType>(schema: T) {
  return schema.nullish().transform((value) => value ?? undefined);
}

/** Returns the same for a text, where "" is a missing one too. */
export function decisiveText<T extends z.ZodType>(schema: T) {
  return z.preprocess((value) => (value === '' ? undefined : value), decisive(schema));
}

/** Returns a schema of a list for people, of at most `most` elements: it leaves out an element that cannot be read. */
export function shownList<T extends z.ZodType>(element: T, most: number) {
  return optional(wireList(optional(element), most))
    .transform((list): readonly z.output<T>[] => (list ?? []).filter((each) => each !== undefined));
}

/** A finite number, also as its text. */
export const lenientNumber = optional(wireNumber);

/** Text of at most 200 characters, undefined where there is none. Not safe to print as it is. */
export const lenientText = optional(wireText);

/** Text of at most 4,000 characters: rules, addresses of pictures, what people write. Not safe to print as it is. */
export const lenientProse = optional(z.string().transform((text) => cutText(text, 4_000)));

export const lenientFlag = optional(z.boolean());

/** An instant as seconds, milliseconds or ISO 8601; 0 is none. */
export const lenientInstant = z.preprocess((value) => (value === 0 || value === '0' ? undefined : value),
  optional(wireInstant));

/** At most 100 texts; one of the wrong form is left out. */
export const lenientTexts = optional(z.array(z.unknown())).transform((list): readonly string[] =>
  (list ?? []).filter((text) => typeof text === 'string').slice(0, 100).map((text) => cutText(text, 200)));

/**
 * Returns the beginning of a text. Half a character of two would come back from a file as another one, and no replay
 * could be the same.
 */
export function cutText(text: string, limit: number): string {
  return text.slice(0, limit).toWellFormed();
}

function parseInstant(text: string): Millis {
  if (/^\d+(\.\d+)?$/.test(text)) return epochMs(Number(text));
  // Date.parse takes much that is no ISO text, and reads some of it in the machine's own time zone.
  return /^\d{4}-\d{2}-\d{2}T[\d:.]+(Z|[+-]\d{2}:\d{2})$/.test(text) ? Date.parse(text) : Number.NaN;
}

/** Seconds from 2001 to 2286, milliseconds from the same years, and nothing in between. */
function epochMs(value: number): Millis {
  if (value >= 1e9 && value < 1e10) return Math.floor(value * 1_000);
  if (value >= 1e12 && value < 1e13) return Math.floor(value);
  return Number.NaN;
}
