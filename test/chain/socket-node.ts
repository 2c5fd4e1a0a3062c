import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocketServer, type WebSocket } from 'ws';

/** A request that a node got over a websocket. */
export interface SocketRequest {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

/** A node that takes subscriptions, and does with each connection and request whatever a test wants. */
export interface SocketNode {
  readonly url: string;
  readonly requests: readonly SocketRequest[];
  /** All connections so far. */
  readonly connections: readonly WebSocket[];
  /** Sets what happens to new connections and to requests from now on. */
  on(reactions: {
    readonly connected?: (socket: WebSocket) => void;
    readonly requested?: (request: SocketRequest, socket: WebSocket) => void;
  }): void;
  close(): Promise<void>;
}

/** Sends a message as JSON. */
export function say(socket: WebSocket, message: object): void {
  socket.send(JSON.stringify({ jsonrpc: '2.0', ...message }));
}

/** Returns a node on loopback. */
export async function startSocketNode({ autoPong = true } = {}): Promise<SocketNode> {
  const requests: SocketRequest[] = [];
  const connections: WebSocket[] = [];
  let reactions: Parameters<SocketNode['on']>[0] = {};
  const server = createServer();
  const sockets = new WebSocketServer({ server, autoPong });
  sockets.on('connection', (socket) => {
    connections.push(socket);
    socket.on('error', () => undefined);
    socket.on('message', (data) => {
      const request = JSON.parse((data as Buffer).toString('utf8')) as SocketRequest;
      requests.push(request);
      reactions.requested?.(request, socket);
    });
    reactions.connected?.(socket);
  });
  await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests, connections,
    on(next) { reactions = next; },
    async close() {
      for (const socket of sockets.clients) socket.terminate();
      sockets.close();
      await new Promise((resolve) => { server.close(resolve); });
    },
  };
}
