import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type * as http from 'node:http';
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import { jsonText } from '../json-text.ts';
import { answer, failure } from './dispatch.ts';
import type { RpcMethods } from './rpc-params.ts';
import { RPC_CODE, RpcError } from './rpc-params.ts';

/** An `import` of this module would load all its parts, a second HTTP client among them. */
const { createServer } = createRequire(import.meta.url)('node:http') as typeof http;

/** Resolves when an answer may leave. */
type Delay = () => Promise<void>;

/** How long a request may take to arrive whole, unless said otherwise. */
export const SLOWEST_REQUEST_MS = 15_000;

const MAX_BODY_BYTES = 1_048_576;
const ALLOWED_METHODS = 'OPTIONS, POST';
const PREFLIGHT_SECONDS = 86_400;

/** Returns an HTTP server, not yet listening, that answers JSON-RPC calls posted to any path. */
export function createRpcServer(
  methods: RpcMethods, options: { readonly slowestRequestMs: number; readonly delay?: Delay | undefined },
): Server {
  return createTimeLimitedServer((request, response) => {
    void respond(methods, request, response, options.delay);
  }, options);
}

/** Returns the server of the websocket's port, not yet listening, which refuses everything but upgrades. */
export function createUpgradeServer(options: { readonly slowestRequestMs: number }): Server {
  return createTimeLimitedServer((_request, response) => {
    response.setHeader('upgrade', 'websocket').setHeader('connection', 'close');
    refuse(response, 426, 'expected a websocket upgrade');
  }, options);
}

/** Returns a server that limits the time of a request, and answers malformed HTTP in JSON-RPC too. */
function createTimeLimitedServer(
  listener: RequestListener, { slowestRequestMs }: { readonly slowestRequestMs: number },
): Server {
  const server = createServer({
    requestTimeout: slowestRequestMs, headersTimeout: slowestRequestMs,
    connectionsCheckingInterval: Math.min(1_000, slowestRequestMs), requireHostHeader: false,
  }, listener);
  server.on('clientError', answerNoHttp);
  server.on('checkExpectation', (_request, response) =>
    refuse(response, 417, 'expected no expectation but 100-continue'));
  return server;
}

async function respond(
  methods: RpcMethods, request: IncomingMessage, response: ServerResponse, delay: Delay | undefined,
): Promise<void> {
  // A client that disconnects during its request gets no answer.
  response.on('error', () => response.destroy());
  allowOrigin(request, response);
  if (request.method === 'OPTIONS') return answerPreflight(request, response);
  if (request.method === 'GET' && request.url === '/health') {
    response.writeHead(200, { 'content-type': 'text/plain' }).end('ok');
    return;
  }
  if (request.method !== 'POST') {
    response.setHeader('allow', ALLOWED_METHODS);
    return refuse(response, 405, 'expected POST');
  }
  const body = await readBody(request);
  if (body === 'gone') return;
  if (body === 'too-large') {
    response.setHeader('connection', 'close');
    return refuse(response, 413, `expected a body of at most ${MAX_BODY_BYTES} bytes`);
  }
  await delay?.();
  const text = await answer(methods, body.toString('utf8'));
  if (text === undefined) response.writeHead(204).end();
  else response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
    .end(text);
}

/** Real nodes allow pages of any origin. */
function allowOrigin(request: IncomingMessage, response: ServerResponse): void {
  response.setHeader('vary', 'origin');
  if (request.headers.origin !== undefined) response.setHeader('access-control-allow-origin', '*');
}

/** Tells a browser that it may send the request that it asks about. */
function answerPreflight(request: IncomingMessage, response: ServerResponse): void {
  const wanted = request.headers['access-control-request-headers'];
  if (request.headers.origin !== undefined) {
    response.setHeader('access-control-allow-methods', ALLOWED_METHODS)
      .setHeader('access-control-max-age', PREFLIGHT_SECONDS);
    if (wanted !== undefined) response.setHeader('access-control-allow-headers', wanted);
  }
  response.writeHead(200, { allow: ALLOWED_METHODS, 'content-type': 'text/plain', 'content-length': 0 }).end();
}

function refuse(response: ServerResponse, status: number, reason: string): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(refusal(reason));
}

function refusal(reason: string): string {
  return jsonText(failure(null, new RpcError(RPC_CODE.invalidRequest, `Invalid request: ${reason}`)));
}

/** The answers to malformed requests, by the code of the parser's error; any other error means no HTTP. */
const NO_HTTP: Readonly<Record<string, readonly [line: string, reason: string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'the request did not arrive in time'],
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'the request line and the headers are too long'],
};

function answerNoHttp(error: Error & { readonly code?: string }, socket: Socket): void {
  const [line, reason] = NO_HTTP[error.code ?? ''] ?? ['400 Bad Request', 'expected HTTP'];
  const body = refusal(reason);
  if (socket.writable && error.code !== 'ECONNRESET') {
    socket.write(`HTTP/1.1 ${line}\r\ncontent-type: application/json\r\ncontent-length: `
      + `${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`);
  }
  socket.destroy();
}

function readBody(request: IncomingMessage): Promise<Buffer | 'too-large' | 'gone'> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > MAX_BODY_BYTES) resolve('too-large');
      else chunks.push(chunk);
    });
    request.on('end', () => resolve(Buffer.concat(chunks)));
    request.on('error', () => resolve('gone'));
    request.on('close', () => resolve('gone'));
  });
}
