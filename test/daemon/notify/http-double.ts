import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** A request as it arrived. */
export interface Arrived {
  readonly method: string;
  readonly path: string;
  readonly body: string;
}

/** Starts a server on this machine that answers as a test says, and returns its address and what arrived. */
export async function startHttpDouble(
  answer: (request: Arrived, response: ServerResponse) => void,
): Promise<{ readonly url: string; readonly arrived: Arrived[] }> {
  const arrived: Arrived[] = [];
  const server = createServer((request: IncomingMessage, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => { parts.push(part); });
    request.on('end', () => {
      const one = { method: request.method ?? '', path: request.url ?? '', body: Buffer.concat(parts).toString() };
      arrived.push(one);
      answer(one, response);
    });
  });
  await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => { server.close(resolve); });
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, arrived };
}
