import type { z } from 'zod';
import { GannetError, isGannetError, messageOf } from '../core/errors.ts';
import type { Json } from '../core/json.ts';
import { parseJson, stringifyJson } from '../core/json.ts';
import { plainMessage, printable } from '../core/text.ts';
import type { Clock, Millis } from '../core/time.ts';
import { firstIssue, readTransactionError, rpcAnswer } from './rpc-answers.ts';
import { Pool, errors } from 'undici';
import { addressSecrets, createRedaction } from '../core/redaction.ts';

/** Calls methods of one node, each once, and checks the answers. */
export interface RpcClient {
  /**
   * Returns the result of a method, checked against `result`. Throws CHAIN_UNREACHABLE (no answer in time, or the call
   * was aborted), CHAIN_RPC_ERROR (the node refuses), CHAIN_RESPONSE_INVALID (the answer does not fit the request).
   */
  call<Result extends z.ZodType>(
    method: string, params: readonly unknown[], result: Result, given?: { readonly signal: AbortSignal | undefined },
  ): Promise<z.output<Result>>;
  close(): Promise<void>;
}

interface RpcClientOptions {
  readonly transport: RpcTransport;
  readonly clock: Clock;
  /** For messages and logs; never the whole address, which may hold a provider's key. */
  readonly host: string;
  /** For one whole call. */
  readonly timeoutMs?: Millis | undefined;
  /** Aborts all calls under way. */
  readonly signal?: AbortSignal | undefined;
}

interface HttpAnswer {
  readonly status: number;
  readonly body: string;
}

/**
 * Sends one request body to a node and returns its answer, with the key of the node's address redacted; it repeats
 * nothing.
 */
export interface RpcTransport {
  /** Throws CHAIN_UNREACHABLE where no answer came, CHAIN_RESPONSE_INVALID where it is too large. */
  post(body: string, signal: AbortSignal): Promise<HttpAnswer>;
  /** Ends at once; requests under way fail. */
  close(): Promise<void>;
}

