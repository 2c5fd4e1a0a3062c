import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { LineCounter, parseDocument } from 'yaml';
import { z } from 'zod';
import { DIALECTS_DIR } from '../../core/code-files.ts';
import { GannetError } from '../../core/errors.ts';
import type { Json } from '../../core/json.ts';
import { nearest } from '../../core/text.ts';

/**
 * The words of one host, and how they translate to the neutral ones that Gannet uses everywhere.
 * A word that it does not list passes unchanged, both ways.
 */
export interface Dialect {
  readonly name: string;
  /** Hosts that are known to speak it, without a port: `host.example`. */
  readonly hosts: readonly string[];
  /** The header in which the host names each request, in small letters; undefined where it is not known. */
  readonly requestIdHeader: string | undefined;
  /** Hosts that speak it and will go or have gone, each with what to do. */
  readonly retiredHosts: ReadonlyMap<string, string>;
  /** What requests cost, and what plans include; undefined where the host counts requests alone. */
  readonly credits: Credits | undefined;
  /** The neutral names of all routers. */
  readonly routers: readonly string[];
  /** The neutral names of all providers of prediction markets. */
  readonly providers: readonly string[];
  /** From neutral words to the host's. */
  readonly toWire: Vocabulary;
  /** From the host's words to neutral ones. */
  readonly fromWire: Vocabulary;
  /** The same as the host itself reads it: a neutral word that the host does not use means nothing to it. */
  readonly heard: Vocabulary;
}

/** What requests cost in a host's credits. */
interface Credits {
  /** By the beginning of a neutral path, the longest that fits; a request of no known path costs one. */
  readonly costs: ReadonlyMap<string, number>;
  /** By the name of a plan, the credits of a month. */
  readonly plans: ReadonlyMap<string, number>;
}

/** The words of one direction of a dialect. What it does not know passes unchanged. */
export interface Vocabulary {
  /** Returns a path from the service's root, its longest known beginning translated. */
  path(path: string): string;
  /** Returns the name of a query parameter. */
  queryName(name: string): string;
  /** Returns a query parameter's value; `name` is the neutral name. Lists of routers are translated one by one. */
  queryValue(name: string, value: string): string;
  /** Returns a router's name. */
  router(router: string): string;
  /** Returns a body or an answer with its member names at any depth, and its routers and providers, translated. */
  json(value: Json): Json;
}

const word = z.string().min(1).max(64);
const path = z.string().regex(/^(?:\/[\w.-]+)+$/, { error: 'expected a path such as "/tokens/v2"' });
const host = z.string().regex(/^[a-z0-9.-]+$/);
const DialectFile = z.strictObject({
  dialect: z.string().regex(/^[a-z0-9-]+$/),
  hosts: z.array(host).default([]),
  retired_hosts: z.record(host, z.string().min(1).max(300)).default({}),
  request_id_header: z.string().regex(/^[a-z0-9-]{1,64}$/, { error: 'expected a header in small letters' }).optional(),
  credits: z.strictObject({
    costs: z.record(path, z.int().nonnegative()),
    plans: z.record(word, z.int().positive()),
  }).optional(),
  routers: z.record(word, z.union([word, z.array(word).min(1)])).default({}),
  providers: z.record(word, word).default({}),
  query: z.record(word, word).default({}),
  fields: z.record(word, word).default({}),
  paths: z.record(path, path).default({}),
  /**
   * The host's swap programs and how their instructions are laid out: for the signer alone, which reads them itself.
   */
  swap_programs: z.array(z.unknown()).default([]),
});

/** Returns the names of all dialects in a directory. */
export function dialectNames(directory = DIALECTS_DIR): string[] {
  return readdirSync(directory).filter((file) => file.endsWith('.yaml'))
    .map((file) => file.slice(0, -'.yaml'.length)).sort();
}

/**
 * Returns the dialect of a name. Throws CONFIG_NOT_FOUND where there is no such file, CONFIG_INVALID where it is no
 * valid dialect.
 */
export function loadDialect(name: string, directory = DIALECTS_DIR): Dialect {
  if (!/^[a-z0-9-]{1,64}$/.test(name)) {
    throw new GannetError(
      'CONFIG_INVALID',
      `service.dialect: expected a name of small letters, digits and dashes, got "${name.slice(0, 60)}"`,
    );
  }
  const file = join(directory, `${name}.yaml`);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    throw new GannetError(
      'CONFIG_NOT_FOUND', `service.dialect: expected the dialect "${name}" in ${file}; "neutral" always exists`,
      { cause },
    );
  }
  return parseDialect(text, file);
}

