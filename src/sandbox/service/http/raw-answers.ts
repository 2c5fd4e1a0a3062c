import type { Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { GATEWAY_ID } from './gateway.ts';

/** The answers to malformed requests, by the code of the parser's error; any other error means no HTTP. */
const REFUSALS: Readonly<Record<string, readonly [status: string, error: string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'the request did not arrive in time'],
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'the request line and the headers are too long'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: ['413 Payload Too Large', 'the extensions of a chunk are too long'],
};

/** Answers malformed requests, in JSON and with the gateway's number, and ends the connection. */
export function answerNoHttp(error: Error & { readonly code?: string }, socket: Duplex, nextId: () => string): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  const [status, reason] = REFUSALS[error.code ?? ''] ?? ['400 Bad Request', 'expected an HTTP request'];
  answerLast(socket, status, { reason, id: nextId() });
}

/**
 * Answers the two kinds of request that never reach an application: those for a tunnel, and those that expect something
 * special.
 */
export function refuseOtherProtocols(server: Server, nextId: () => string): void {
  server.on('connect', (_request, socket: Duplex) => {
    // A connection that was handed over reports its errors only here.
    socket.on('error', () => socket.destroy());
    answerLast(socket, '405 Method Not Allowed', { reason: 'CONNECT is not for this service', id: nextId() });
  });
  server.on('checkExpectation', (_request, response) => {
    // Not over the socket: answers to earlier requests of the same connection may still be due.
    const body = bodyOf('the header Expect: expected 100-continue or none');
    response.writeHead(417, { ...HEADERS, 'content-length': Buffer.byteLength(body), [GATEWAY_ID]: nextId() })
      .end(body);
  });
}

const HEADERS = { 'content-type': 'application/json; charset=utf-8', connection: 'close' } as const;

function bodyOf(reason: string): string {
  return JSON.stringify({ error: reason });
}

/** Writes a whole answer, the last of its connection. */
function answerLast(
  socket: Duplex, status: string, { reason, id }: { readonly reason: string; readonly id: string },
): void {
  const body = bodyOf(reason);
  const headers = { ...HEADERS, 'content-length': Buffer.byteLength(body), [GATEWAY_ID]: id };
  if (socket.writable) {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`HTTP/1.1 ${status}\r\n${lines.join('')}\r\n${body}`);
  }
  socket.destroy();
}
