import type { Dispatcher } from 'undici';
import { Pool, request } from 'undici';
import { GannetError } from '../core/errors.ts';
import type { Json } from '../core/json.ts';
import type { Clock, Millis } from '../core/time.ts';
import { statusFault, transportFault } from './http-fault.ts';
import type { Bucket } from './rate-plan.ts';
import { parseBody, readText } from './response-body.ts';
import type { ServerLimits } from './server-limits.ts';
import { readServerLimits } from './server-limits.ts';

/** How long each part of a request may take. `totalMs` bounds them together, so that a slow drip ends too. */
export interface Timeouts {
  readonly connectMs: Millis;
  readonly headersMs: Millis;
  /** Between two pieces of the body. */
  readonly bodyMs: Millis;
  readonly totalMs: Millis;
  /** For `/execute`, which answers only once the outcome is known; stands for headers, body and total there. */
  readonly executeMs: Millis;
}

export const DEFAULT_TIMEOUTS: Timeouts = { connectMs: 5_000, headersMs: 10_000, bodyMs: 10_000, totalMs: 15_000, executeMs: 30_000 };
const DEFAULT_MAX_BODY_BYTES = 8 * 1024 * 1024;
const MAX_ERROR_BODY_BYTES = 64 * 1024;
/** Connections per bucket; the rate governor lets no more requests out, so none ever waits for a connection. */
export const MAX_CONNECTIONS: Readonly<Record<Bucket, number>> = { main: 32, execute: 16 };
// Anything shorter is no key, and blotting it out would damage answers that happen to contain it.
const SHORTEST_SECRET = 8;

export interface HttpRequest {
  readonly bucket: Bucket;
  readonly method: 'GET' | 'POST';
  /** From the root of the service, already encoded. */
  readonly path: string;
  readonly query?: URLSearchParams | undefined;
  /** JSON. */
  readonly body?: string | undefined;
}

export interface HttpAnswer {
  readonly json: Json;
  /** The JSON as it came. */
  readonly text: string;
  readonly limits: ServerLimits | undefined;
}

/** Carries one request to the service and its answer back. Sends each request once: whoever asked decides on another. */
export interface Transport {
  /**
   * Rejects with SERVICE_UNREACHABLE, SERVICE_TIMEOUT, SERVICE_UNAUTHORIZED, SERVICE_RATE_LIMITED (details: resetInMs),
   * SERVICE_STATUS (details: status, serviceMessage, serviceCode, signature) or SERVICE_MALFORMED.
   */
  send(request: HttpRequest, signal: AbortSignal): Promise<HttpAnswer>;
  close(): Promise<void>;
}

export interface TransportOptions {
  /** http or https, with or without a path before the service's own. */
  readonly baseUrl: string;
  /** Absent on a plan without key. Leaves in the x-api-key header only. */
  readonly apiKey?: string | undefined;
  readonly clock: Clock;
  readonly timeouts?: Partial<Timeouts> | undefined;
  readonly maxBodyBytes?: number | undefined;
  /** Used for every request and left open; by default each bucket has a pool of its own. */
  readonly dispatcher?: Dispatcher | undefined;
}

