import { isIPv4, isIPv6 } from 'node:net';

/** Returns whether a host is this machine and no other. */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, '').toLowerCase();
  if (isIPv4(bare)) return bare.startsWith('127.');
  return isIPv6(bare) ? bare === '::1' : bare === 'localhost';
}

/**
 * Returns whether `text` names a service: "embedded", https, or http on this machine, where nobody listens in on the
 * API key.
 */
export function isServiceUrl(text: string): boolean {
  if (text === 'embedded') return true;
  const url = parseUrl(text);
  if (url === undefined || url.username !== '' || url.search !== '') return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname));
}

/** Returns whether `text` names an RPC node: "embedded", https or http. */
export function isRpcUrl(text: string): boolean {
  return text === 'embedded' || /^https?:$/.test(parseUrl(text)?.protocol ?? '');
}

/** Returns a URL without what could be secret in it: credentials, path and query. */
export function urlOrigin(text: string): string {
  return text === 'embedded' ? text : parseUrl(text)?.origin ?? '(not shown)';
}

function parseUrl(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}
