import type { Dispatcher } from 'undici';
import { request } from 'undici';
import type { Clock } from '../../../src/core/time.ts';
import { VirtualClock } from '../../../src/engine/virtual-clock.ts';
import { startControl, TOKENS } from '../control-fixture.ts';

/** A page's API on virtual time. */
export type PageApi = Awaited<ReturnType<typeof startPage>>;

/** An answer with its headers. */
export interface PageAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** Undefined where the answer is no JSON. */
  readonly body: Readonly<Record<string, never>> & { readonly error: { readonly code: string } };
}

/** A browser that has logged in. */
export interface Browser {
  readonly cookie: string;
  readonly csrf: string;
}

/** Starts an API whose requests carry nothing but what a test says. */
export async function startPage(options: Parameters<typeof startControl>[0] & { readonly clock?: Clock } = {}) {
  const clock = new VirtualClock(1_000_000);
  const api = await startControl({ clock, ...options });
  const ask = async (path: string, { method = 'GET', body, headers = {} }: {
    readonly method?: Dispatcher.HttpMethod; readonly body?: object | string;
    readonly headers?: Readonly<Record<string, string>>;
  } = {}): Promise<PageAnswer> => {
    const answer = await request(`${api.url}${path}`, {
      method, headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await answer.body.text();
    const isJson = String(answer.headers['content-type']).startsWith('application/json');
    return {
      status: answer.statusCode, headers: answer.headers, text,
      body: (isJson ? JSON.parse(text) : {}) as PageAnswer['body'],
    };
  };
  const logIn = async (token: string = TOKENS.operator): Promise<Browser> => {
    const answer = await ask('/session', { method: 'POST', body: { token } });
    if (answer.status !== 200) throw new Error(`the login was refused: ${answer.text}`);
    return { cookie: cookieOf(answer), csrf: answer.body['csrf']! };
  };
  return { ...api, clock, ask, logIn };
}

/** Returns the cookie that an answer sets, as a browser sends it back. */
export function cookieOf({ headers }: PageAnswer): string {
  return String(headers['set-cookie']).split(';')[0]!;
}