/** Returns a transport over HTTP. Throws CONFIG_INVALID on a base address or a key that cannot be used. */
export function createTransport(options: TransportOptions): Transport {
  const { clock, dispatcher, maxBodyBytes = DEFAULT_MAX_BODY_BYTES } = options;
  const baseUrl = parseBaseUrl(options.baseUrl);
  const apiKey = checkedKey(options.apiKey);
  const timeouts = { ...DEFAULT_TIMEOUTS, ...options.timeouts };
  // Of its own, so that landing a transaction never waits for a connection that a slow poll holds.
  const pools = dispatcher === undefined ? { main: openPool('main'), execute: openPool('execute') } : undefined;

  function openPool(bucket: Bucket): Pool {
    return new Pool(baseUrl.origin, { connections: MAX_CONNECTIONS[bucket], pipelining: 1, connect: { timeout: timeouts.connectMs } });
  }

  function timeoutsOf(bucket: Bucket): { readonly headersTimeout: Millis; readonly bodyTimeout: Millis; readonly totalMs: Millis } {
    const { headersMs, bodyMs, totalMs, executeMs } = timeouts;
    return bucket === 'execute'
      ? { headersTimeout: executeMs, bodyTimeout: executeMs, totalMs: executeMs }
      : { headersTimeout: headersMs, bodyTimeout: bodyMs, totalMs };
  }

  async function exchange({ bucket, method, path, query, body }: HttpRequest, signal: AbortSignal): Promise<HttpAnswer> {
    const url = `${baseUrl.origin}${baseUrl.pathname.replace(/\/$/, '')}${path}${query === undefined ? '' : `?${query.toString()}`}`;
    const { headersTimeout, bodyTimeout } = timeoutsOf(bucket);
    const response = await request(url, {
      dispatcher: dispatcher ?? pools![bucket],
      method,
      headersTimeout,
      bodyTimeout,
      signal,
      headers: {
        accept: 'application/json',
        ...(apiKey === undefined ? {} : { 'x-api-key': apiKey }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body: body ?? null,
    });
    const limits = readServerLimits(response.headers, clock.now());
    const contentType = firstOf(response.headers['content-type']);
    if (response.statusCode < 200 || response.statusCode > 299) {
      const text = await readErrorText(response.body);
      throw statusFault({ status: response.statusCode, text: withoutKey(text), contentType, limits });
    }
    const text = withoutKey(await readText(response.body, maxBodyBytes));
    return { json: parseBody(text, contentType), text, limits };
  }

  /** A service that repeats the key in an answer must not carry it into logs, recordings or pages. */
  function withoutKey(text: string): string {
    return apiKey === undefined || apiKey.length < SHORTEST_SECRET ? text : text.replaceAll(apiKey, '[API key]');
  }

  return {
    async send(asked, signal) {
      const { totalMs } = timeoutsOf(asked.bucket);
      const late = new AbortController();
      const timer = clock.schedule(() => late.abort(new GannetError('SERVICE_TIMEOUT', `no complete answer within ${totalMs} ms`)), totalMs);
      try {
        return await exchange(asked, AbortSignal.any([signal, late.signal]));
      } catch (thrown) {
        if (signal.aborted) throw signal.reason;
        throw transportFault(`${asked.method} ${asked.path}`, late.signal.aborted ? late.signal.reason : thrown);
      } finally {
        timer.unsubscribe();
      }
    },

    async close() {
      await Promise.all([pools?.main.destroy(), pools?.execute.destroy()]);
    },
  };
}

/** The status alone decides what a failure means, so a body that cannot be read takes nothing away. */
async function readErrorText(body: Parameters<typeof readText>[0]): Promise<string> {
  try {
    return await readText(body, MAX_ERROR_BODY_BYTES);
  } catch {
    return '';
  }
}

function firstOf(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' ? header : header?.[0];
}

function parseBaseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new GannetError('CONFIG_INVALID', `service.base_url: expected an address such as "https://host", got "${text.slice(0, 80)}"`);
  }
  // Not quoted: what stands there is a secret.
  if (url.username !== '' || url.password !== '' || url.search !== '') {
    throw new GannetError('CONFIG_INVALID', 'service.base_url: expected an address without user, password and query; the key goes into service.api_key');
  }
  return url;
}

function checkedKey(apiKey: string | undefined): string | undefined {
  if (apiKey === undefined) return undefined;
  // Not quoted either, whatever is wrong with it.
  if (!/^[\u0021-\u007e]{1,512}$/.test(apiKey)) {
    throw new GannetError('CONFIG_INVALID', 'service.api_key: expected 1 to 512 visible ASCII characters without blanks; check the value for line breaks and quotes');
  }
  return apiKey;
}
