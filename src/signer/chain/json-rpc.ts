import { GannetError, isGannetError } from '../../core/errors.ts';
import { parseJson, stringifyJson, type Json } from '../../core/json.ts';
import { addressSecrets, createRedaction } from '../../core/redaction.ts';
import { plainMessage, printable } from '../../core/text.ts';
import type { Millis } from '../../core/time.ts';
import { versionRefusalOf } from '../../solana/transaction-versions.ts';
import { codeOf, createBoundedHttp, isLate } from '../bounded-http.ts';

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
  const http = createBoundedHttp({
    protocol: url.protocol, maxSockets: MAX_SOCKETS, maxResponseBytes,
    tooLong: () =>
      new GannetError('CHAIN_RESPONSE_INVALID', `the node's answer is longer than ${maxResponseBytes} bytes`),
  });
  let calls = 0;

  async function post(body: string): Promise<string> {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const { status, text } = await http.send({ method: 'POST', url, headers, body, timeoutMs });
    if (status === 200) return withoutKey(text);
    const message = `the node answered with the HTTP status ${status}`;
    throw new GannetError('CHAIN_RPC_ERROR', message, { details: { status } });
  }

  return {
    async call(method, params) {
      const id = ++calls;
      let text: string;
      try {
        text = await post(stringifyJson({ jsonrpc: '2.0', id, method, params }));
      } catch (cause) {
        if (isGannetError(cause)) throw cause;
        const reason = isLate(cause) ? `no complete answer of the node within ${timeoutMs} ms`
          : `no answer of the node (${printable(withoutKey(codeOf(cause)))})`;
        throw new GannetError('CHAIN_UNREACHABLE', `${method}: ${reason}`);
      }
      return resultOf(text, { id, method });
    },
    close: () => { http.close(); },
  };
}

/**
 * Returns a client of several nodes: the one that answered last is called, and the next where it gives no answer. What
 * a node refuses is refused. It knows nothing of what the daemon thinks of the nodes.
 */
export function createJsonRpcOf(rpcUrls: readonly string[]): JsonRpc {
  const nodes = rpcUrls.map((url) => createJsonRpc(url));
  let current = 0;
  return {
    async call(method, params) {
      const begunWith = current;
      for (let tried = 1; ; tried++) {
        const used = (begunWith + tried - 1) % nodes.length;
        try {
          const result = await nodes[used]!.call(method, params);
          current = used;
          return result;
        } catch (error) {
          // Nodes differ in the transaction versions that they know.
          const isUnanswered = isGannetError(error)
            && (error.code === 'CHAIN_UNREACHABLE' || error.details['status'] !== undefined
              || (method === 'getTransaction' && refusalOf(error) !== undefined));
          if (!isUnanswered || tried === nodes.length) throw error;
        }
      }
    },
    close: () => { for (const node of nodes) node.close(); },
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
    throw new GannetError('CHAIN_RPC_ERROR', `${method}: the node refuses (${shownCode}): ${reason}`, {
      details: { rpcCode: shownCode, rpcMessage: reason },
    });
  }
  if (result === undefined) throw invalid(method, 'a result');
  return result;
}

/** Returns what a node's refusal says about transaction versions; undefined for any other fault. */
export function refusalOf({ details }: GannetError): ReturnType<typeof versionRefusalOf> {
  return versionRefusalOf(details['rpcCode'], details['rpcMessage']);
}

/** Returns whether a value is an object with members. */
export function isRecord(value: Json | undefined): value is { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the fault of an answer without the form that nodes use. */
export function invalid(method: string, expected: string): GannetError {
  return new GannetError('CHAIN_RESPONSE_INVALID', `${method}: expected ${expected} from the node, got something else`);
}
