import { request } from 'undici';
import { GannetError, messageOf } from '../../core/errors.ts';
import type { Json } from '../../core/json.ts';
import { parseJson, stringifyJson } from '../../core/json.ts';
import { printable } from '../../core/text.ts';
import type { ControlFile } from './control-file.ts';
import { readControlFile, RUN_HEADER } from './control-file.ts';

const TIMEOUT_MS = 5_000;

/** The daemon that runs with a state directory. */
interface DaemonClient {
  /** Returns the answer of a path; undefined where the daemon knows no such thing. */
  get(path: string): Promise<Json | undefined>;
  /** Sends a command and returns the answer. Throws CONTROL_REFUSED with the reason. */
  post(path: string, body: object, options?: { readonly timeoutMs?: number }): Promise<Json>;
}

/**
 * Returns a client of the daemon that runs with a state directory. This function and the client's requests throw
 * CONTROL_UNREACHABLE where no daemon runs or answers, and CONTROL_UNAUTHORIZED.
 */
export function daemonClient({ options, environment }: {
  readonly options: { readonly stateDir: string };
  readonly environment: Readonly<Record<string, string | undefined>>;
}): DaemonClient {
  const { url, token, pid, run_id: runId }: ControlFile = readControlFile(options.stateDir);
  const headers = {
    authorization: `Bearer ${environment['GANNET_CONTROL_TOKEN'] ?? token}`,
    ...(runId === undefined ? {} : { [RUN_HEADER]: runId }),
  };
  const ask = async (
    path: string, body?: object, timeoutMs = TIMEOUT_MS,
  ): Promise<{ readonly status: number; readonly text: string }> => {
    try {
      const answer = await request(new URL(path, url), {
        headersTimeout: timeoutMs, bodyTimeout: timeoutMs,
        ...(body === undefined
          ? { headers }
          : { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body: stringifyJson(body) }),
      });
      return { status: answer.statusCode, text: await answer.body.text() };
    } catch (cause) {
      throw new GannetError(
        'CONTROL_UNREACHABLE',
        `the daemon at ${url} (process ${pid}) does not answer: ${messageOf(cause)}; is it still running?`, { cause },
      );
    }
  };
  const answerOf = ({ status, text }: Awaited<ReturnType<typeof ask>>): Json => {
    if (status === 401) throw new GannetError('CONTROL_UNAUTHORIZED', `the daemon at ${url} refused the token`);
    if (status === 421) {
      throw new GannetError('CONTROL_UNREACHABLE', `no daemon runs with the state directory ${options.stateDir}: the `
        + `last one (process ${pid}) is gone, and another daemon has its port now`);
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
    if (typeof error?.message === 'string')
      return { code: typeof error.code === 'string' ? error.code : null, message: printable(error.message, 500) };
  } catch {
    // Another program answers there: the error shows its answer.
  }
  return { code: null, message: `the daemon gave an answer that cannot be read: ${printable(text)}` };
}