interface HttpTransportOptions {
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

/** Returns a client of one node. It never repeats a call by itself: only the caller knows what may be repeated. */
export function createRpcClient(options: RpcClientOptions): RpcClient {
  const { transport, clock, host, timeoutMs = 15_000, signal } = options;
  const answers = createAnswerReader(host);
  const underWay = new Set<AbortController>();
  let lastId = 0;

  // One listener for all calls, not one a call: the signal may live as long as the process.
  signal?.addEventListener('abort', abortAll);

  function abortAll(): void {
    for (const call of underWay) call.abort();
  }

  async function post(method: string, body: string, given?: AbortSignal): Promise<HttpAnswer> {
    const call = new AbortController();
    const abort = (): void => { call.abort(); };
    let timedOut = false;
    const timer = clock.schedule(() => {
      timedOut = true;
      call.abort();
    }, timeoutMs);
    underWay.add(call);
    given?.addEventListener('abort', abort);
    try {
      if (signal?.aborted === true || given?.aborted === true) call.abort();
      return await transport.post(body, call.signal);
    } catch (cause) {
      if (timedOut) throw answers.unreachable(method, `no answer within ${timeoutMs} ms`, { cause });
      if (call.signal.aborted) throw answers.unreachable(method, 'the call was aborted', { cause });
      if (!isGannetError(cause)) throw cause;
      throw new GannetError(cause.code, `${method}: ${cause.message}`, {
        details: { ...cause.details, method }, cause,
      });
    } finally {
      timer.unsubscribe();
      given?.removeEventListener('abort', abort);
      underWay.delete(call);
    }
  }

  return {
    async call(method, params, result, given) {
      lastId += 1;
      const body = stringifyJson({ jsonrpc: '2.0', id: lastId, method, params });
      const call = { id: lastId, method };
      return answers.resultOf(call, await post(method, body, given?.signal), result);
    },
    async close() {
      signal?.removeEventListener('abort', abortAll);
      abortAll();
      await transport.close();
    },
  };
}

interface AnswerReader {
  /** Returns the checked result of a call. Throws CHAIN_UNREACHABLE, CHAIN_RPC_ERROR or CHAIN_RESPONSE_INVALID. */
  resultOf<Result extends z.ZodType>(
    call: { readonly id: number; readonly method: string }, response: HttpAnswer, result: Result,
  ): z.output<Result>;
  /** Returns the fault of a call without an answer. */
  unreachable(method: string, what: string, context?: { status?: number; cause?: unknown }): GannetError;
}

function createAnswerReader(host: string): AnswerReader {
  function readAnswer(method: string, response: HttpAnswer): RpcAnswer {
    const answer = rpcAnswer.safeParse(parseBody(method, response));
    if (answer.success) return answer.data;
    // The error page of a proxy is no answer of the node.
    if (response.status !== 200) throw unreachable(method, `HTTP status ${response.status}`, response);
    throw responseInvalid(method, firstIssue(answer.error));
  }

  function parseBody(method: string, response: HttpAnswer): Json {
    try {
      return parseJson(response.body);
    } catch (cause) {
      if (response.status !== 200) throw unreachable(method, `HTTP status ${response.status}`, response);
      throw responseInvalid(method, 'expected JSON', { cause });
    }
  }

  function rpcError(method: string, error: NonNullable<RpcAnswer['error']>): GannetError {
    const rpcMessage = plainMessage(error.message);
    const transactionErrorCode = readTransactionError(error.data?.err)?.code;
    const message = `${method}: RPC ${host} answered with error ${error.code}: ${rpcMessage}`;
    return new GannetError('CHAIN_RPC_ERROR', message, {
      details: { host, method, rpcCode: error.code, rpcMessage, transactionErrorCode },
    });
  }

  function unreachable(method: string, what: string, context: { status?: number; cause?: unknown } = {}): GannetError {
    return new GannetError('CHAIN_UNREACHABLE', `${method}: RPC ${host}: ${what}`, {
      details: { host, method, status: context.status },
      cause: context.cause,
    });
  }

  function responseInvalid(method: string, what: string, context: { cause?: unknown } = {}): GannetError {
    return new GannetError('CHAIN_RESPONSE_INVALID', `${method}: RPC ${host} gave an invalid answer: ${what}`, {
      details: { host, method },
      cause: context.cause,
    });
  }

  return {
    unreachable,
    resultOf({ id, method }, response, result) {
      const answer = readAnswer(method, response);
      // An error may come without an id: the node could not read the request.
      const isOurs = answer.id === id || (answer.error !== undefined && answer.id === null);
      if (!isOurs) {
        throw responseInvalid(method, `expected the answer to request ${id}, got one to ${shownId(answer.id)}`);
      }
      if (answer.error !== undefined) throw rpcError(method, answer.error);
      if (response.status !== 200) throw unreachable(method, `HTTP status ${response.status}`, response);
      const checked = result.safeParse(answer.result);
      if (!checked.success) throw responseInvalid(method, firstIssue(checked.error));
      return checked.data;
    },
  };
}

type RpcAnswer = z.output<typeof rpcAnswer>;

function shownId(id: unknown): string {
  return printable(String(id), 40);
}

/**
 * Returns a transport over persistent HTTP connections to one node. Throws CONFIG_INVALID on an address that is none.
 */
export function httpTransport(options: HttpTransportOptions): RpcTransport {
  const { connectTimeoutMs = 3_000, headersTimeoutMs = 10_000, bodyTimeoutMs = 10_000 } = options;
  const { maxResponseBytes = 16 * 1024 * 1024, connections = 8 } = options;
  const url = parseRpcUrl(options.rpcUrl);
  const path = url.pathname + url.search;
  /** A node that repeats the provider's key must not carry it into messages, logs, journal or recordings. */
  const withoutKey = createRedaction(addressSecrets(options.rpcUrl), '[RPC key]');
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
    throw new GannetError(
      'CONFIG_INVALID', 'rpc_url: expected an http or https address such as "http://127.0.0.1:8899"',
    );
  }
  if (url.username !== '' || url.password !== '') {
    throw new GannetError('CONFIG_INVALID', 'rpc_url: expected an address without user name and password');
  }
  return url;
}
