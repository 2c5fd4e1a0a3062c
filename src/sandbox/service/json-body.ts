import type { FastifyInstance } from 'fastify';
import { isGannetError, messageOf } from '../../core/errors.ts';
import { parseJson, type Json } from '../../core/json.ts';
import { printable } from '../../core/text.ts';
import { RequestError } from './request-error.ts';

/** Deeper than any body of the service, and than what most parsers of services accept. */
const MOST_LEVELS = 64;
/** The parts of a text that is known to be JSON. */
const PARTS = /"(?:[^"\\]|\\.)*"|[{}[\],:]|-?\d[\d.eE+-]*/g;
/** Where what is not understood is told apart from what is not even JSON, and both are unprocessable. */
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
 * Returns the value of a body. Throws an error that says what is wrong: no UTF-8, no JSON, too deep, a member twice
 * (of which no two readers keep the same one), a number that no double can hold.
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
