import type { z } from 'zod';
import { GannetError, isGannetError } from '../core/errors.ts';
import { parseJson, stringifyJson, type Json } from '../core/json.ts';
import { plainMessage, printable } from '../core/text.ts';
import type { Clock, Millis } from '../core/time.ts';
import { firstIssue, rpcAnswer } from './rpc-answers.ts';
import type { HttpAnswer, RpcTransport } from './rpc-transport.ts';
import { readTransactionError } from './transaction-error.ts';

/** Calls methods of one node, each once, and checks what comes back. */
export interface RpcClient {
  /**
   * Returns the result of a method in the form that `result` describes. Throws CHAIN_UNREACHABLE (no answer, or none
   * in time, or the call was given up), CHAIN_RPC_ERROR (the node says no), CHAIN_RESPONSE_INVALID (an answer, but not to this question).
   */
  call<Result extends z.ZodType>(method: string, params: readonly unknown[], result: Result, given?: { readonly signal: AbortSignal }): Promise<z.output<Result>>;
  close(): Promise<void>;
}

export interface RpcClientOptions {
  readonly transport: RpcTransport;
  readonly clock: Clock;
  /** For people and logs; never the whole address, which may hold a provider's key. */
  readonly host: string;
  /** For one whole call. */
  readonly timeoutMs?: Millis | undefined;
  /** Gives up whatever is under way. */
  readonly signal?: AbortSignal | undefined;
}

/** Returns a client of one node. It never asks twice by itself: what may be repeated is for the caller to know. */
export function createRpcClient(options: RpcClientOptions): RpcClient {
  const { transport, clock, host, timeoutMs = 15_000, signal } = options;
  const underWay = new Set<AbortController>();
  let lastId = 0;

  // One listener for all calls, not one a call: the signal may live as long as the process.
  signal?.addEventListener('abort', giveUp);

  function giveUp(): void {
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
      if (timedOut) throw unreachable(method, `no answer within ${timeoutMs} ms`, { cause });
      if (call.signal.aborted) throw unreachable(method, 'the call was given up', { cause });
      if (!isGannetError(cause)) throw cause;
      throw new GannetError(cause.code, `${method}: ${cause.message}`, { details: { ...cause.details, method }, cause });
    } finally {
      timer.unsubscribe();
      given?.removeEventListener('abort', abort);
      underWay.delete(call);
    }
  }

  return {
    async call(method, params, result, given) {
      lastId += 1;
      const id = lastId;
      const response = await post(method, stringifyJson({ jsonrpc: '2.0', id, method, params }), given?.signal);
      const answer = readAnswer(method, response);
      // An error may come without an id: the node could not read the request.
      const isOurs = answer.id === id || (answer.error !== undefined && answer.id === null);
      if (!isOurs) throw responseInvalid(method, `expected the answer to request ${id}, got one to ${shownId(answer.id)}`);
      if (answer.error !== undefined) throw rpcError(method, answer.error);
      if (response.status !== 200) throw httpStatus(method, response.status);
      const checked = result.safeParse(answer.result);
      if (!checked.success) throw responseInvalid(method, firstIssue(checked.error));
      return checked.data;
    },
    async close() {
      signal?.removeEventListener('abort', giveUp);
      giveUp();
      await transport.close();
    },
  };

  function readAnswer(method: string, response: HttpAnswer): RpcAnswer {
    const answer = rpcAnswer.safeParse(parseBody(method, response));
    if (answer.success) return answer.data;
    // A proxy's error page says nothing of the node: it is as if there had been no answer.
    if (response.status !== 200) throw httpStatus(method, response.status);
    throw responseInvalid(method, firstIssue(answer.error));
  }

  function parseBody(method: string, response: HttpAnswer): Json {
    try {
      return parseJson(response.body);
    } catch (cause) {
      if (response.status !== 200) throw httpStatus(method, response.status);
      throw responseInvalid(method, 'expected JSON', { cause });
    }
  }

  function rpcError(method: string, error: NonNullable<RpcAnswer['error']>): GannetError {
    const rpcMessage = plainMessage(error.message);
    const transactionError = readTransactionError(error.data?.err);
    return new GannetError('CHAIN_RPC_ERROR', `${method}: RPC ${host} answered with error ${error.code}: ${rpcMessage}`, {
      details: { host, method, rpcCode: error.code, rpcMessage, transactionErrorCode: transactionError?.code },
    });
  }

  function httpStatus(method: string, status: number): GannetError {
    return unreachable(method, `HTTP status ${status}`, { status });
  }

  function unreachable(method: string, what: string, context: { status?: number; cause?: unknown } = {}): GannetError {
    return new GannetError('CHAIN_UNREACHABLE', `${method}: RPC ${host}: ${what}`, {
      details: { host, method, status: context.status },
      cause: context.cause,
    });
  }

  function responseInvalid(method: string, what: string, context: { cause?: unknown } = {}): GannetError {
    return new GannetError('CHAIN_RESPONSE_INVALID', `${method}: RPC ${host} gave an answer that makes no sense: ${what}`, {
      details: { host, method },
      cause: context.cause,
    });
  }
}

type RpcAnswer = z.output<typeof rpcAnswer>;

function shownId(id: unknown): string {
  return printable(String(id), 40);
}
