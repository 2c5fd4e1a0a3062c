import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { GannetError, messageOf } from '../../core/errors.ts';
import type { SandboxChain } from '../chain/chain.ts';
import { accountMethods, tokenMethods } from './account-methods.ts';
import { blockMethods } from './block-methods.ts';
import { clusterMethods } from './cluster-methods.ts';
import { historyMethods } from './history-methods.ts';
import { createRpcServer, createUpgradeServer, SLOWEST_REQUEST_MS } from './http.ts';
import { olderNode, type NodeLimits } from './node-limits.ts';
import type { RpcMethods } from './rpc-params.ts';
import { transactionMethods } from './transaction-methods.ts';
import type { RpcPlaces } from './validator-methods.ts';
import { validatorMethods } from './validator-methods.ts';
import { createNotifications } from './websocket.ts';

interface RpcOptions {
  chain: SandboxChain;
  /** 0: any free one. */
  port: number;
  host: string;
  /** By default the port after the RPC's, where clients expect it; 0: any free one. */
  websocketPort?: number;
  /** A request that has not arrived whole by then is refused; 15 s by default. */
  slowestRequestMs?: number;
  /** None by default. */
  limits?: NodeLimits;
}

interface RunningRpc {
  url: string;
  wsUrl: string;
  close: () => Promise<void>;
}

const PORT_ATTEMPTS = 20;
const LAST_ANSWERS_MS = 25;
const NOWHERE: ReturnType<RpcPlaces> = { rpc: null, pubsub: null };

/** Returns every JSON-RPC method over a chain, by name. */
export function rpcMethods(chain: SandboxChain, places: RpcPlaces = () => NOWHERE): RpcMethods {
  return {
    ...clusterMethods(chain), ...validatorMethods(chain, places), ...blockMethods(chain), ...accountMethods(chain),
    ...tokenMethods(chain), ...transactionMethods(chain), ...historyMethods(chain),
  };
}

/**
 * Starts the JSON-RPC and its websocket, and returns where they listen. The RPC's own port takes websockets too. Throws
 * SANDBOX_FAILED when a port is taken.
 */
export async function startRpc(options: RpcOptions): Promise<RunningRpc> {
  const { slowestRequestMs = SLOWEST_REQUEST_MS, limits } = options;
  let places = NOWHERE;
  const all = rpcMethods(options.chain, () => places);
  const methods = limits === undefined ? all : olderNode(all, limits);
  const { rpc, websocket } = await listenOnBoth(options, () => ({
    rpc: createRpcServer(methods, { slowestRequestMs, delay: limits?.delay }),
    websocket: createUpgradeServer({ slowestRequestMs }),
  }));
  const host = hostOf(options.host);
  places = { rpc: `${host}:${portOf(rpc)}`, pubsub: `${host}:${portOf(websocket)}` };
  const notifications = createNotifications(options.chain);
  if (limits?.hasWebsocket !== false) for (const server of [rpc, websocket]) notifications.attach(server);
  return {
    url: `http://${places.rpc}`,
    wsUrl: `ws://${places.pubsub}`,
    close: async () => {
      notifications.close();
      // A client that was just notified of its transaction often sends one more request, which may be on the way.
      await delay(LAST_ANSWERS_MS);
      await Promise.all([close(rpc), close(websocket)]);
    },
  };
}

interface Servers {
  rpc: Server;
  websocket: Server;
}

/** The port after a free one may be taken; then another free port is tried. */
async function listenOnBoth(options: RpcOptions, create: () => Servers): Promise<Servers> {
  const { port, host, websocketPort } = options;
  for (let attempt = 1; ; attempt++) {
    const servers = create();
    await listen(servers.rpc, { port, host });
    try {
      await listen(servers.websocket, { port: websocketPort ?? portOf(servers.rpc) + 1, host });
      return servers;
    } catch (error) {
      await close(servers.rpc);
      if (port !== 0 || websocketPort !== undefined || attempt === PORT_ATTEMPTS) throw error;
    }
  }
}

async function listen(server: Server, options: { port: number; host: string }): Promise<void> {
  server.listen(options);
  try {
    await once(server, 'listening');
  } catch (cause) {
    const { port, host } = options;
    throw new GannetError(
      'SANDBOX_FAILED', `expected to listen on ${host}:${port}, got: ${messageOf(cause)}; choose another port`,
      { details: { host, port }, cause },
    );
  }
}

async function close(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

function hostOf(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}
