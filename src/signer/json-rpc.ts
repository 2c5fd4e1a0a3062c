import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { GannetError, isGannetError, messageOf } from '../core/errors.ts';
import { parseJson, stringifyJson, type Json } from '../core/json.ts';
import { addressSecrets, createRedaction } from '../core/redaction.ts';
import { plainMessage, printable } from '../core/text.ts';
import type { Millis } from '../core/time.ts';

/** Calls one node. */
export interface JsonRpc {
  /**
   * Returns the result of a call. Throws CHAIN_UNREACHABLE, CHAIN_RPC_ERROR or CHAIN_RESPONSE_INVALID, without the
   * node's address or the key in it.
   */
  call(method: string, params: readonly unknown[]): Promise<Json>;
  /** Ends at once; calls under way fail. */
  close(): void;
}

const TIMEOUT_MS: Millis = 5_000;
/** A few times the largest expected answer, the accounts of a simulation. */
const MAX_RESPONSE_BYTES = 4 * 1024 * 1024;
const MAX_SOCKETS = 4;

/**
 * Returns a client of the node at an http or https address. A call that exceeds `timeoutMs` or `maxResponseBytes` is
 * aborted; none is repeated.
 */
export function createJsonRpc(rpcUrl: string, { timeoutMs = TIMEOUT_MS, maxResponseBytes = MAX_RESPONSE_BYTES }: {
  readonly timeoutMs?: Millis | undefined; readonly maxResponseBytes?: number | undefined;
} = {}): JsonRpc {
  const url = new URL(rpcUrl);
  const withoutKey = createRedaction(addressSecrets(rpcUrl), '[RPC key]');
  const isSecure = url.protocol === 'https:';
  const agent = isSecure ? new HttpsAgent({ keepAlive: true, maxSockets: MAX_SOCKETS })
    : new HttpAgent({ keepAlive: true, maxSockets: MAX_SOCKETS });
  const send = isSecure ? httpsRequest : httpRequest;
  let calls = 0;

  /** Redirects are not followed: they are answers without a result. */
  function post(body: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const headers = {
        'content-type': 'application/json', accept: 'application/json', 'content-length': Buffer.byteLength(body),
        'user-agent': 'gannet',
      };
      const outgoing = send(url, { method: 'POST', agent, headers, signal: AbortSignal.timeout(timeoutMs) },
        (answer) => {
          const chunks: Buffer[] = [];
          let bytes = 0;
          answer.on('data', (chunk: Buffer) => {
            bytes += chunk.length;
            if (bytes > maxResponseBytes) outgoing.destroy(
              new GannetError('CHAIN_RESPONSE_INVALID', `the node's answer is longer than ${maxResponseBytes} bytes`),
            );
            else chunks.push(chunk);
          });
          answer.on('error', reject);
          answer.on('end', () => {
            if (answer.statusCode === 200) resolve(withoutKey(Buffer.concat(chunks).toString('utf8')));
            else reject(
              new GannetError('CHAIN_RPC_ERROR', `the node answered with the HTTP status ${String(answer.statusCode)}`),
            );
          });
        });
      outgoing.on('error', reject);
      outgoing.end(body);
    });
  }

  return {
    async call(method, params) {
      const id = ++calls;
      let text: string;
      try {
        text = await post(stringifyJson({ jsonrpc: '2.0', id, method, params }));
      } catch (cause) {
        if (isGannetError(cause)) throw cause;
        const isLate = cause instanceof Error && (cause.name === 'TimeoutError' || cause.name === 'AbortError');
        const reason = isLate ? `no complete answer of the node within ${timeoutMs} ms`
          : `no answer of the node (${printable(withoutKey(codeOf(cause)))})`;
        throw new GannetError('CHAIN_UNREACHABLE', `${method}: ${reason}`);
      }
      return resultOf(text, { id, method });
    },
    close: () => { agent.destroy(); },
  };
}

function resultOf(text: string, { id, method }: { readonly id: number; readonly method: string }): Json {
  let answer: Json;
  try {
    answer = parseJson(text);
  } catch {
    throw invalid(method, 'JSON');
  }
  if (!isRecord(answer) || answer['id'] !== id) throw invalid(method, 'an answer to this call');
  const { error, result } = answer;
  if (isRecord(error)) {
    const { code, message } = error;
    const shownCode = typeof code === 'number' ? code : 'no code';
    const reason = typeof message === 'string' ? plainMessage(message) : 'no reason given';
    throw new GannetError('CHAIN_RPC_ERROR', `${method}: the node refuses (${shownCode}): ${reason}`);
  }
  if (result === undefined) throw invalid(method, 'a result');
  return result;
}

/** Returns whether a value is an object with members. */
export function isRecord(value: Json | undefined): value is { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the fault of an answer without the form that nodes use. */
export function invalid(method: string, expected: string): GannetError {
  return new GannetError('CHAIN_RESPONSE_INVALID', `${method}: expected ${expected} from the node, got something else`);
}

/** The system's code where there is one: its message contains the address. */
function codeOf(cause: unknown): string {
  return cause instanceof Error && 'code' in cause ? String(cause.code) : messageOf(cause).slice(0, 40);
}
