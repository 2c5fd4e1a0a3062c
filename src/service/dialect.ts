import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LineCounter, parseDocument } from 'yaml';
import { z } from 'zod';
import { GannetError } from '../core/errors.ts';
import type { Json } from '../core/json.ts';
import { nearest } from '../core/nearest.ts';

/** Where the dialects that come with the project lie. */
export const DIALECTS_DIRECTORY = fileURLToPath(new URL('../../config/dialects/', import.meta.url));

/**
 * Translates between the neutral words used everywhere in Gannet and the words one host uses on the wire.
 * A word it does not know passes unchanged.
 */
export interface Dialect {
  readonly name: string;
  /** The neutral names of all routers. */
  readonly routers: readonly string[];
  routerToWire(router: string): string;
  routerFromWire(router: string): string;
  providerToWire(provider: string): string;
  providerFromWire(provider: string): string;
  queryToWire(parameter: string): string;
  /** Returns a body with its member names, at any depth, as the host calls them. */
  bodyToWire(body: Json): Json;
  /** Returns an answer with its member names, at any depth, in neutral words. */
  answerFromWire(answer: Json): Json;
}

const word = z.string().min(1).max(64);
const DialectFile = z.strictObject({
  dialect: z.string().regex(/^[a-z0-9-]+$/),
  routers: z.record(word, z.union([word, z.array(word).min(1)])).default({}),
  providers: z.record(word, word).default({}),
  query: z.record(word, word).default({}),
  fields: z.record(word, word).default({}),
});

/** Returns the dialect of a name. Throws CONFIG_NOT_FOUND where there is no such file, CONFIG_INVALID where it says nonsense. */
export function loadDialect(name: string, directory = DIALECTS_DIRECTORY): Dialect {
  if (!/^[a-z0-9-]{1,64}$/.test(name)) {
    throw new GannetError('CONFIG_INVALID', `service.dialect: expected a name of small letters, digits and dashes, got "${name.slice(0, 60)}"`);
  }
  const file = join(directory, `${name}.yaml`);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    throw new GannetError('CONFIG_NOT_FOUND', `service.dialect: expected the dialect "${name}" in ${file}; "neutral" always exists`, { cause });
  }
  return parseDialect(text, file);
}

/** Returns the dialect a YAML text describes. Throws CONFIG_INVALID with file, line and column. */
export function parseDialect(text: string, file: string): Dialect {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const [fault] = document.errors;
  if (fault !== undefined) throw invalid(file, lines.linePos(fault.pos[0]), fault.message);
  const parsed = DialectFile.safeParse(document.toJS());
  if (parsed.success) return createDialect(parsed.data);
  const issue = parsed.error.issues[0]!;
  const node: unknown = document.getIn(issue.path, true);
  const offset = hasRange(node) ? node.range[0] : 0;
  throw invalid(file, lines.linePos(offset), describe(issue));
}

function createDialect(file: z.output<typeof DialectFile>): Dialect {
  const routers = new Map(Object.entries(file.routers).map(([neutral, wire]) => [neutral, [wire].flat()]));
  const neutralRouters = new Map([...routers].flatMap(([neutral, words]) => words.map((wire) => [wire, neutral] as const)));
  const providers = twoWay(file.providers);
  const query = twoWay(file.query);
  const fields = twoWay(file.fields);
  return {
    name: file.dialect,
    routers: [...routers.keys()],
    routerToWire: (router) => routers.get(router)?.[0] ?? router,
    routerFromWire: (router) => neutralRouters.get(router) ?? router,
    providerToWire: (provider) => providers.toWire.get(provider) ?? provider,
    providerFromWire: (provider) => providers.fromWire.get(provider) ?? provider,
    queryToWire: (parameter) => query.toWire.get(parameter) ?? parameter,
    bodyToWire: (body) => renamed(body, fields.toWire),
    answerFromWire: (answer) => renamed(answer, fields.fromWire),
  };
}

type Words = ReadonlyMap<string, string>;

/** Names that stand for themselves are left out, so that the neutral dialect costs nothing. */
function twoWay(words: Readonly<Record<string, string>>): { readonly toWire: Words; readonly fromWire: Words } {
  const changed = Object.entries(words).filter(([neutral, wire]) => neutral !== wire);
  return { toWire: new Map(changed), fromWire: new Map(changed.map(([neutral, wire]) => [wire, neutral])) };
}

function renamed(value: Json, names: Words): Json {
  if (names.size === 0 || value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return (value as readonly Json[]).map((item) => renamed(item, names));
  const members = Object.entries(value as { readonly [key: string]: Json });
  return Object.fromEntries(members.map(([key, member]) => [names.get(key) ?? key, renamed(member, names)]));
}

function describe(issue: z.core.$ZodIssue): string {
  const path = issue.path.join('.');
  if (issue.code !== 'unrecognized_keys') return `${path}: ${issue.message}`;
  const [key = ''] = issue.keys;
  const guess = nearest(key, Object.keys(DialectFile.shape));
  return `${path}: unknown key "${key}"${guess === undefined ? '' : `; did you mean "${guess}"?`}`;
}

function hasRange(node: unknown): node is { readonly range: readonly [number, number, number] } {
  return typeof node === 'object' && node !== null && 'range' in node && Array.isArray(node.range);
}

function invalid(file: string, { line, col }: { readonly line: number; readonly col: number }, message: string): GannetError {
  return new GannetError('CONFIG_INVALID', `${file}:${line}:${col} ${message.replace(/^: /, '')}`, { details: { file, line, column: col } });
}
