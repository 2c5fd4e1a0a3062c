import type { Json } from '../../core/json.ts';

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

/** The words of a host by the neutral ones. Several words for one router are all understood; the first is said. */
export interface Words {
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

/** Stands in a word that no one knows; a character that no host uses. */
export const UNKNOWN_MARK = '\uE000';

/** Returns both directions of a dialect, and how its host itself hears. */
export function createVocabularies(
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

/** Adds to the host's words the neutral ones that it does not use, each turned into one that nobody knows. */
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
