import type { z } from 'zod';
import { GannetError, isGannetError } from '../../core/errors.ts';
import type { Json } from '../../core/json.ts';
import { printable } from '../../core/text.ts';

/**
 * Returns an answer as its schema reads it; members it does not name are left out. Throws SERVICE_MALFORMED naming the
 * member.
 */
export function readWire<T extends z.ZodType>(schema: T, answer: unknown, what: string): z.output<T> {
  const parsed = schema.safeParse(answer);
  if (parsed.success) return parsed.data;
  const { path, message } = parsed.error.issues[0]!;
  const member = path.join('.');
  throw malformed(`${member === '' ? what : `${what}, ${member}`}: ${message}`, memberAt(answer, path));
}

/** Returns the fault of an invalid answer. */
export function malformed(expected: string, found: unknown): GannetError {
  return new GannetError('SERVICE_MALFORMED', `${expected}, got ${describe(found)}`);
}

function memberAt(answer: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, key) =>
      (typeof value === 'object' && value !== null ? (value as Record<PropertyKey, unknown>)[key] : undefined),
    answer,
  );
}

function describe(found: unknown): string {
  if (found === undefined) return 'nothing';
  if (found === null) return 'null';
  if (Array.isArray(found)) return `a list of ${found.length}`;
  if (typeof found === 'object') return 'an object';
  if (typeof found === 'string') return `"${printable(found, 60)}"`;
  return typeof found === 'bigint' || typeof found === 'number' ? `${found}` : `a ${typeof found}`;
}

/** An answer as its schema reads it. */
interface Shown<T> {
  readonly value: T;
  /** Members that are only shown to people and came in a form that cannot be read; they are left out of the value. */
  readonly unread: readonly string[];
}

/**
 * Returns an answer as `readWire` does, but a member out of `shown` that cannot be read is left out and named: such a
 * member decides nothing, and a new form of it must not make the whole answer unreadable. All members of `shown` are
 * optional in the schema.
 */
export function readShown<T extends z.ZodType>(
  schema: T, answer: unknown, options: { readonly what: string; readonly shown: ReadonlySet<string> },
): Shown<z.output<T>> {
  const parsed = schema.safeParse(answer);
  if (parsed.success) return { value: parsed.data, unread: [] };
  const unread = new Set(parsed.error.issues.map(({ path }) => String(path[0])).filter((member) =>
    options.shown.has(member)));
  if (unread.size === 0 || typeof answer !== 'object' || answer === null)
    return { value: readWire(schema, answer, options.what), unread: [] };
  const rest = Object.fromEntries(Object.entries(answer).filter(([name]) => !unread.has(name)));
  return { value: readWire(schema, rest, options.what), unread: [...unread] };
}

/**
 * An element of an answer that could not be read. Its id is the service's text, hostile until printed through
 * `printable`.
 */
export interface Rejected {
  readonly id: string | undefined;
  readonly message: string;
}

/** The elements of a list, and those that could not be read: one unreadable element does not affect the others. */
export interface Records<T> {
  readonly records: readonly T[];
  readonly rejected: readonly Rejected[];
}

/** How the elements of one kind are read. */
export interface RecordKind<T> {
  /** For messages. */
  readonly what: string;
  /** The member that tells elements apart. */
  readonly idMember: string;
  /** Throws SERVICE_MALFORMED. Reports the parts of the element that it left out. */
  read(element: Json, report: (rejected: Rejected) => void): T;
}

/** As long as the longest id that a record may have: cut ones could not be told apart. */
const MAX_ID_CHARACTERS = 200;
/** The longest list there is, a tag's, has some thousands. */
const MAX_ELEMENTS = 50_000;
/** An answer with more of them is of another form; and each costs a hundred times what a good one does. */
const MAX_REJECTED = 1_000;

/**
 * Returns the elements of a list as records. Throws SERVICE_MALFORMED unless it is a list, of a length that can be, and
 * mostly readable.
 */
export function readRecords<T>(kind: RecordKind<T>, list: Json | undefined): Records<T> {
  if (!Array.isArray(list) || list.length > MAX_ELEMENTS)
    throw malformed(`${kind.what}: expected a list of at most ${MAX_ELEMENTS}`, list);
  const records: T[] = [];
  const rejected: Rejected[] = [];
  const reject = (part: Rejected): void => {
    if (rejected.length === MAX_REJECTED) throw new UnreadableList(`${kind.what}: expected elements that can be read, `
      + `more than ${MAX_REJECTED} cannot; the first: ${rejected[0]!.message}`);
    rejected.push(part);
  };
  for (const element of list as readonly Json[]) {
    try {
      records.push(kind.read(element, reject));
    } catch (thrown) {
      if (thrown instanceof UnreadableList || !isGannetError(thrown) || thrown.code !== 'SERVICE_MALFORMED')
        throw thrown;
      reject({ id: idOf(kind.idMember, element), message: thrown.message });
    }
  }
  return { records, rejected };
}

/** Applies to a list within an element too, since otherwise each element could cost as much again. */
class UnreadableList extends GannetError {
  constructor(message: string) {
    super('SERVICE_MALFORMED', message);
  }
}

/** Returns the id of an element, cut at 200 characters; undefined where it has none. */
export function idOf(member: string, element: Json): string | undefined {
  const id = membersOf(element)[member];
  return typeof id === 'string' || typeof id === 'number' || typeof id === 'bigint'
    ? String(id).slice(0, MAX_ID_CHARACTERS) : undefined;
}

/** Returns the members of an object, none of anything else. */
export function membersOf(value: Json | undefined): { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as { readonly [key: string]: Json }) : {};
}

/** Returns several answers as one. */
export function joined<T>(answers: readonly Records<T>[]): Records<T> {
  return { records: answers.flatMap(({ records }) => records), rejected: answers.flatMap(({ rejected }) => rejected) };
}
