import { randomBytes } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { fastify } from 'fastify';
import { GannetError, messageOf } from '../core/errors.ts';
import { stringifyJson } from '../core/json.ts';
import { removeControlFile, writeControlFile } from './control-file.ts';
import { guard } from './control-guard.ts';
import { addLooks } from './control-looks.ts';
import { addOrders } from './control-orders.ts';
import type { Controlled } from './desk.ts';
import type { Log } from './log.ts';

/** More than any order takes. */
const BODY_MAX_BYTES = 16 * 1024;
/** A token, a type and what clients add by themselves. */
const HEADERS_MAX_BYTES = 8 * 1024;
/** Commands, a page and a scraper; one that sends nothing is closed soon, so that others come through. */
const CONNECTIONS_MAX = 64;
const HEADERS_MAX_MS = 5_000;
const REQUEST_MAX_MS = 10_000;
const CHECK_EVERY_MS = 1_000;

/**
 * Serves the daemon's state on the loopback address, and takes the operator's orders. Every path but `/healthz` wants
 * the token; requests that a web page could make (a foreign Host or Origin) are refused before anything else.
 * Returns its address, and the port that was wanted where another one had to be taken. Throws CONTROL_PORT_TAKEN.
 */
export async function startControlApi(options: Controlled & {
  readonly host: string;
  readonly port: number;
  /** Whether the port is an operator's choice; any other gives way to the next free one. */
  readonly isPortGiven: boolean;
  readonly stateDir: string;
  /** From the environment; a random one where absent. */
  readonly token: string | undefined;
  readonly log: Log;
}): Promise<{ readonly url: string; readonly portTaken: number | undefined; readonly close: () => Promise<void> }> {
  const token = options.token ?? randomBytes(24).toString('base64url');
  const app = fastify({
    bodyLimit: BODY_MAX_BYTES, logger: false, requestTimeout: REQUEST_MAX_MS,
    http: { maxHeaderSize: HEADERS_MAX_BYTES, headersTimeout: HEADERS_MAX_MS, connectionsCheckingInterval: CHECK_EVERY_MS },
  });
  app.server.maxConnections = CONNECTIONS_MAX;
  guard(app, { ...options, token, onAuthenticated: () => { options.desk()?.present(); } });
  app.setReplySerializer((payload) => stringifyJson(payload));
  addLooks(app, options);
  addOrders(app, options);
  const { url, portTaken } = await listen(app, options);
  writeControlFile(options.stateDir, { url, token, pid: process.pid, run_id: options.runId });
  return {
    url,
    portTaken,
    close: async () => {
      removeControlFile(options.stateDir);
      await app.close();
    },
  };
}

/** How many ports are tried after the one that is in use. */
const FURTHER_PORTS = 100;
const LAST_PORT = 65_535;

async function listen(
  app: FastifyInstance, { host, port, isPortGiven }: { readonly host: string; readonly port: number; readonly isPortGiven: boolean },
): Promise<{ readonly url: string; readonly portTaken: number | undefined }> {
  const last = isPortGiven || port === 0 ? port : Math.min(LAST_PORT, port + FURTHER_PORTS);
  for (let tried = port; ; tried++) {
    try {
      return { url: await app.listen({ host, port: tried }), portTaken: tried === port ? undefined : port };
    } catch (cause) {
      if (isInUse(cause) && tried < last) continue;
      const ports = tried === port ? `${host}:${port}` : `${host}, ports ${port} to ${tried}`;
      throw new GannetError('CONTROL_PORT_TAKEN', `the control API cannot listen on ${ports}: ${messageOf(cause)}; set control.port to a free port`, { cause });
    }
  }
}

function isInUse(cause: unknown): boolean {
  return cause instanceof Error && 'code' in cause && cause.code === 'EADDRINUSE';
}
