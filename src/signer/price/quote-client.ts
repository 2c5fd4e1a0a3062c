import { U64_MAX } from '../../core/amount.ts';
import { GannetError, isGannetError } from '../../core/errors.ts';
import { parseJson, type Json } from '../../core/json.ts';
import { addressSecrets, createRedaction } from '../../core/redaction.ts';
import { plainMessage, printable } from '../../core/text.ts';
import type { Millis } from '../../core/time.ts';
import { codeOf, createBoundedHttp, isLate } from '../bounded-http.ts';
import { isRecord } from '../chain/json-rpc.ts';

/** A swap by its tokens, in base58, and its input in smallest units. */
export interface QuotedSwap {
  readonly inputMint: string;
  readonly outputMint: string;
  readonly amountIn: bigint;
}

/** The host's words for the neutral ones of a quote; a word that is missing stands for itself. */
export interface QuoteWords {
  /** The path of a quote from the root of the service. */
  readonly path: string;
  readonly query: ReadonlyMap<string, string>;
  readonly fields: ReadonlyMap<string, string>;
  /** The header in which the host names each request. */
  readonly requestIdHeader?: string | undefined;
}

/** Asks the swap service for prices. */
export interface QuoteClient {
  /**
   * Returns the output that the service offers for exactly this input now, without slippage. Throws
   * SERVICE_UNREACHABLE, SERVICE_TIMEOUT, SERVICE_UNAUTHORIZED, SERVICE_FORBIDDEN, SERVICE_RATE_LIMITED (details:
   * retryAfterMs), SERVICE_STATUS or SERVICE_MALFORMED, without the key in it; that of an answer with the host's id of
   * the request.
   */
  outputOf(swap: QuotedSwap, timeoutMs: Millis): Promise<bigint>;
  close(): void;
}

/** The path of a quote in neutral words: an order without a taker has a price, but no transaction. */
export const QUOTE_PATH = '/swap/v2/order';
/** The longest route has a few hundred steps. */
const MAX_RESPONSE_BYTES = 512 * 1024;
const MAX_SOCKETS = 4;
const MAX_RETRY_AFTER_MS: Millis = 10_000;
/** The statuses that refuse the sender and not the request. */
const FORBIDDEN: ReadonlySet<number> = new Set([402, 403, 451]);
const WHOLE = /^(?:0|[1-9]\d{0,19})$/;

/**
 * Returns a client of the service at an http or https address. The key leaves in the header `x-api-key` alone, and only
 * to that address: redirects are not followed.
 */
export function createQuoteClient({ serviceUrl, apiKey, words }: {
  readonly serviceUrl: string; readonly apiKey: string | undefined; readonly words: QuoteWords;
}): QuoteClient {
  const base = serviceUrl.replace(/\/+$/, '');
  const secrets = [...addressSecrets(serviceUrl), ...(apiKey === undefined ? [] : [apiKey])];
  const withoutKey = createRedaction(secrets, '[API key]');
  const http = createBoundedHttp({
    protocol: new URL(serviceUrl).protocol, maxSockets: MAX_SOCKETS, maxResponseBytes: MAX_RESPONSE_BYTES,
    tooLong: () => malformed(`an answer of at most ${MAX_RESPONSE_BYTES} bytes`),
  });
  const headers = apiKey === undefined ? {} : { 'x-api-key': apiKey };

  function urlOf({ inputMint, outputMint, amountIn }: QuotedSwap): URL {
    const query = new URLSearchParams();
    for (const [name, value] of [['inputMint', inputMint], ['outputMint', outputMint], ['amount', String(amountIn)]])
      query.append(words.query.get(name!) ?? name!, value!);
    return new URL(`${base}${words.path}?${query.toString()}`);
  }

  /** Returns the end of a message about an answer. */
  function requestText(answered: Readonly<Record<string, string | string[] | undefined>>): string {
    const id = words.requestIdHeader === undefined ? undefined : answered[words.requestIdHeader];
    return typeof id !== 'string' || id === '' ? '' : ` (request ${printable(withoutKey(id), 100)})`;
  }

  return {
    async outputOf(swap, timeoutMs) {
      let request = '';
      try {
        const { status, retryAfter, headers: answered, text } =
          await http.send({ method: 'GET', url: urlOf(swap), headers, timeoutMs });
        request = requestText(answered);
        if (status !== 200) throw statusFault(status, { retryAfter, text: withoutKey(text) });
        return readOutput(text, swap, words);
      } catch (cause) {
        if (isGannetError(cause))
          throw new GannetError(cause.code, `${cause.message}${request}`, { details: cause.details });
        if (isLate(cause))
          throw new GannetError('SERVICE_TIMEOUT', `no complete answer of the service within ${timeoutMs} ms`);
        throw new GannetError(
          'SERVICE_UNREACHABLE', `no answer of the service (${printable(withoutKey(codeOf(cause)))})`,
        );
      }
    },
    close: () => { http.close(); },
  };
}

function statusFault(
  status: number, { retryAfter, text }: { readonly retryAfter: string | undefined; readonly text: string },
): GannetError {
  if (status === 429) {
    const seconds = retryAfter !== undefined && /^\d{1,6}$/.test(retryAfter) ? Number(retryAfter) : undefined;
    const retryAfterMs = seconds === undefined ? undefined : Math.min(seconds * 1_000, MAX_RETRY_AFTER_MS);
    return new GannetError(
      'SERVICE_RATE_LIMITED', 'the service refuses more requests at the moment (429)', { details: { retryAfterMs } },
    );
  }
  const said = plainMessage(text.slice(0, 2_000), 120);
  if (FORBIDDEN.has(status)) {
    return new GannetError(
      'SERVICE_FORBIDDEN', `the service refuses the region, the address or the key of the signer (${status}): ${said}`,
    );
  }
  if (status === 401) {
    return new GannetError(
      'SERVICE_UNAUTHORIZED', 'the service refuses the API key of the signer (401); check service.api_key',
    );
  }
  return new GannetError('SERVICE_STATUS', `the service answered ${status}: ${said}`);
}

/** The answer must repeat the question: a quote of another swap says nothing about this one. */
function readOutput(text: string, { inputMint, outputMint, amountIn }: QuotedSwap, { fields }: QuoteWords): bigint {
  let answer: Json;
  try {
    answer = parseJson(text);
  } catch {
    throw malformed('JSON');
  }
  if (!isRecord(answer)) throw malformed('an object');
  const record = answer;
  const member = (name: string): Json | undefined => record[fields.get(name) ?? name];
  if (member('inputMint') !== inputMint || member('outputMint') !== outputMint)
    throw malformed('a quote of the same two tokens');
  if (member('inAmount') !== String(amountIn)) throw malformed('a quote of the same amount');
  const mode = member('swapMode');
  // A word of another mode is a quote of another swap; anything else says nothing, and the amounts agree.
  if (typeof mode === 'string' && mode !== 'ExactIn') throw malformed('a quote for an exact input');
  const output = member('outAmount');
  if (typeof output !== 'string' || !WHOLE.test(output)) throw malformed('an output as a whole number in text');
  const value = BigInt(output);
  if (value < 1n || value > U64_MAX) throw malformed('an output of 1 to 2^64 - 1');
  return value;
}

function malformed(expected: string): GannetError {
  return new GannetError('SERVICE_MALFORMED', `expected ${expected} from the service, got something else`);
}
