import type { TLSSocket } from 'node:tls';
import { Agent, buildConnector, request } from 'undici';
import { GannetError, messageOf } from '../../core/errors.ts';
import type { Json } from '../../core/json.ts';
import { parseJson, stringifyJson } from '../../core/json.ts';
import { CONTROL_TOKENS } from '../../core/secret-strength.ts';
import { printable } from '../../core/text.ts';
import type { ControlFile } from './control-file.ts';
import { controlFilePath, readControlFile, RUN_HEADER } from './control-file.ts';
import { CLIENT_HEADER, clientHeader } from './order-origin.ts';

const TIMEOUT_MS = 5_000;
/** A refusal may name several faults of a configuration. */
const REFUSAL_SHOWN = 2_000;

type Variables = Readonly<Record<string, string | undefined>>;

/** The daemon that runs with a state directory. */
interface DaemonClient {
  /** How the daemon was found. */
  readonly control: ControlFile;
  /** Returns the answer of a path; undefined where the daemon knows no such thing. */
  get(path: string): Promise<Json | undefined>;
  /** Returns the answer of a path. Throws CONTROL_REFUSED with the reason, also where there is no such thing. */
  ask(path: string): Promise<Json>;
  /** Sends a command and returns the answer. Throws CONTROL_REFUSED with the reason. */
  post(path: string, body: object, options?: { readonly timeoutMs?: number }): Promise<Json>;
}

/**
 * Returns a client of the daemon that runs with a state directory. This function and the client's requests throw
 * CONTROL_UNREACHABLE where no daemon runs or answers, and CONTROL_UNAUTHORIZED.
 */
export function daemonClient({ options, environment }: {
  readonly options: { readonly stateDir: string };
  readonly environment: Variables;
}): DaemonClient {
  const control = readControlFile(options.stateDir);
  const { url, pid, run_id: runId, fingerprint } = control;
  const dispatcher = fingerprint === undefined ? undefined : agentFor(fingerprint);
  const { token, source } = tokenFor(control, options.stateDir, environment);
  const headers = {
    authorization: `Bearer ${token}`,
    [CLIENT_HEADER]: clientHeader(),
    ...(runId === undefined ? {} : { [RUN_HEADER]: runId }),
  };
  const ask = async (
    path: string, body?: object, timeoutMs = TIMEOUT_MS,
  ): Promise<{ readonly status: number; readonly text: string }> => {
    try {
      const answer = await request(new URL(path, url), {
        headersTimeout: timeoutMs, bodyTimeout: timeoutMs, ...(dispatcher === undefined ? {} : { dispatcher }),
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
    if (status === 401 || status === 429) {
      throw new GannetError('CONTROL_UNAUTHORIZED', `the daemon at ${url} refused the token of ${source}`
        + (source.startsWith('GANNET_') ? ': it runs with another one; unset the variable to use its own' : ''));
    }
    if (status === 421) {
      throw new GannetError('CONTROL_UNREACHABLE', `no daemon runs with the state directory ${options.stateDir}: the `
        + `last one (process ${pid}) is gone, and another daemon has its port now`);
    }
    if (status === 200) return parseJson(text);
    const { code, message } = refusalIn(text);
    throw new GannetError('CONTROL_REFUSED', message, { details: { status, code } });
  };
  return {
    control,
    get: async (path) => {
      const answer = await ask(path);
      return answer.status === 404 ? undefined : answerOf(answer);
    },
    ask: async (path) => answerOf(await ask(path)),
    post: async (path, body, { timeoutMs } = {}) => answerOf(await ask(path, body, timeoutMs)),
  };
}

/**
 * Returns what connects to the one certificate alone that the daemon has noted in the control file: its names are those
 * of the outside, and it may be self-signed.
 */
function agentFor(fingerprint: string): Agent {
  const connectTls = buildConnector({ rejectUnauthorized: false });
  return new Agent({
    connect: (options, callback) => {
      connectTls(options, (error, socket) => {
        if (error !== null) {
          callback(error, null);
          return;
        }
        if ((socket as TLSSocket).getPeerCertificate().fingerprint256 === fingerprint) {
          callback(null, socket);
          return;
        }
        socket.destroy();
        callback(new Error('it shows another certificate than the daemon noted in its control file'), null);
      });
    },
  });
}

/**
 * Returns the token of the environment for the operator, else that of the file. A viewer's file may be a copy from an
 * earlier run, so the environment's token for viewers goes before it.
 */
function tokenFor(
  { role = 'operator', token }: ControlFile, stateDir: string, environment: Variables,
): { readonly token: string; readonly source: string } {
  const names = role === 'operator' ? [CONTROL_TOKENS.operator] : [CONTROL_TOKENS.operator, CONTROL_TOKENS.viewer];
  const name = names.find((one) => (environment[one] ?? '') !== '');
  return name === undefined ? { token, source: controlFilePath(stateDir, role) }
    : { token: environment[name]!, source: name };
}

function refusalIn(text: string): { readonly code: string | null; readonly message: string } {
  try {
    const { error } = JSON.parse(text) as { error?: { code?: unknown; message?: unknown } };
    if (typeof error?.message === 'string') {
      const message = printable(error.message, REFUSAL_SHOWN);
      return { code: typeof error.code === 'string' ? error.code : null, message };
    }
  } catch {
    // Another program answers there: the error shows its answer.
  }
  return { code: null, message: `the daemon gave an answer that cannot be read: ${printable(text)}` };
}
