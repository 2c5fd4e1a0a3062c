import { badRequest } from './request-error.ts';

/** The parameters of a request by name; a name that came several times has them all. */
export type Query = Readonly<Record<string, string | readonly string[]>>;

/**
 * Returns the parameters of a URL's query, in form encoding: `+` is a space, the rest percent-encoded UTF-8.
 * Throws a RequestError (400) on an encoding that says nothing.
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
 * Returns the same parameters under other names and with other values; those that meet under one name become several.
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
