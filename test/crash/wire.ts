import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request as send } from 'undici';

/** What is done to a request on its way. */
export type WireFault =
  /** The connection ends before the other side has heard of it. */
  | { readonly kind: 'drop_before' }
  /** The other side does what was asked, and its answer is lost. */
  | { readonly kind: 'drop_after' }
  | { readonly kind: 'status'; readonly status: number }
  /** The connection ends at once, and the request arrives this much later. */
  | { readonly kind: 'late'; readonly ms: number };

/** What happens to requests of a kind. */
export interface WireRule {
  /** A path of the service, or a method of the RPC. */
  readonly request: string;
  readonly fault: WireFault;
  /** How often; absent: always. */
  readonly times?: number | undefined;
}

/** A line between the daemon and the fixture, on which requests get lost, and which outlives the daemon. */
export interface Line {
  readonly url: string;
  /** Replaces what happens on it. */
  rule(rules: readonly WireRule[], hooks?: WireHooks): void;
  close(): Promise<void>;
}

/** What a line asks of those who rule it. */
export interface WireHooks {
  /** Is waited for before a request goes on. */
  readonly onRequest?: (request: string, body: Buffer) => Promise<void>;
  /** To what a request belongs: `times` counts for each of these. */
  readonly keyOf?: (body: Buffer) => string;
  /** Returns what is passed on in the place of an answer that was not lost. */
  readonly onAnswer?: (request: string, body: Buffer, answer: Buffer) => Promise<Buffer>;
}

/** Opens a line to an address on this machine. */
export async function openLine(target: string): Promise<Line> {
  const agent = new Agent({ connections: 64, keepAliveTimeout: 60_000 });
  let rules: { rule: WireRule; drawn: Map<string, number> }[] = [];
  let hooks: WireHooks = {};

  const draw = (name: string, body: Buffer): WireFault | undefined => {
    const candidates = rules.filter(({ rule }) => rule.request === name);
    if (candidates.length === 0) return undefined;
    const key = hooks.keyOf?.(body) ?? '';
    const found = candidates.find(({ rule, drawn }) =>
      (drawn.get(key) ?? 0) < (rule.times ?? Number.POSITIVE_INFINITY));
    found?.drawn.set(key, (found.drawn.get(key) ?? 0) + 1);
    return found?.rule.fault;
  };
  const forward = async (
    request: IncomingMessage, body: Buffer,
  ): Promise<{ status: number; headers: Record<string, string | string[]>; body: Buffer }> => {
    const {
      connection: _connection, host: _host, 'content-length': _length, 'transfer-encoding': _coding, ...headers
    } = request.headers;
    const answer = await send(new URL(request.url ?? '/', target), {
      dispatcher: agent, method: request.method as 'GET' | 'POST', headers,
      ...(request.method === 'POST' ? { body } : {}),
    });
    const {
      'content-length': _size, connection: _kept, 'keep-alive': _duration, 'transfer-encoding': _form, ...kept
    } = answer.headers;
    return {
      status: answer.statusCode, headers: kept as Record<string, string | string[]>,
      body: Buffer.from(await answer.body.arrayBuffer()),
    };
  };
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await bodyOf(request);
    const name = nameOf(request, body);
    const fault = draw(name, body);
    if (fault?.kind === 'drop_before') {
      request.socket.destroy();
      return;
    }
    if (fault?.kind === 'status') {
      response.writeHead(fault.status, { 'content-type': 'application/json' }).end('{"error":"the line says no"}');
      return;
    }
    if (fault?.kind === 'late') {
      request.socket.destroy();
      await sleep(fault.ms);
    }
    await hooks.onRequest?.(name, body);
    const answer = await forward(request, body);
    if (fault !== undefined) request.socket.destroy();
    else response.writeHead(answer.status, answer.headers)
      .end(await hooks.onAnswer?.(name, body, answer.body) ?? answer.body);
  };

  const server = createServer((request, response) => {
    // The client may have ended by now: then the answer is not missed.
    serve(request, response).catch(() => { request.socket.destroy(); });
  });
  await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    rule(given, asked = {}) {
      rules = given.map((rule) => ({ rule, drawn: new Map() }));
      hooks = asked;
    },
    async close() {
      server.closeAllConnections();
      await Promise.all([new Promise((resolve) => { server.close(resolve); }), agent.destroy()]);
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts);
}

function nameOf(request: IncomingMessage, body: Buffer): string {
  const [, method] = /"method":"(\w+)"/.exec(body.subarray(0, 4_096).toString('latin1')) ?? [];
  return request.url === '/' && method !== undefined ? method : (request.url ?? '').split('?')[0]!;
}
