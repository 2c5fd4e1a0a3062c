import type { FastifyInstance } from 'fastify';
import { parseJson, type Json } from '../../../core/json.ts';
import type { Dialect } from '../../../service/wire/dialect.ts';
import { UNKNOWN_MARK } from '../../../service/wire/dialect.ts';
import { jsonText } from '../../json-text.ts';
import type { Query } from './request-text.ts';
import { mapQuery, splitTarget } from './request-text.ts';

/** Members that hold text for people. */
const TEXTS: ReadonlySet<string> = new Set(['error', 'message', 'errorMessage', 'param']);
const WORDS = new RegExp(`/[\\w.:{}*%/-]+|[A-Za-z_${UNKNOWN_MARK}]\\w*`, 'g');
const MARKS = new RegExp(`${UNKNOWN_MARK}|/${encodeURIComponent(UNKNOWN_MARK)}`, 'g');

/**
 * Returns the target of a request in neutral words; a path that the host of the dialect does not know becomes an
 * unknown one.
 */
export function neutralTarget({ heard }: Dialect, target: string): string {
  const { path, query } = splitTarget(target);
  return `${heard.path(path)}${query}`;
}

/** Translates the requests and answers of an application between neutral names and a dialect, refusals included. */
export function translate(app: FastifyInstance, dialect: Dialect): void {
  const { heard } = dialect;
  app.addHook('onRequest', (request, _reply, done) => {
    request.query = mapQuery(request.query as Query, (name, value) => {
      const neutral = heard.queryName(name);
      return [neutral, heard.queryValue(neutral, value)];
    });
    done();
  });
  app.addHook('preValidation', (request, _reply, done) => {
    if (request.body !== undefined) request.body = heard.json(request.body as Json);
    done();
  });
  app.addHook('onSend', (_request, reply, payload, done) => {
    const isJson = typeof payload === 'string'
      && String(reply.getHeader('content-type')).startsWith('application/json');
    done(null, isJson ? jsonText(spoken(dialect, parseJson(payload))) : payload);
  });
}

/** Returns an answer in the words of a dialect, the sentences in it as well. */
function spoken(dialect: Dialect, answer: Json): Json {
  const wire = dialect.toWire.json(answer);
  if (typeof wire !== 'object' || wire === null || Array.isArray(wire)) return wire;
  return Object.fromEntries(Object.entries(wire).map(([name, value]) =>
    [name, typeof value === 'string' && TEXTS.has(name) ? spokenText(dialect, value) : value]));
}

function spokenText(dialect: Dialect, text: string): string {
  return text.replaceAll(WORDS, (word) => spokenWord(dialect, word)).replaceAll(MARKS, '');
}

function spokenWord({ toWire }: Dialect, word: string): string {
  if (word.startsWith('/')) return toWire.path(word);
  const [member] = Object.keys(toWire.json({ [word]: null }) as object);
  const candidates = [toWire.queryName(word), toWire.router(word), toWire.queryValue('provider', word), member!];
  return candidates.find((candidate) => candidate !== word) ?? word;
}
