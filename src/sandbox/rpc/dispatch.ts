import { setImmediate as nextTurn } from 'node:timers/promises';
import { isGannetError, messageOf } from '../../core/errors.ts';
import { parseJson } from '../../core/json.ts';
import { jsonText } from '../json-text.ts';
import type { Params, RpcMethods } from './rpc-params.ts';
import { RPC_CODE, RpcError, shown } from './rpc-params.ts';

/** How many calls one body may carry. */
const MAX_BATCH = 1_000;
/** What the answers of one body may take together: a leader schedule alone takes three megabytes. */
const MAX_ANSWER_LENGTH = 67_108_864;
// A batch of heavy calls must not delay the slots of the chain.
const MAX_TURN_MS = 10;

type RpcId = string | number | bigint | null;

export interface Request {
  /** Undefined: a notification, which gets no answer. */
  id: RpcId | undefined;
  method: string;
  params: Params;
}

/** Returns the answer to a body, or undefined where there is none (notifications alone). Never throws. */
export async function answer(methods: RpcMethods, body: string): Promise<string | undefined> {
  const parsed = parseBody(body);
  if (parsed instanceof RpcError) return jsonText(failure(null, parsed));
  if (!Array.isArray(parsed)) {
    const response = call(methods, parsed);
    return response && jsonText(response);
  }
  if (parsed.length === 0) return jsonText(failure(null, invalidRequest('an empty batch')));
  if (parsed.length > MAX_BATCH)
    return jsonText(failure(null, invalidRequest(`a batch of ${parsed.length} calls, more than ${MAX_BATCH}`)));
  const texts: string[] = [];
  let length = 0;
  let turnStarted = performance.now();
  for (const item of parsed) {
    const response = call(methods, item);
    if (response) {
      const text = jsonText(response);
      length += text.length;
      if (length > MAX_ANSWER_LENGTH)
        return jsonText(failure(null, invalidRequest(`a batch with more than ${MAX_ANSWER_LENGTH} bytes of answers`)));
      texts.push(text);
    }
    if (performance.now() - turnStarted < MAX_TURN_MS) continue;
    await nextTurn();
    turnStarted = performance.now();
  }
  return texts.length === 0 ? undefined : `[${texts.join(',')}]`;
}

/** Returns the JSON value of a body, or the error for it. */
export function parseBody(body: string): unknown {
  try {
    return parseJson(body);
  } catch (error) {
    if (!isGannetError(error)) throw error;
    return new RpcError(RPC_CODE.parseError, 'Parse error');
  }
}

/** Returns the call in a JSON value. Throws RpcError when it is no JSON-RPC 2.0 request. */
export function readRequest(value: unknown): Request {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalidRequest(shown(value));
  const { jsonrpc, id, method, params = [] } = value as Record<string, unknown>;
  if (jsonrpc !== '2.0') throw invalidRequest(`jsonrpc ${shown(jsonrpc)} instead of "2.0"`);
  if (typeof method !== 'string') throw invalidRequest(`method ${shown(method)} instead of a name`);
  if (id !== undefined && !isId(id)) throw invalidRequest(`id ${shown(id)} instead of a string, a number or null`);
  if (params !== null && !Array.isArray(params))
    throw new RpcError(RPC_CODE.invalidParams, `Invalid params: expected an array, got ${shown(params)}`);
  return { id, method, params: params ?? [] };
}

/** Returns the id to answer under, as far as one can be read from anything. */
export function idOf(value: unknown): RpcId {
  const id = typeof value === 'object' && value !== null && 'id' in value ? value.id : null;
  return isId(id) ? id : null;
}

/** Returns the response object of a result. */
export function success(id: RpcId, result: unknown): object {
  return { jsonrpc: '2.0', id, result };
}

/** Returns the response object of a thrown value: internal errors are named as such, without details. */
export function failure(id: RpcId, error: unknown): object {
  if (error instanceof RpcError) {
    return {
      jsonrpc: '2.0', id,
      error: { code: error.code, message: error.message, ...(error.data === undefined ? {} : { data: error.data }) },
    };
  }
  const message = isGannetError(error) ? messageOf(error) : 'Internal error';
  return { jsonrpc: '2.0', id, error: { code: RPC_CODE.internalError, message } };
}

function call(methods: RpcMethods, value: unknown): object | undefined {
  let request: Request;
  try {
    request = readRequest(value);
  } catch (error) {
    return failure(idOf(value), error);
  }
  const response = run(methods, request);
  return request.id === undefined ? undefined : response;
}

function run(methods: RpcMethods, { id = null, method, params }: Request): object {
  const found = Object.hasOwn(methods, method) ? methods[method] : undefined;
  if (!found) return failure(id, new RpcError(RPC_CODE.methodNotFound, 'Method not found'));
  try {
    return success(id, found(params));
  } catch (error) {
    return failure(id, error);
  }
}

function isId(value: unknown): value is RpcId {
  return value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint';
}

function invalidRequest(found: string): RpcError {
  return new RpcError(RPC_CODE.invalidRequest, `Invalid request: expected a JSON-RPC 2.0 call, got ${found}`);
}