/** Returns the dialect a YAML text describes. Throws CONFIG_INVALID with file, line and column. */
function parseDialect(text: string, file: string): Dialect {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const [fault] = document.errors;
  if (fault !== undefined) throw invalid(file, lines.linePos(fault.pos[0]), fault.message);
  const parsed = DialectFile.safeParse(document.toJS());
  if (!parsed.success) {
    const issue = parsed.error.issues[0]!;
    throw invalid(file, lines.linePos(offsetOf(document.getIn(issue.path, true))), describe(issue));
  }
  const words = parsed.data;
  for (const section of ['routers', 'providers', 'query', 'fields', 'paths'] as const) {
    const twice = saidTwice(words[section]);
    if (twice !== undefined) {
      throw invalid(file, lines.linePos(offsetOf(document.getIn([section, twice.neutral], true))),
        `${section}.${twice.neutral}: "${twice.wire}" already stands for ${twice.other}, so an answer could not be `
          + 'translated back');
    }
  }
  return {
    name: words.dialect, hosts: words.hosts, requestIdHeader: words.request_id_header,
    retiredHosts: new Map(Object.entries(words.retired_hosts)),
    credits: words.credits === undefined ? undefined : {
      costs: new Map(Object.entries(words.credits.costs)), plans: new Map(Object.entries(words.credits.plans)),
    },
    routers: Object.keys(words.routers),
    providers: Object.keys(words.providers), ...createVocabularies(words),
  };
}

/** Returns the first wire word that two neutral ones share. */
function saidTwice(
  section: Readonly<Record<string, string | readonly string[]>>,
): { neutral: string; wire: string; other: string } | undefined {
  const taken = new Map<string, string>();
  for (const [neutral, said] of Object.entries(section)) {
    for (const wire of [said].flat()) {
      const other = taken.get(wire);
      if (other !== undefined) return { neutral, wire, other };
      taken.set(wire, neutral);
    }
  }
  return undefined;
}

function describe(issue: z.core.$ZodIssue): string {
  const place = issue.path.join('.');
  if (issue.code !== 'unrecognized_keys') return `${place}: ${issue.message}`;
  const [key = ''] = issue.keys;
  const guess = nearest(key, Object.keys(DialectFile.shape));
  return `${place}: unknown key "${key}"${guess === undefined ? '' : `; did you mean "${guess}"?`}`;
}

function offsetOf(node: unknown): number {
  return typeof node === 'object' && node !== null && 'range' in node && Array.isArray(node.range)
    ? Number(node.range[0]) : 0;
}

function invalid(
  file: string, { line, col }: { readonly line: number; readonly col: number }, message: string,
): GannetError {
  return new GannetError(
    'CONFIG_INVALID', `${file}:${line}:${col} ${message.replace(/^: /, '')}`, { details: { file, line, column: col } },
  );
}

/** The words of a host by the neutral ones. Several words for one router are all understood; the first is said. */
interface Words {
  readonly routers: Readonly<Record<string, string | readonly string[]>>;
  readonly providers: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly fields: Readonly<Record<string, string>>;
  readonly paths: Readonly<Record<string, string>>;
}

/** Members, by their neutral names, whose value is a router's name. */
const ROUTER_MEMBERS: ReadonlySet<string> = new Set(['router', 'swapType']);
/** Members and query parameters whose value is a provider's name. */
const PROVIDER = 'provider';
/** Query parameters whose value is a list of routers, with commas. */
const ROUTER_LISTS: ReadonlySet<string> = new Set(['excludeRouters']);

/** Marks an unknown word; no host uses this character. */
export const UNKNOWN_MARK = '\uE000';

