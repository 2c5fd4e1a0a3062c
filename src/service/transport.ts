import type { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { Pool, request } from 'undici';
import { GannetError, isGannetError } from '../core/errors.ts';
import type { Json } from '../core/json.ts';
import { createRedaction } from '../core/secret-text.ts';
import { printable } from '../core/text.ts';
import type { Clock, Millis } from '../core/time.ts';
import { statusFault, transportFault } from './http-error.ts';
import type { Bucket } from './rate/rate-plan.ts';
import { parseBody, readText } from './response-body.ts';
import type { ServerLimits } from './rate/limit-headers.ts';
import { readServerLimits, serverTime } from './rate/limit-headers.ts';

/** How long each part of a request may take. `totalMs` bounds them together, so that a slow drip ends too. */
export interface Timeouts {
  readonly connectMs: Millis;
  readonly headersMs: Millis;
  /** Between two pieces of the body. */
  readonly bodyMs: Millis;
  readonly totalMs: Millis;
  /** For `/execute`, which answers only once the outcome is known; stands for headers, body and total there. */
  readonly executeMs: Millis;
  /** For the body of a failure: its status has said what counts, and must not wait for what does not. */
  readonly errorBodyMs: Millis;
}

export const DEFAULT_TIMEOUTS: Timeouts =
  { connectMs: 5_000, headersMs: 10_000, bodyMs: 10_000, totalMs: 15_000, executeMs: 30_000, errorBodyMs: 2_000 };
const DEFAULT_MAX_BODY_BYTES = 8 * 1024 * 1024;
const MAX_ERROR_BODY_BYTES = 64 * 1024;
/**
 * Connections per bucket; the rate governor lets no more requests out, so none ever waits for a connection. As many as
 * the largest plan needs where answers take 0.4 s.
 */
export const MAX_CONNECTIONS: Readonly<Record<Bucket, number>> = { main: 64, execute: 16 };
// Anything shorter is no key, and blotting it out would damage answers that happen to contain it.
const SHORTEST_SECRET = 8;
/** Some firewalls let nobody in who does not say what it is. */
const USER_AGENT = 'gannet';

export interface HttpRequest {
  readonly bucket: Bucket;
  readonly method: 'GET' | 'POST';
  /** From the root of the service, already encoded. */
  readonly path: string;
  readonly query?: URLSearchParams | undefined;
  /** JSON. */
  readonly body?: string | undefined;
  /** The most bytes its answer may have; the transport's own limit by default. */
  readonly maxBodyBytes?: number | undefined;
}

export interface HttpAnswer {
  readonly json: Json;
  /** The JSON as it came. */
  readonly text: string;
  readonly limits: ServerLimits | undefined;
}

/**
 * Carries one request to the service and its answer back. Sends each request once: whoever asked decides on another.
 */
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
  /** Hears when the service says it is, in whole seconds, and when that came in. */
  readonly onServerTime?: ((serverAt: Millis, receivedAt: Millis) => void) | undefined;
  /** Used for every request and left open; by default each bucket has a pool of its own. */
  readonly dispatcher?: Dispatcher | undefined;
}

