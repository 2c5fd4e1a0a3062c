import { request } from 'undici';
import { GannetError, messageOf } from '../core/errors.ts';
import type { Json } from '../core/json.ts';
import { parseJson, stringifyJson } from '../core/json.ts';
import { printable } from '../core/text.ts';
import type { ControlFile } from '../daemon/control-file.ts';
import { readControlFile, RUN_HEADER } from '../daemon/control-file.ts';
import type { CommandContext } from './command.ts';

const TIMEOUT_MS = 5_000;

/** The daemon that runs with a state directory. */
export interface DaemonClient {
  /** Returns what it says; undefined where there is no such thing. */
  get(path: string): Promise<Json | undefined>;
  /** Returns its answer to an order. Throws CONTROL_REFUSED with its reason. */
  post(path: string, body: object, options?: { readonly timeoutMs?: number }): Promise<Json>;
}

/**
 * Returns the daemon of the command's state directory. It, and what is asked of it, throws CONTROL_UNREACHABLE where none
 * runs or answers, and CONTROL_UNAUTHORIZED.
 */
export function daemonClient({ options, environment }: Pick<CommandContext, 'options' | 'environment'>): DaemonClient {
  const { url, token, pid, run_id: runId }: ControlFile = readControlFile(options.stateDir);
  const headers = { authorization: `Bearer ${environment['GANNET_CONTROL_TOKEN'] ?? token}`, ...(runId === undefined ? {} : { [RUN_HEADER]: runId }) };
  const ask = async (path: string, body?: object, timeoutMs = TIMEOUT_MS): Promise<{ readonly status: number; readonly text: string }> => {
    try {
      const answer = await request(new URL(path, url), {
        headersTimeout: timeoutMs, bodyTimeout: timeoutMs,
        ...(body === undefined
          ? { headers }
          : { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body: stringifyJson(body) }),
      });
      return { status: answer.statusCode, text: await answer.body.text() };
    } catch (cause) {
      throw new GannetError('CONTROL_UNREACHABLE', `the daemon at ${url} (process ${pid}) does not answer: ${messageOf(cause)}; is it still running?`, { cause });
    }
  };
  const answerOf = ({ status, text }: Awaited<ReturnType<typeof ask>>): Json => {
    if (status === 401) throw new GannetError('CONTROL_UNAUTHORIZED', `the daemon at ${url} refused the token`);
    if (status === 421) {
      throw new GannetError('CONTROL_UNREACHABLE', `no daemon runs with the state directory ${options.stateDir}: the last one (process ${pid}) is gone, and another daemon has its port now`);
    }
    if (status === 200) return parseJson(text);
    const { code, message } = refusalIn(text);
    throw new GannetError('CONTROL_REFUSED', message, { details: { status, code } });
  };
  return {
    get: async (path) => {
      const answer = await ask(path);
      return answer.status === 404 ? undefined : answerOf(answer);
    },
    post: async (path, body, { timeoutMs } = {}) => answerOf(await ask(path, body, timeoutMs)),
  };
}

function refusalIn(text: string): { readonly code: string | null; readonly message: string } {
  try {
    const { error } = JSON.parse(text) as { error?: { code?: unknown; message?: unknown } };
    if (typeof error?.message === 'string') return { code: typeof error.code === 'string' ? error.code : null, message: printable(error.message, 500) };
  } catch {
    // Whatever answers there is no daemon of ours: it is told as it is.
  }
  return { code: null, message: `the daemon gave an answer that cannot be read: ${printable(text)}` };
}
