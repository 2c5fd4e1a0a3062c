import { Agent, request } from 'undici';
import { messageOf } from '../../core/errors.ts';
import type { Millis } from '../../core/time.ts';
import { plainMessage } from '../../core/text.ts';
import type { Delivery } from './notification.ts';

const CONNECT_MS: Millis = 10_000;
const ANSWER_MS: Millis = 15_000;
const WHOLE_MS: Millis = 30_000;
/** Longer answers are cut: no channel's answer that matters is longer. */
const ANSWER_BYTES = 65_536;
const RETRY_AFTER_MAX_S = 86_400;

/** What an HTTP request came to. */
type HttpResult =
  | { readonly kind: 'answer'; readonly status: number; readonly text: string;
    readonly retryAfterMs: Millis | undefined }
  | { readonly kind: 'fault'; readonly fault: string; readonly wasSent: boolean };

/** Sends single requests to addresses outside, bounded in time and in what is read of the answer. */
export interface HttpSender {
  /** Never rejects. `timeoutMs` bounds the time until the answer. */
  send(url: string, options: {
    readonly method?: 'GET' | 'POST'; readonly body?: string; readonly headers?: Readonly<Record<string, string>>;
    readonly timeoutMs?: Millis; readonly signal?: AbortSignal; readonly answerBytes?: number;
  }): Promise<HttpResult>;
  close(): Promise<void>;
}

/** Errors before a byte of the request has left. */
const NOT_SENT: ReadonlySet<string> = new Set([
  'ECONNREFUSED', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'UND_ERR_CONNECT_TIMEOUT',
]);

/** Returns a sender with connections of its own; it follows no redirects and repeats nothing. */
export function createHttpSender(): HttpSender {
  const dispatcher = new Agent({ connect: { timeout: CONNECT_MS }, connections: 2, keepAliveTimeout: 1_000 });
  return {
    send: async (url, {
      method = 'POST', body, headers = {}, timeoutMs = ANSWER_MS, signal, answerBytes = ANSWER_BYTES,
    }) => {
      const deadline = AbortSignal.timeout(Math.max(WHOLE_MS, timeoutMs + CONNECT_MS));
      try {
        const { statusCode: status, headers: given, body: answer } = await request(url, {
          dispatcher, method, headersTimeout: timeoutMs, bodyTimeout: ANSWER_MS,
          signal: signal === undefined ? deadline : AbortSignal.any([signal, deadline]),
          headers: body === undefined ? headers : { 'content-type': 'application/json', ...headers },
          ...(body === undefined ? {} : { body }),
        });
        const text = await boundedText(answer, answerBytes);
        return { kind: 'answer', status, text, retryAfterMs: retryAfter(given['retry-after']) };
      } catch (error) {
        const code = error instanceof Error && 'code' in error ? String(error.code) : '';
        const wasSent = !NOT_SENT.has(code) && !/CERT|TLS|SSL|SIGNATURE/.test(code);
        return { kind: 'fault', fault: faultText(error, code), wasSent };
      }
    },
    close: () => dispatcher.destroy(),
  };
}

/** The status says whether the request was taken, so an answer that breaks off is what has arrived of it. */
async function boundedText(body: AsyncIterable<Uint8Array> & { destroy(): unknown }, limit: number): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const part of body) {
      parts.push(part);
      bytes += part.length;
      if (bytes >= limit) break;
    }
  } catch {
    // Its receiver decides whether the beginning is enough.
  } finally {
    body.destroy();
  }
  return Buffer.concat(parts).subarray(0, limit).toString('utf8');
}

function retryAfter(header: string | string[] | undefined): Millis | undefined {
  const seconds = Number([header].flat()[0]);
  return Number.isFinite(seconds) && seconds >= 0 ? Math.min(seconds, RETRY_AFTER_MAX_S) * 1_000 : undefined;
}

function faultText(error: unknown, code: string): string {
  switch (code) {
    case 'ECONNREFUSED': return 'the connection was refused';
    case 'ENOTFOUND':
    case 'EAI_AGAIN': return 'the name of the host cannot be resolved';
    case 'UND_ERR_CONNECT_TIMEOUT': return `no connection within ${CONNECT_MS / 1_000} s`;
    case 'UND_ERR_HEADERS_TIMEOUT': return 'no answer in time';
    default: return error instanceof Error && error.name === 'TimeoutError' ? 'no answer in time'
      : plainMessage(messageOf(error), 200);
  }
}

/** Statuses that another attempt may change. */
const PASSING: ReadonlySet<number> = new Set([408, 425, 429]);
/** Statuses by which a receiver may refuse a single message. */
const OF_MESSAGE: ReadonlySet<number> = new Set([400, 413, 422]);

/** Returns what an answer without words of its own means for a message; `remedy` says what to check in the settings. */
export function deliveryOf(result: HttpResult, remedy: string): Delivery {
  if (result.kind === 'fault') return { kind: 'failed', fault: result.fault, mayHaveArrived: result.wasSent };
  const { status, text, retryAfterMs } = result;
  if (status >= 200 && status < 300) return { kind: 'sent' };
  const words = plainMessage(text, 120);
  const fault = `it answered with status ${status}${words === '' ? '' : ` (${words})`}`;
  if (status >= 500 || PASSING.has(status)) return { kind: 'failed', fault, retryAfterMs, mayHaveArrived: false };
  if (status >= 300 && status < 400) {
    return { kind: 'refused', of: 'channel', fault: `${fault}, a redirect`, remedy: 'give the final address' };
  }
  return { kind: 'refused', of: OF_MESSAGE.has(status) ? 'message' : 'channel', fault, remedy };
}
