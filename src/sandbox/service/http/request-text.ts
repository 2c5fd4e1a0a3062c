import type { FastifyInstance } from 'fastify';
import { isGannetError, messageOf } from '../../../core/errors.ts';
import type { Json } from '../../../core/json.ts';
import { parseJson } from '../../../core/json.ts';
import { printable } from '../../../core/text.ts';
import { RequestError, badRequest } from './request-error.ts';

/** The request that has its own rate limit and faults. */
export const EXECUTE = { method: 'POST', path: '/swap/v2/execute' } as const;

/** Escapes of characters that need none: two ways to write one path. */
const NEEDLESS_ESCAPE = /%(?:4[1-9A-F]|5[0-9AF]|6[1-9A-F]|7[0-9AE]|3[0-9]|2[DE])/gi;
const AUTHORITY = /^https?:\/\/[^/?#]*/i;

/**
 * Returns the normal form of a request's target: without the authority that requests to a proxy carry, without a
 * fragment, and with no escape in its path that needs none. Never throws.
 */
export function plainTarget(target: string): string {
  const local = target.replace(AUTHORITY, '').split('#', 1)[0]!;
  const { path, query } = splitTarget(local);
  const plain = path.replaceAll(NEEDLESS_ESCAPE, (escape) => decodeURIComponent(escape));
  return `${plain === '' ? '/' : plain}${query}`;
}

/** Returns a target's path, and its query with the question mark, empty where there is none. */
export function splitTarget(target: string): { readonly path: string; readonly query: string } {
  const end = target.indexOf('?');
  return end < 0 ? { path: target, query: '' } : { path: target.slice(0, end), query: target.slice(end) };
}

/** Deeper than any body of the service; most parsers of services accept no more. */
const MOST_LEVELS = 64;
/** The tokens of a valid JSON text. */
const PARTS = /"(?:[^"\\]|\\.)*"|[{}[\],:]|-?\d[\d.eE+-]*/g;
/** The endpoints that answer 422 to malformed JSON and to invalid members, with different texts. */
const UNPROCESSABLE: ReadonlySet<string> = new Set(['/swap/v1/swap', '/swap/v1/swap-instructions']);

/**
 * Lets an application take JSON bodies alone: exact, with integers beyond 2^53 as bigint. Every other type of content
 * is a 415.
 */
export function acceptJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    try {
      done(null, readJson(body as Buffer));
    } catch (error) {
      const status = UNPROCESSABLE.has(request.url.split('?', 1)[0]!) ? 422 : 400;
      done(new RequestError(status, { error: printable(messageOf(error)) }));
    }
  });
}

/**
 * Returns the value of a body. Throws an error with the reason: no UTF-8, no JSON, too deep, a duplicate member
 * (parsers differ in which one they keep), a number beyond a double.
 */
function readJson(body: Uint8Array): Json {
  if (body.length === 0) throw new RangeError('the body: expected JSON, got nothing');
  const text = decode(body);
  try {
    JSON.parse(text);
  } catch (error) {
    throw new RangeError(`the body: ${messageOf(error)}`, { cause: error });
  }
  requireSaneMembers(text);
  try {
    return parseJson(text);
  } catch (error) {
    if (!isGannetError(error)) throw error;
    throw new RangeError('the body: expected JSON', { cause: error });
  }
}

function decode(body: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch (cause) {
    throw new RangeError('the body: expected UTF-8', { cause });
  }
}

function requireSaneMembers(text: string): void {
  /** The names of each open object; undefined for an open array. */
  const open: (Set<string> | undefined)[] = [];
  let previous = '';
  for (const [part] of text.matchAll(PARTS)) {
    if (part === '{' || part === '[') {
      open.push(part === '{' ? new Set() : undefined);
      if (open.length > MOST_LEVELS)
        throw new RangeError(`the body: expected at most ${MOST_LEVELS} levels of nesting`);
    } else if (part === '}' || part === ']') {
      open.pop();
    } else if (part === ':') {
      addName(open.at(-1)!, JSON.parse(previous) as string);
    } else if (part !== ',' && !part.startsWith('"') && !Number.isFinite(Number(part))) {
      throw new RangeError(`the body: the number ${part.slice(0, 20)} is too large`);
    }
    previous = part;
  }
}

function addName(names: Set<string>, name: string): void {
  if (name === '__proto__') throw new RangeError('the body: a member may not be called "__proto__"');
  if (names.has(name)) throw new RangeError(`the body: the member "${name.slice(0, 40)}" stands there twice`);
  names.add(name);
}

/** The parameters of a request by name; a repeated name has all its values. */
export type Query = Readonly<Record<string, string | readonly string[]>>;

/**
 * Returns the parameters of a URL's query, in form encoding: `+` is a space, the rest percent-encoded UTF-8. Throws a
 * RequestError (400) on an invalid encoding.
 */
export function parseQuery(text: string): Query {
  const values = new Map<string, string[]>();
  for (const pair of text.split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decoded(equals < 0 ? pair : pair.slice(0, equals));
    const value = equals < 0 ? '' : decoded(pair.slice(equals + 1));
    const known = values.get(name);
    if (known === undefined) values.set(name, [value]);
    else known.push(value);
  }
  return queryOf([...values]);
}

/**
 * Returns the same parameters under other names and with other values; those that get the same name become several
 * values.
 */
export function mapQuery(
  query: Query, change: (name: string, value: string) => readonly [name: string, value: string],
): Query {
  const values = new Map<string, string[]>();
  for (const [name, found] of Object.entries(query)) {
    for (const value of [found].flat()) {
      const [newName, newValue] = change(name, value);
      values.set(newName, [...(values.get(newName) ?? []), newValue]);
    }
  }
  return queryOf([...values]);
}

/** Without a prototype: a parameter may be called anything. */
function queryOf(entries: readonly (readonly [string, readonly string[]])[]): Query {
  const query = Object.create(null) as Record<string, string | readonly string[]>;
  for (const [name, values] of entries) query[name] = values.length === 1 ? values[0]! : values;
  return query;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw badRequest('the query: expected percent-encoded UTF-8');
  }
}
