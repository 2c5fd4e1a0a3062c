import { isIPv4, isIPv6 } from 'node:net';
import { z } from 'zod';
import { isGannetError } from '../core/errors.ts';
import { parseDuration } from '../core/time.ts';
import { isAddress } from '../solana/addresses.ts';

// What the sections of the file are made of. Descriptions and examples end up in the JSON schema, where editors show
// them.

/** Returns the schema of a duration, kept as its text. */
export const duration = (example: string) => z.string()
  .superRefine((text, context) => {
    const fault = durationFault(text);
    if (fault !== undefined) context.addIssue({ code: 'custom', message: fault });
  })
  .meta({ examples: [example] });

/** Returns the schema of an amount with its token; whether the token is known is found out when it is resolved. */
export const amount = (example: string) => z.string().meta({ examples: [example] });

/** Returns the schema of an address. */
export const address = () => z.string().refine(isAddress, { message: 'expected a base58 address of 32 bytes' });

/** Returns the schema of basis points. */
export const bps = () => z.int().min(0).max(10_000);

/** Returns whether a text is a duration. */
export function isDuration(text: string): boolean {
  return durationFault(text) === undefined;
}

function durationFault(text: string): string | undefined {
  try {
    parseDuration(text);
    return undefined;
  } catch (error) {
    if (isGannetError(error)) return error.message;
    throw error;
  }
}

/** Returns whether a host is this machine and no other. */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, '').toLowerCase();
  if (isIPv4(bare)) return bare.startsWith('127.');
  return isIPv6(bare) ? bare === '::1' : bare === 'localhost';
}

/**
 * Returns whether `text` names a service: "embedded", https, or http on this machine, where no other host can
 * read the API key.
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

/** Returns whether a text is the address of a websocket. */
export function isWebsocketUrl(text: string): boolean {
  // No websocket has a fragment: an address with one cannot be opened.
  return /^wss?:$/.test(parseUrl(text)?.protocol ?? '') && !text.includes('#');
}

/** Returns a URL without what could be secret in it: credentials, path and query. */
export function urlOrigin(text: string): string {
  return text === 'embedded' ? text : parseUrl(text)?.origin ?? '(not shown)';
}

function parseUrl(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}

/** A name under which others reach the control API: of at least two parts, without a port. */
export const HOST_NAME = /^(?=.{1,253}$)[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?(?:\.[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?)+$/i;
/** An address of a page of its own: no path, no user. */
export const PUBLIC_URL = /^https:\/\/[a-z\d][a-z\d.-]{0,252}(?::\d{1,5})?$/i;
