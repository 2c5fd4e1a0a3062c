import type { TelegramConfig } from '../../config/notifications/channel-config.ts';
import { plainMessage } from '../../core/text.ts';
import type { Millis } from '../../core/time.ts';
import type { HttpSender } from './http-request.ts';

/** What a method of the Bot API came to. */
type TelegramAnswer =
  | { readonly kind: 'done'; readonly result: unknown }
  /** The Bot API said no: its code, its words, and for 429 how long to wait. */
  | { readonly kind: 'refused'; readonly code: number; readonly fault: string;
    readonly retryAfterMs: Millis | undefined }
  /** No answer of a Bot API came. `wasSent`: the request may have been carried out. */
  | { readonly kind: 'failed'; readonly fault: string; readonly wasSent: boolean };

/** The Bot API of one bot. */
export interface TelegramApi {
  /** Calls a method and never rejects. `timeoutMs` must be above the method's own, for long polls. */
  call(method: string, parameters: object, options?: {
    readonly timeoutMs?: Millis; readonly signal?: AbortSignal; readonly answerBytes?: number;
  }): Promise<TelegramAnswer>;
}

/** Returns the Bot API of a bot. Its address holds the token, so no fault repeats an address. */
export function createTelegramApi(
  { token, apiUrl }: Pick<TelegramConfig, 'token' | 'apiUrl'>, http: Pick<HttpSender, 'send'>,
): TelegramApi {
  const withoutToken = (text: string): string => text.replaceAll(token, '[token]');
  return {
    call: async (method, parameters, options = {}) => {
      const result = await http.send(`${apiUrl}/bot${token}/${method}`, {
        body: JSON.stringify(parameters), ...options,
      });
      if (result.kind === 'fault')
        return { kind: 'failed', fault: withoutToken(result.fault), wasSent: result.wasSent };
      const { status, text, retryAfterMs } = result;
      const answer = parsed(text);
      if (answer?.['ok'] === true) return { kind: 'done', result: answer['result'] };
      if (answer?.['ok'] !== false) {
        return {
          kind: 'failed', wasSent: status < 400,
          fault: `no answer of a Bot API, but status ${status} (${withoutToken(plainMessage(text, 80))})`,
        };
      }
      const { error_code: code, description, parameters: facts } = answer;
      const wait = isRecord(facts) ? Number(facts['retry_after']) : NaN;
      return {
        kind: 'refused', code: typeof code === 'number' ? code : status,
        fault: withoutToken(plainMessage(typeof description === 'string' ? description : `status ${status}`, 200)),
        retryAfterMs: wait >= 0 ? Math.min(wait, 86_400) * 1_000 : retryAfterMs,
      };
    },
  };
}

/** Breaks mentions, commands and addresses of texts from outside, which a program would make links of. */
export function escapeForTelegram(char: string): string {
  return /[@/#]/.test(char) ? `${char}\u2060` : char;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function parsed(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    // What is no JSON is no answer of a Bot API.
    return undefined;
  }
}
