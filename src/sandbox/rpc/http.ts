import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { answer, failure, stringify } from './dispatch.ts';
import type { RpcMethods } from './params.ts';
import { RPC_CODE, RpcError } from './rpc-error.ts';

const MAX_BODY_BYTES = 1_048_576;
const SLOWEST_REQUEST_MS = 15_000;

/** Returns an HTTP server, not yet listening, that answers JSON-RPC calls posted to any path. */
export function createRpcServer(methods: RpcMethods): Server {
  const server = createServer((request, response) => {
    void respond(methods, request, response);
  });
  server.requestTimeout = SLOWEST_REQUEST_MS;
  server.headersTimeout = SLOWEST_REQUEST_MS;
  return server;
}

async function respond(methods: RpcMethods, request: IncomingMessage, response: ServerResponse): Promise<void> {
  // A client that goes away in the middle of its request is owed nothing.
  response.on('error', () => response.destroy());
  if (request.method !== 'POST') {
    response.setHeader('allow', 'POST');
    return refuse(response, 405, 'expected POST');
  }
  const body = await readBody(request);
  if (body === 'gone') return;
  if (body === 'too-large') {
    response.setHeader('connection', 'close');
    return refuse(response, 413, `expected a body of at most ${MAX_BODY_BYTES} bytes`);
  }
  const text = await answer(methods, body.toString('utf8'));
  if (text === undefined) response.writeHead(204).end();
  else response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }).end(text);
}

function refuse(response: ServerResponse, status: number, reason: string): void {
  const error = new RpcError(RPC_CODE.invalidRequest, `Invalid request: ${reason}`);
  response.writeHead(status, { 'content-type': 'application/json' }).end(stringify(failure(null, error)));
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
