import type { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { Pool, request } from 'undici';
import { GannetError, isGannetError } from '../core/errors.ts';
import type { Json } from '../core/json.ts';
import { createRedaction } from '../core/redaction.ts';
import { printable } from '../core/text.ts';
import type { Clock, Millis } from '../core/time.ts';
import { statusFault, transportFault, withRequestId } from './http-error.ts';
import type { ServerLimits } from './rate/limit-headers.ts';
import { readServerLimits, serverTime } from './rate/limit-headers.ts';
import type { Bucket } from './rate/rate-plan.ts';
import { parseBody, readText } from './response-body.ts';

/** How long each part of a request may take. `totalMs` bounds them together, so that a slow drip ends too. */
interface Timeouts {
  readonly connectMs: Millis;
  readonly headersMs: Millis;
  /** Between two pieces of the body. */
  readonly bodyMs: Millis;
  readonly totalMs: Millis;
  /** For `/execute`, which answers only once the outcome is known; stands for headers, body and total there. */
  readonly executeMs: Millis;
  /** For the body of a failure: its status decides, and must not wait for the body. */
  readonly errorBodyMs: Millis;
}

const DEFAULT_TIMEOUTS: Timeouts =
  { connectMs: 5_000, headersMs: 10_000, bodyMs: 10_000, totalMs: 15_000, executeMs: 30_000, errorBodyMs: 2_000 };
const DEFAULT_MAX_BODY_BYTES = 8 * 1024 * 1024;
const MAX_ERROR_BODY_BYTES = 64 * 1024;
/**
 * Connections per bucket; the rate governor lets no more requests out, so none ever waits for a connection. As many as
 * the largest plan needs where answers take 0.4 s.
 */
export const MAX_CONNECTIONS: Readonly<Record<Bucket, number>> = { main: 64, execute: 16 };
// A shorter text is no key, and its redaction would damage answers that happen to contain it.
const SHORTEST_SECRET = 8;
const MAX_REQUEST_ID_CHARACTERS = 100;
/** Some firewalls refuse requests without a user agent. */
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
  /** The id that the host gave to the request, safe to print. */
  readonly requestId?: string | undefined;
}

/** A successful answer as it came, for a record of what a host answers. */
export interface HostAnswer {
  /** In the host's own words. */
  readonly path: string;
  readonly query: URLSearchParams | undefined;
  readonly json: Json;
  readonly limits: ServerLimits | undefined;
  readonly tookMs: Millis;
}

/**
 * Carries one request to the service and its answer back. Sends each request once:
 * the caller decides whether to repeat it.
 */
export interface Transport {
  /**
   * Rejects with SERVICE_UNREACHABLE, SERVICE_TIMEOUT, SERVICE_UNAUTHORIZED, SERVICE_RATE_LIMITED (details: resetInMs),
   * SERVICE_FORBIDDEN, SERVICE_STATUS (details: status, serviceMessage, serviceCode, signature) or SERVICE_MALFORMED.
   * Where an answer had begun, details have its gatewayRequestId.
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
  /** The header in which the host names each request. */
  readonly requestIdHeader?: string | undefined;
  /** Called with the service's own time, in whole seconds, and the time at which that was received. */
  readonly onServerTime?: ((serverAt: Millis, receivedAt: Millis) => void) | undefined;
  /** Called with each successful answer. */
  readonly onAnswer?: ((answer: HostAnswer) => void) | undefined;
  /** Used for every request and left open; by default each bucket has a pool of its own. */
  readonly dispatcher?: Dispatcher | undefined;
}

/** Returns a transport over HTTP. Throws CONFIG_INVALID on a base address or a key that cannot be used. */
export function createTransport(options: TransportOptions): Transport {
  return new HttpTransport(options);
}

/** The parts of a request's time that the HTTP client bounds, and the bound of all together. */
interface RequestTimeouts {
  readonly headersTimeout: Millis;
  readonly bodyTimeout: Millis;
  readonly totalMs: Millis;
}

class HttpTransport implements Transport {
  readonly #options: TransportOptions;
  readonly #baseUrl: URL;
  readonly #apiKey: string | undefined;
  readonly #timeouts: Timeouts;
  /** A service that repeats the key in an answer, or a part of it, must not carry it into logs, recordings or pages. */
  readonly #withoutKey: (text: string) => string;
  // Each bucket has its own pool, so that landing a transaction never waits for a connection that a slow poll holds.
  readonly #pools: Readonly<Record<Bucket, Pool>> | undefined;

