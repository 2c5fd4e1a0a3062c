import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { asyncScheduler } from 'rxjs';
import type { Clock } from '../../src/core/time.ts';

/** What a test lets the node answer to one request. */
export interface RpcRequest {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}
export type Answer = (request: RpcRequest, response: ServerResponse) => void;

export interface HostileNode {
  readonly url: string;
  readonly requests: readonly RpcRequest[];
  /** Sets how it answers from now on. */
  answer(answer: Answer): void;
  /** Answers every request with a result. */
  result(result: (request: RpcRequest) => unknown): void;
  close(): Promise<void>;
}

/** The time of the machine: these tests speak over real sockets. */
export const wallClock: Clock = asyncScheduler;

/** Returns a node on loopback that answers whatever a test wants. */
export async function startHostileNode(): Promise<HostileNode> {
  const requests: RpcRequest[] = [];
  let answer: Answer | undefined;
  const server = createServer((incoming, response) => {
    void readBody(incoming).then((body) => {
      const request = JSON.parse(body) as RpcRequest;
      requests.push(request);
      if (answer === undefined) response.writeHead(500).end();
      else answer(request, response);
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/?api-key=not-to-be-shown`,
    requests,
    answer(next) {
      answer = next;
    },
    result(result) {
      answer = (request, response) => {
        response.end(JSON.stringify({ jsonrpc: '2.0', id: request.id, result: result(request) }));
      };
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}

async function readBody(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
