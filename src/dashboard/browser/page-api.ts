import type { PageSession } from '../page-state.ts';

/** Why a request was refused, in the daemon's words. */
export class ApiError extends Error {
  /** 0 where the daemon did not answer. */
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** The daemon's HTTP API, as the page of one login uses it. */
export interface PageApi {
  readonly session: PageSession;
  get(path: string): Promise<unknown>;
  post(path: string, body?: object): Promise<unknown>;
  logOut(): Promise<void>;
}

const TIMEOUT_MS = 15_000;

/** Returns the API of the session that the browser has a cookie of; undefined without one. */
export async function currentApi(): Promise<PageApi | undefined> {
  try {
    return apiOf(await ask('GET', '/session') as PageSession);
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return undefined;
    throw error;
  }
}

/** Logs in by a token, or by the code of a login link. Throws ApiError where it is refused. */
export async function logIn(secret: { readonly token: string } | { readonly code: string }): Promise<PageApi> {
  return apiOf(await ask('POST', '/session', secret) as PageSession);
}

function apiOf(session: PageSession): PageApi {
  const { csrf } = session;
  return {
    session,
    get: (path) => ask('GET', path),
    post: (path, body = {}) => ask('POST', path, body, csrf),
    logOut: async () => { await ask('DELETE', '/session', undefined, csrf); },
  };
}

async function ask(method: string, path: string, body?: object, csrf?: string): Promise<unknown> {
  let answer: Response;
  try {
    answer = await fetch(path, {
      method, cache: 'no-store', credentials: 'same-origin', signal: AbortSignal.timeout(TIMEOUT_MS),
      headers: {
        ...body === undefined ? {} : { 'content-type': 'application/json' },
        ...csrf === undefined ? {} : { 'x-gannet-csrf': csrf },
      },
      ...body === undefined ? {} : { body: JSON.stringify(body) },
    });
  } catch {
    throw new ApiError(0, 'the daemon does not answer');
  }
  const text = await answer.text();
  if (!answer.ok) throw new ApiError(answer.status, faultText(text) ?? `the daemon answered ${answer.status}`);
  return text === '' ? undefined : JSON.parse(text);
}

/** Returns the message of `{"error": {"code", "message"}}`. */
function faultText(text: string): string | undefined {
  try {
    const { error } = JSON.parse(text) as { readonly error?: { readonly message?: unknown } };
    return typeof error?.message === 'string' ? error.message : undefined;
  } catch {
    return undefined;
  }
}
