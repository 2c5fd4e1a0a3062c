/** The request that is counted apart from all others, and has faults of its own. */
export const EXECUTE = { method: 'POST', path: '/swap/v2/execute' } as const;

/** Escapes of characters that need none: two ways to write one path. */
const NEEDLESS_ESCAPE = /%(?:4[1-9A-F]|5[0-9AF]|6[1-9A-F]|7[0-9AE]|3[0-9]|2[DE])/gi;
const AUTHORITY = /^https?:\/\/[^/?#]*/i;

/**
 * Returns a request's target in its one plain form: without the authority that requests to a proxy carry, without a
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
