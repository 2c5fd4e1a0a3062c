import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { request } from 'undici';
import { parseJson, stringifyJson, type Json } from '../../src/core/json.ts';

/** What a proxy changes on the way; both directions pass unchanged by default. */
export interface Change {
  /** Changes the parameters of a request in place. */
  readonly query?: (path: string, query: URLSearchParams) => void;
  /** Changes the members of an answer in place. */
  readonly answer?: (path: string, answer: Record<string, unknown>) => void;
}

/** A proxy in front of a service. */
export interface ChangingProxy {
  readonly baseUrl: string;
  change: Change;
  close(): void;
}

/** Starts a proxy that passes every request on to `upstream`, and changes what it is told to. */
export async function startChangingProxy(upstream: string): Promise<ChangingProxy> {
  const server = createServer((incoming, outgoing) => {
    void (async () => {
      const { pathname, searchParams } = new URL(incoming.url!, upstream);
      proxy.change.query?.(pathname, searchParams);
      const query = searchParams.size === 0 ? '' : `?${searchParams.toString()}`;
      const { 'x-api-key': key = '', 'content-type': type = 'application/json' } = incoming.headers;
      const answer = await request(`${upstream}${pathname}${query}`, {
        method: incoming.method as 'GET' | 'POST', headers: { 'x-api-key': key, 'content-type': type },
        body: incoming.method === 'POST' ? await text(incoming) : null,
      });
      const body = parseJson(await answer.body.text());
      if (typeof body === 'object' && body !== null && !Array.isArray(body) && answer.statusCode === 200)
        proxy.change.answer?.(pathname, body as Record<string, unknown>);
      outgoing.writeHead(answer.statusCode, { 'content-type': 'application/json' }).end(stringifyJson(body));
    })().catch((error: unknown) => outgoing.destroy(error as Error));
  });
  await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  const proxy: ChangingProxy = {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, change: {},
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
  return proxy;
}

/** Returns a change of one member of the answers about swaps, wherever it is among their own or those of a step. */
export function changedMember(name: string, value: Json): Change {
  return {
    answer: (path, answer) => {
      if (!path.startsWith('/swap/v2/')) return;
      for (const place of [answer, ...stepsOf(answer), ...stepsOf(answer).map(({ swapInfo }) => swapInfo)])
        if (Object.hasOwn(place as object, name)) (place as Record<string, unknown>)[name] = value;
    },
  };
}

function stepsOf({ routePlan }: Record<string, unknown>): readonly Record<string, unknown>[] {
  return Array.isArray(routePlan) ? routePlan as Record<string, unknown>[] : [];
}
