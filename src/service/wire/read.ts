import type { z } from 'zod';
import { GannetError, isGannetError } from '../../core/errors.ts';
import type { Json } from '../../core/json.ts';
import { printable } from '../../core/text.ts';
import { isUnread } from './fields.ts';

/** Takes the name of an optional member that could not be read, and was left out: `routePlan.percent` of `order`. */
export type ReportUnread = (member: string, what: string) => void;

/**
 * Returns an answer as its schema reads it; members it does not name are left out, and so are optional ones that cannot
 * be read, which are reported. Throws SERVICE_MALFORMED naming the member where any other cannot be read.
 */
export function readWire<T extends z.ZodType>(
  schema: T, answer: unknown, what: string, unread?: ReportUnread,
): z.output<T> {
  const parsed = schema.safeParse(answer);
  if (parsed.success) return parsed.data;
  const { issues } = parsed.error;
  const fault = issues.find((issue) => !isUnread(issue));
  if (fault !== undefined) {
    const { path, message } = fault;
    const member = path.join('.');
    throw malformed(`${member === '' ? what : `${what}, ${member}`}: ${message}`, memberAt(answer, path));
  }
  const paths = issues.map(({ path }) => path);
  if (unread !== undefined) for (const path of paths) unread(nameOf(path), what);
  return readWire(schema, without(answer, paths), what, unread);
}

/** Returns what `readWire` does, and the names of what it left out, each once. */
export function readNoting<T extends z.ZodType>(
  schema: T, answer: unknown, what: string, report: ReportUnread = () => undefined,
): { readonly value: z.output<T>; readonly unread: readonly string[] } {
  const unread = new Set<string>();
  const value = readWire(schema, answer, what, (member) => {
    unread.add(member);
    report(member, what);
  });
  return { value, unread: [...unread] };
}

/** Places in lists are no part of a name. */
function nameOf(path: readonly PropertyKey[]): string {
  return path.filter((key) => typeof key === 'string').join('.');
}

type Container = Record<PropertyKey, unknown>;

/** Returns an answer without some of its members; what has none of them is shared with it. */
function without(answer: unknown, paths: readonly (readonly PropertyKey[])[]): unknown {
  const copies = new Set<unknown>();
  const copyOf = (container: unknown): Container => {
    const copy = Array.isArray(container) ? [...container as unknown[]] : { ...container as Container };
    copies.add(copy);
    return copy as Container;
  };
  const root = copyOf(answer);
  for (const path of paths) {
    let place = root;
    for (const key of path.slice(0, -1)) {
      if (!copies.has(place[key])) place[key] = copyOf(place[key]);
      place = place[key] as Container;
    }
    place[path.at(-1)!] = undefined;
  }
  return root;
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
  read(element: Json, report: RecordReport): T;
}

/** Takes what was left out of an element. */
export interface RecordReport {
  /** A part that could not be read, by its own id. */
  readonly rejected: (part: Rejected) => void;
  /** An optional member that could not be read. */
  readonly unread: ReportUnread | undefined;
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
export function readRecords<T>(kind: RecordKind<T>, list: Json | undefined, unread?: ReportUnread): Records<T> {
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
      records.push(kind.read(element, { rejected: reject, unread }));
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
