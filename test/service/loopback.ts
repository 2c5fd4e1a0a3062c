import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { asyncScheduler } from 'rxjs';
import { onTestFinished } from 'vitest';
import { loadDialect } from '../../src/service/wire/dialect.ts';
import type { Service } from '../../src/service/service.ts';
import { createService } from '../../src/service/service.ts';

export const API_KEY = 'canary-0f3b9c1e-key';

/** What a test saw arrive. */
export interface Received {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export type Responder = (request: Received, response: ServerResponse) => void;

/** A real HTTP server on loopback that lives as long as the test. */
export interface Loopback {
  readonly baseUrl: string;
  readonly received: readonly Received[];
  openConnections(): number;
}

/** Starts a server that answers as the responder says. */
export async function listen(respond: Responder): Promise<Loopback> {
  const received: Received[] = [];
  const sockets = new Set<object>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const url = new URL(request.url ?? '/', 'http://loopback');
      const arrived: Received = {
        method: request.method ?? '', path: url.pathname, query: url.searchParams, headers: request.headers,
        body: Buffer.concat(chunks).toString(),
      };
      received.push(arrived);
      respond(arrived, response);
    });
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received, openConnections: () =>
    sockets.size };
}

/** Returns a responder that always gives one JSON text. */
export function json(
  body: unknown, options: { readonly status?: number; readonly headers?: Readonly<Record<string, string>> } = {},
): Responder {
  return (_request, response) => {
    response.writeHead(options.status ?? 200, { 'content-type': 'application/json', ...options.headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };
}

/** Returns a client of a loopback server, closed at the end of the test. */
export function clientOf(
  server: { readonly baseUrl: string }, options: Partial<Parameters<typeof createService>[0]> = {},
): Service {
  const service = createService({
    baseUrl: server.baseUrl, apiKey: API_KEY, clock: asyncScheduler, plan: { requestsPerSecond: 10_000 },
    dialect: loadDialect('neutral'),
    ...options,
  });
  onTestFinished(() => service.close());
  return service;
}