/** Returns a transport over HTTP. Throws CONFIG_INVALID on a base address or a key that cannot be used. */
export function createTransport(options: TransportOptions): Transport {
  const { clock, dispatcher, maxBodyBytes = DEFAULT_MAX_BODY_BYTES } = options;
  const baseUrl = parseBaseUrl(options.baseUrl);
  const apiKey = checkedKey(options.apiKey);
  /** A service that repeats the key in an answer, or a part of it, must not carry it into logs, recordings or pages. */
  const withoutKey =
    createRedaction(apiKey === undefined || apiKey.length < SHORTEST_SECRET ? [] : [apiKey], '[API key]');
  const timeouts = { ...DEFAULT_TIMEOUTS, ...options.timeouts };
  // Of its own, so that landing a transaction never waits for a connection that a slow poll holds.
  const pools = dispatcher === undefined ? { main: openPool('main'), execute: openPool('execute') } : undefined;

  function openPool(bucket: Bucket): Pool {
    return new Pool(baseUrl.origin, {
      connections: MAX_CONNECTIONS[bucket], pipelining: 1, connect: { timeout: timeouts.connectMs },
    });
  }

  function timeoutsOf(
    bucket: Bucket,
  ): { readonly headersTimeout: Millis; readonly bodyTimeout: Millis; readonly totalMs: Millis } {
    const { headersMs, bodyMs, totalMs, executeMs } = timeouts;
    return bucket === 'execute'
      ? { headersTimeout: executeMs, bodyTimeout: executeMs, totalMs: executeMs }
      : { headersTimeout: headersMs, bodyTimeout: bodyMs, totalMs };
  }

  async function exchange(
    { bucket, method, path, query, body, ...asked }: HttpRequest, signal: AbortSignal,
  ): Promise<HttpAnswer> {
    const url = `${baseUrl.origin}${baseUrl.pathname.replace(/\/$/, '')}`
      + `${path}${query === undefined ? '' : `?${query.toString()}`}`;
    const { headersTimeout, bodyTimeout } = timeoutsOf(bucket);
    const response = await request(url, {
      dispatcher: dispatcher ?? pools![bucket],
      method,
      headersTimeout,
      bodyTimeout,
      signal,
      headers: {
        accept: 'application/json',
        'user-agent': USER_AGENT,
        // Left out, any encoding would be welcome, and a small answer could unfold into a huge one.
        'accept-encoding': 'identity',
        ...(apiKey === undefined ? {} : { 'x-api-key': apiKey }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body: body ?? null,
    });
    const receivedAt = clock.now();
    const limits = readServerLimits(response.headers, receivedAt);
    const date = serverTime(response.headers['date']);
    if (date !== undefined) options.onServerTime?.(date, receivedAt);
    const contentType = header(response.headers['content-type']);
    const encoding = contentEncoding(header(response.headers['content-encoding']));
    if (response.statusCode < 200 || response.statusCode > 299) {
      const text = encoding === undefined ? await readErrorText(response.body) : discard(response.body);
      throw statusFault({
        status: response.statusCode, text: withoutKey(text), contentType,
        location: header(response.headers['location']), limits, withKey: apiKey !== undefined,
      });
    }
    if (encoding !== undefined) {
      discard(response.body);
      throw new GannetError(
        'SERVICE_MALFORMED',
        `expected an answer as it is, for which it was asked, got one in the encoding "${printable(encoding, 40)}"`,
      );
    }
    const text = withoutKey(await readText(response.body, asked.maxBodyBytes ?? maxBodyBytes));
    return { json: parseBody(text, contentType), text, limits };
  }

  /** The status alone decides what a failure means, so a body that cannot be read, or not soon, takes nothing away. */
  async function readErrorText(body: Readable): Promise<string> {
    const timer = clock.schedule(() => discard(body), timeouts.errorBodyMs);
    try {
      return await readText(body, MAX_ERROR_BODY_BYTES);
    } catch {
      return '';
    } finally {
      timer.unsubscribe();
    }
  }

  function header(value: string | string[] | undefined): string | undefined {
    return value === undefined ? undefined : withoutKey([value].flat().join(', '));
  }

  return {
    async send(asked, signal) {
      const { totalMs } = timeoutsOf(asked.bucket);
      const late = new AbortController();
      const timer = clock.schedule(
        () => late.abort(new GannetError('SERVICE_TIMEOUT', `no complete answer within ${totalMs} ms`)), totalMs,
      );
      try {
        return await exchange(asked, AbortSignal.any([signal, late.signal]));
      } catch (thrown) {
        if (signal.aborted) throw signal.reason;
        // What the answer itself was at fault with says more than that time ran out over it.
        throw transportFault(`${asked.method} ${asked.path}`, late.signal.aborted && !isGannetError(thrown)
          ? late.signal.reason : thrown);
      } finally {
        timer.unsubscribe();
      }
    },

    async close() {
      await Promise.all([pools?.main.destroy(), pools?.execute.destroy()]);
    },
  };
}

/** Takes nothing more of a body; its connection goes with it. Returns the text that is left: none. */
function discard(body: Readable): string {
  body.on('error', () => undefined).destroy();
  return '';
}

/** Returns the encoding of a body, undefined where it is none. */
function contentEncoding(header = ''): string | undefined {
  const encoding = header.trim();
  return encoding === '' || encoding.toLowerCase() === 'identity' ? undefined : encoding;
}

function parseBaseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new GannetError(
      'CONFIG_INVALID', `service.base_url: expected an address such as "https://host", got "${text.slice(0, 80)}"`,
    );
  }
  // Not quoted: what stands there is a secret.
  if (url.username !== '' || url.password !== '' || url.search !== '') {
    throw new GannetError(
      'CONFIG_INVALID',
      'service.base_url: expected an address without user, password and query; the key goes into service.api_key',
    );
  }
  return url;
}

function checkedKey(apiKey: string | undefined): string | undefined {
  if (apiKey === undefined) return undefined;
  // Not quoted either, whatever is wrong with it.
  if (!/^[\u0021-\u007e]{1,512}$/.test(apiKey)) {
    throw new GannetError('CONFIG_INVALID', 'service.api_key: expected 1 to 512 visible ASCII characters without '
      + 'blanks; check the value for line breaks and quotes');
  }
  return apiKey;
}