/** Returns both directions of a dialect, and how its host itself reads. */
function createVocabularies(
  words: Words,
): { readonly toWire: Vocabulary; readonly fromWire: Vocabulary; readonly heard: Vocabulary } {
  const routers = Object.entries(words.routers).map(([neutral, said]) => [neutral, [said].flat()] as const);
  const fromRouters = routers.flatMap(([neutral, said]) => said.map((wire) => [wire, neutral] as const));
  const [fromProviders, fromQuery, fromFields, fromPaths] =
    [reversed(words.providers), reversed(words.query), reversed(words.fields), reversed(words.paths)];
  return {
    toWire: createVocabulary({
      routers: routers.map(([neutral, [first]]) => [neutral, first!]),
      providers: Object.entries(words.providers), query: Object.entries(words.query),
      fields: Object.entries(words.fields), paths: Object.entries(words.paths),
      isNeutral: true,
    }),
    fromWire: createVocabulary({
      routers: fromRouters, providers: fromProviders, query: fromQuery, fields: fromFields, paths: fromPaths,
      isNeutral: false,
    }),
    heard: createVocabulary({
      routers: withUnknown(fromRouters), providers: withUnknown(fromProviders), query: withUnknown(fromQuery),
      fields: withUnknown(fromFields), paths: withUnknown(fromPaths, '/'), isNeutral: false,
    }),
  };
}

/** Adds to the host's words the neutral words that it does not use, each turned into an unknown word. */
function withUnknown(fromWire: Pairs, prefix = ''): Pairs {
  const wires = new Set(fromWire.map(([wire]) => wire));
  const unused = [...new Set(fromWire.map(([, neutral]) => neutral))].filter((neutral) => !wires.has(neutral));
  const mark = prefix === '' ? UNKNOWN_MARK : `${prefix}${encodeURIComponent(UNKNOWN_MARK)}`;
  return [...fromWire, ...unused.map((neutral) => [neutral, `${mark}${neutral}`] as const)];
}

type Pairs = readonly (readonly [from: string, to: string])[];

function reversed(section: Readonly<Record<string, string>>): Pairs {
  return Object.entries(section).map(([neutral, wire]) => [wire, neutral]);
}

/** Words that stand for themselves are left out, so that the neutral dialect costs nothing. */
function changed(pairs: Pairs): ReadonlyMap<string, string> {
  return new Map(pairs.filter(([from, to]) => from !== to));
}

function createVocabulary(options: {
  readonly routers: Pairs; readonly providers: Pairs; readonly query: Pairs; readonly fields: Pairs;
  readonly paths: Pairs;
  /** Whether the words that come in are the neutral ones. */
  readonly isNeutral: boolean;
}): Vocabulary {
  const routers = changed(options.routers);
  const providers = changed(options.providers);
  const query = changed(options.query);
  const fields = changed(options.fields);
  // The longest first; a beginning that stands for itself shields what a shorter one would change.
  const paths = options.paths.toSorted(([a], [b]) => b.length - a.length);
  const isIdentity = fields.size === 0 && routers.size === 0 && providers.size === 0;

  function member(key: string, value: Json): readonly [string, Json] {
    const name = fields.get(key) ?? key;
    if (typeof value !== 'string') return [name, json(value)];
    const neutral = options.isNeutral ? key : name;
    if (ROUTER_MEMBERS.has(neutral)) return [name, routers.get(value) ?? value];
    return [name, neutral === PROVIDER ? (providers.get(value) ?? value) : value];
  }

  function json(value: Json): Json {
    if (isIdentity || value === null || typeof value !== 'object') return value;
    if (Array.isArray(value)) return (value as readonly Json[]).map(json);
    const members = Object.entries(value as { readonly [key: string]: Json });
    const renamed = members.filter(([key]) => fields.has(key));
    // Last, so that a member that has the name already, which means something else here, does not stand in its place.
    const ordered = renamed.length === 0 ? members : [...members.filter(([key]) => !fields.has(key)), ...renamed];
    return Object.fromEntries(ordered.map(([key, inner]) => member(key, inner)));
  }

  return {
    path(path) {
      const known = paths.find(([from]) => path === from || path.startsWith(`${from}/`));
      return known === undefined ? path : `${known[1]}${path.slice(known[0].length)}`;
    },
    queryName: (name) => query.get(name) ?? name,
    queryValue(name, value) {
      if (ROUTER_LISTS.has(name))
        return value.split(',').map((router) => routers.get(router.trim()) ?? router).join(',');
      return name === PROVIDER ? (providers.get(value) ?? value) : value;
    },
    router: (router) => routers.get(router) ?? router,
    json,
  };
}
