import type { Server } from 'node:http';
import type { RawData, WebSocket } from 'ws';
import { WebSocketServer } from 'ws';
import type { SandboxChain } from '../chain/chain.ts';
import { jsonText } from '../json-text.ts';
import type { Request } from './dispatch.ts';
import { failure, idOf, parseBody, readRequest, success } from './dispatch.ts';
import { RPC_CODE, RpcError } from './rpc-params.ts';
import type { Subscription } from './subscriptions.ts';
import { createSubscription, SUBSCRIPTION_KINDS } from './subscriptions.ts';

const MAX_MESSAGE_BYTES = 65_536;
const MAX_SUBSCRIPTIONS = 1_000;
/** A client that does not read is disconnected, so that its notifications do not fill the memory. */
const MAX_UNSENT_BYTES = 4_194_304;
/** How long a new subscription stays silent for a client that answers no ping. */
const UNHEARD_MS = 1_000;

interface Notifications {
  /** Takes over the websocket upgrades of a server. */
  attach: (server: Server) => void;
  close: () => void;
}

interface Client {
  socket: WebSocket;
  subscriptions: Map<number, Subscription & { isHeard: boolean }>;
}

/**
 * Returns the websocket side of the RPC: subscriptions to signatures, accounts, programs, logs, slots, their stages and
 * roots.
 */
export function createNotifications(chain: SandboxChain): Notifications {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: MAX_MESSAGE_BYTES });
  const clients = new Set<Client>();
  let lastId = 0;

  sockets.on('connection', (socket) => {
    const client: Client = { socket, subscriptions: new Map() };
    clients.add(client);
    socket.on('message', (data) => receive(client, data));
    socket.on('pong', (data) => hear(client, Number(data.toString('utf8'))));
    socket.on('close', () => clients.delete(client));
    // A broken frame or a lost connection ends this client, with the reason where possible; 'close' follows and cleans
    // up.
    socket.on('error', () => undefined);
  });
  const stopListening = [chain.onLanded(notifyAll), chain.onSlot(notifyAll)];

  function receive(client: Client, data: RawData): void {
    const value = parseBody(textOf(data));
    if (value instanceof RpcError) return send(client, failure(null, value));
    let request: Request;
    try {
      request = readRequest(value);
    } catch (error) {
      return send(client, failure(idOf(value), error));
    }
    // Notifications (clients send "ping" to keep the line open) get no answer.
    if (request.id === undefined) return;
    const last = lastId;
    try {
      send(client, success(request.id, serve(client, request)));
      if (lastId !== last) hearAfterAnswer(client, lastId);
    } catch (error) {
      send(client, failure(request.id, error));
    }
  }

  function serve(client: Client, { method, params }: Request): unknown {
    if (method === 'ping') return 'pong';
    const unsubscribed = SUBSCRIPTION_KINDS.find((kind) => method === `${kind}Unsubscribe`);
    if (unsubscribed !== undefined) {
      const [id] = params;
      if (typeof id !== 'number' || client.subscriptions.get(id)?.kind !== unsubscribed)
        throw new RpcError(RPC_CODE.invalidParams, 'Invalid subscription id.');
      return client.subscriptions.delete(id);
    }
    if (client.subscriptions.size >= MAX_SUBSCRIPTIONS)
      throw new RpcError(RPC_CODE.invalidRequest, `Too many subscriptions, at most ${MAX_SUBSCRIPTIONS}`);
    const subscription = createSubscription(chain, method, params);
    if (!subscription) throw new RpcError(RPC_CODE.methodNotFound, 'Method not found');
    lastId += 1;
    client.subscriptions.set(lastId, { ...subscription, isHeard: false });
    return lastId;
  }

  /**
   * A client learns the subscription's number from the answer, and some only then begin to listen for it. What is due
   * already is sent when the client has read the answer: its pong comes after that.
   */
  function hearAfterAnswer(client: Client, id: number): void {
    client.socket.ping(String(id));
    setTimeout(() => hear(client, id), UNHEARD_MS).unref();
  }

  function hear(client: Client, id: number): void {
    const subscription = client.subscriptions.get(id);
    if (subscription === undefined || subscription.isHeard) return;
    subscription.isHeard = true;
    notify(client);
  }

  function notifyAll(): void {
    for (const client of clients) notify(client);
  }

  function notify(client: Client): void {
    for (const [subscription, { kind, poll, isHeard }] of client.subscriptions) {
      if (!isHeard) continue;
      for (const { result, last } of poll()) {
        if (last) client.subscriptions.delete(subscription);
        send(client, { jsonrpc: '2.0', method: `${kind}Notification`, params: { result, subscription } });
      }
    }
  }

  return {
    attach: (server) => {
      server.on('upgrade', (request, socket, head) => {
        sockets.handleUpgrade(request, socket, head, (client) => sockets.emit('connection', client, request));
      });
    },
    close: () => {
      for (const stop of stopListening) stop();
      for (const { socket } of clients) socket.terminate();
      sockets.close();
    },
  };
}

function send({ socket }: Client, message: object): void {
  if (socket.readyState !== socket.OPEN) return;
  if (socket.bufferedAmount > MAX_UNSENT_BYTES) socket.terminate();
  else socket.send(jsonText(message));
}

function textOf(data: RawData): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString('utf8');
  return Buffer.from(data as ArrayBuffer).toString('utf8');
}
