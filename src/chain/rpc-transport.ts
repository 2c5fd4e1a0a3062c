import { Pool, errors } from 'undici';
import { GannetError, messageOf } from '../core/errors.ts';
import { addressSecrets, createBlotter } from '../core/secret-text.ts';
import { printable } from '../core/text.ts';
import type { Millis } from '../core/time.ts';

export interface HttpAnswer {
  readonly status: number;
  readonly body: string;
}

/** Carries one request body to a node and its answer back, without the key of the node's address; nothing is ever sent twice. */
export interface RpcTransport {
  /** Throws CHAIN_UNREACHABLE where no answer came, CHAIN_RESPONSE_INVALID where it is too large. */
  post(body: string, signal: AbortSignal): Promise<HttpAnswer>;
  /** Ends at once; requests under way fail. */
  close(): Promise<void>;
}

export interface HttpTransportOptions {
  /** http or https; may hold a provider's key in path or query, so messages show its host only. */
  readonly rpcUrl: string;
  readonly connectTimeoutMs?: Millis | undefined;
  /** From the request to the answer's headers. */
  readonly headersTimeoutMs?: Millis | undefined;
  /** Between two pieces of the body. */
  readonly bodyTimeoutMs?: Millis | undefined;
  readonly maxResponseBytes?: number | undefined;
  /** Requests at the same time; further ones wait. */
  readonly connections?: number | undefined;
}

const USER_AGENT = 'gannet';

/** Returns a transport over kept-alive HTTP connections to one node. Throws CONFIG_INVALID on an address that is none. */
export function httpTransport(options: HttpTransportOptions): RpcTransport {
  const { connectTimeoutMs = 3_000, headersTimeoutMs = 10_000, bodyTimeoutMs = 10_000 } = options;
  const { maxResponseBytes = 16 * 1024 * 1024, connections = 8 } = options;
  const url = parseRpcUrl(options.rpcUrl);
  const path = url.pathname + url.search;
  /** A node that repeats the provider's key must not carry it into messages, logs, journal or recordings. */
  const withoutKey = createBlotter(addressSecrets(options.rpcUrl), '[RPC key]');
  const headers = { 'content-type': 'application/json', accept: 'application/json', 'user-agent': USER_AGENT };
  const pool = new Pool(url.origin, {
    connections,
    connect: { timeout: connectTimeoutMs },
    headersTimeout: headersTimeoutMs,
    bodyTimeout: bodyTimeoutMs,
    maxResponseSize: maxResponseBytes,
  });

  return {
    async post(body, signal) {
      try {
        const response = await pool.request({ method: 'POST', path, headers, body, signal });
        return { status: response.statusCode, body: withoutKey(await response.body.text()) };
      } catch (cause) {
        throw fault(cause, url.host);
      }
    },
    close: () => pool.destroy(),
  };

  function fault(cause: unknown, host: string): GannetError {
    if (cause instanceof errors.ResponseExceededMaxSizeError) {
      const message = `RPC ${host}: expected an answer of at most ${maxResponseBytes} bytes, got more`;
      return new GannetError('CHAIN_RESPONSE_INVALID', message, { details: { host }, cause });
    }
    const reason = printable(withoutKey(messageOf(cause)) || (cause instanceof Error ? cause.name : 'no reason given'));
    const message = `RPC ${host}: no answer (${reason}); check rpc_url and the network`;
    return new GannetError('CHAIN_UNREACHABLE', message, { details: { host }, cause });
  }
}

/** Returns the address of a node. Throws CONFIG_INVALID, without the address: it may hold a provider's key. */
export function parseRpcUrl(text: string): URL {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new GannetError('CONFIG_INVALID', 'rpc_url: expected an http or https address such as "http://127.0.0.1:8899"');
  }
  if (url.username !== '' || url.password !== '') {
    throw new GannetError('CONFIG_INVALID', 'rpc_url: expected an address without user name and password');
  }
  return url;
}