  constructor(options: TransportOptions) {
    this.#options = options;
    this.#baseUrl = parseBaseUrl(options.baseUrl);
    const apiKey = checkedKey(options.apiKey);
    this.#apiKey = apiKey;
    this.#withoutKey =
      createRedaction(apiKey === undefined || apiKey.length < SHORTEST_SECRET ? [] : [apiKey], '[API key]');
    this.#timeouts = { ...DEFAULT_TIMEOUTS, ...options.timeouts };
    this.#pools = options.dispatcher === undefined
      ? { main: this.#openPool('main'), execute: this.#openPool('execute') } : undefined;
  }

  async send(asked: HttpRequest, signal: AbortSignal): Promise<HttpAnswer> {
    const { clock, onAnswer } = this.#options;
    const askedAt = clock.now();
    const { totalMs } = this.#timeoutsOf(asked.bucket);
    const late = new AbortController();
    const timer = this.#options.clock.schedule(
      () => late.abort(new GannetError('SERVICE_TIMEOUT', `no complete answer within ${totalMs} ms`)), totalMs,
    );
    let requestId: string | undefined;
    try {
      const response = await this.#request(asked, AbortSignal.any([signal, late.signal]));
      requestId = this.#requestIdOf(response.headers);
      const answer = await this.#read(asked, response);
      const { path, query } = asked;
      onAnswer?.({ path, query, json: answer.json, limits: answer.limits, tookMs: clock.now() - askedAt });
      return { ...answer, requestId };
    } catch (thrown) {
      if (signal.aborted) throw signal.reason;
      // A fault of the answer itself says more than that time ran out over it.
      throw withRequestId(transportFault(`${asked.method} ${asked.path}`, late.signal.aborted && !isGannetError(thrown)
        ? late.signal.reason : thrown), requestId);
    } finally {
      timer.unsubscribe();
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.#pools?.main.destroy(), this.#pools?.execute.destroy()]);
  }

  async #read(asked: HttpRequest, response: Dispatcher.ResponseData): Promise<HttpAnswer> {
    const { clock, onServerTime, maxBodyBytes = DEFAULT_MAX_BODY_BYTES } = this.#options;
    const { statusCode: status, headers, body } = response;
    const receivedAt = clock.now();
    const limits = readServerLimits(headers, receivedAt);
    const date = serverTime(headers['date']);
    if (date !== undefined) onServerTime?.(date, receivedAt);
    const contentType = this.#header(headers['content-type']);
    const encoding = contentEncoding(this.#header(headers['content-encoding']));
    if (status < 200 || status > 299) {
      const text = encoding === undefined ? await this.#readErrorText(body) : discard(body);
      throw statusFault({
        status, text: this.#withoutKey(text), contentType, location: this.#header(headers['location']), limits,
        withKey: this.#apiKey !== undefined,
      });
    }
    if (encoding !== undefined) {
      discard(body);
      throw new GannetError(
        'SERVICE_MALFORMED',
        `expected an answer without encoding, got one in the encoding "${printable(encoding, 40)}"`,
      );
    }
    const text = this.#withoutKey(await readText(body, asked.maxBodyBytes ?? maxBodyBytes));
    const json = parseBody(text, contentType);
    return { json, text, limits };
  }

  #request({ bucket, method, path, query, body }: HttpRequest, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    const { origin, pathname } = this.#baseUrl;
    const url = `${origin}${pathname.replace(/\/$/, '')}${path}${query === undefined ? '' : `?${query.toString()}`}`;
    const { headersTimeout, bodyTimeout } = this.#timeoutsOf(bucket);
    return request(url, {
      dispatcher: this.#options.dispatcher ?? this.#pools![bucket],
      method,
      headersTimeout,
      bodyTimeout,
      signal,
      headers: {
        accept: 'application/json',
        'user-agent': USER_AGENT,
        // Without this header any encoding would be welcome, and a small answer could unfold into a huge one.
        'accept-encoding': 'identity',
        ...(this.#apiKey === undefined ? {} : { 'x-api-key': this.#apiKey }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body: body ?? null,
    });
  }

  #openPool(bucket: Bucket): Pool {
    return new Pool(this.#baseUrl.origin, {
      connections: MAX_CONNECTIONS[bucket], pipelining: 1, connect: { timeout: this.#timeouts.connectMs },
    });
  }

  #timeoutsOf(bucket: Bucket): RequestTimeouts {
    const { headersMs, bodyMs, totalMs, executeMs } = this.#timeouts;
    return bucket === 'execute'
      ? { headersTimeout: executeMs, bodyTimeout: executeMs, totalMs: executeMs }
      : { headersTimeout: headersMs, bodyTimeout: bodyMs, totalMs };
  }

  /** The status alone decides what a failure means, so a body that cannot be read in time is left out. */
  async #readErrorText(body: Readable): Promise<string> {
    const timer = this.#options.clock.schedule(() => discard(body), this.#timeouts.errorBodyMs);
    try {
      return await readText(body, MAX_ERROR_BODY_BYTES);
    } catch {
      return '';
    } finally {
      timer.unsubscribe();
    }
  }

  #requestIdOf(headers: Dispatcher.ResponseData['headers']): string | undefined {
    const { requestIdHeader } = this.#options;
    const id = requestIdHeader === undefined ? undefined : this.#header(headers[requestIdHeader]);
    return id === undefined || id === '' ? undefined : printable(id, MAX_REQUEST_ID_CHARACTERS);
  }

  #header(value: string | string[] | undefined): string | undefined {
    return value === undefined ? undefined : this.#withoutKey([value].flat().join(', '));
  }
}

/** Reads no more of a body and closes its connection. Returns the empty text. */
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
